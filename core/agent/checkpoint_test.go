package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes/core/approval"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/tool"
)

// fakeKeeper writes down what it hears.
type fakeKeeper struct {
	mu    sync.Mutex
	heard []string
	fails error
}

func (f *fakeKeeper) hear(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard = append(f.heard, fmt.Sprintf(format, args...))
}

func (f *fakeKeeper) Before(_ context.Context, c FileChange) error {
	f.hear("before %s %s %s", c.Tool, c.Prompt, c.Intent.OtherArgs)
	return f.fails
}
func (f *fakeKeeper) After(c FileChange) { f.hear("after %s", c.Tool) }
func (f *fakeKeeper) End(_ context.Context, _, turn string) error {
	f.hear("end %v", turn != "")
	return nil
}

func TestFilesAreKeptBeforeTheyChange(t *testing.T) {
	t.Parallel()
	keep := &fakeKeeper{fails: errors.New("no checkpoint: the disk is full")}
	beside := func(s *tool.Spec) {
		s.Intent = func(args json.RawMessage) intent.Intent {
			return intent.Intent{Effects: intent.UnknownAction(), OtherArgs: intent.OtherArgs(args)}
		}
	}
	changes := newTool("change", beside, func(context.Context, tool.Call) (tool.Result, error) {
		keep.hear("runs")
		return tool.Result{Text: "ok"}, nil
	})
	looks := newTool("look", nil, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "ok"}, nil })
	r := rigWith(t, []tool.Tool{changes, looks},
		callsTools(fakeCall{"look", `{}`}, fakeCall{"change", `{"v":"1"}`}), callsTools(fakeCall{"change", `{"v":"2"}`}), says("Done."))
	r.gate.SetPolicy(approval.Policy{Mode: approval.ModeOff})
	r.agent.d.Checkpoints = keep
	r.submit("do it", event.InputQueue)
	r.ended(1)
	r.idle()
	want := []string{`before change do it {"v":"1"}`, "runs", "after change", `before change do it {"v":"2"}`, "runs", "after change", "end true"}
	keep.mu.Lock()
	defer keep.mu.Unlock()
	if !slices.Equal(keep.heard, want) {
		t.Errorf("%q", keep.heard)
	}
	told := 0
	r.sink.until(func(all []event.Envelope) bool {
		told = 0
		for _, e := range all {
			if n, ok := e.Event.(event.Notice); ok && strings.Contains(n.Text, "the disk is full") {
				told++
			}
		}
		return true
	})
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
