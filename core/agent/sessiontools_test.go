package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hermes/core/approval"
	"hermes/core/event"
	"hermes/core/tool"
)

func (r *rig) registry() *tool.Registry { return r.deps.Tools.(*tool.Registry) }

// sent is the tools of the n-th request, as bytes.
func (r *rig) sent(n int) string {
	r.t.Helper()
	data, err := json.Marshal(r.model.seen()[n].Tools)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *rig) turn(n int) {
	r.t.Helper()
	r.submit("go", "")
	r.ended(n)
	r.idle()
}

func replaced(t *testing.T, r *rig, tools ...tool.Tool) {
	t.Helper()
	if err := r.registry().Replace("srv", tools); err != nil {
		t.Fatal(err)
	}
	r.agent.OfferTools()
}

func described(ran *atomic.Int32, name, text string) tool.Tool {
	return foreignTool(ran, func(s *tool.Spec) { s.Name, s.Description = name, text })
}

// A session keeps its tools byte for byte, over a restart too, until the person takes the new ones;
// what could be taken is told once.
func TestASessionKeepsItsTools(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	r := newRig(t)
	replaced(t, r, described(&ran, "srv_old", "old"), described(&ran, "srv_same", "a"))
	r.turn(1)
	began := r.sent(0)
	if !strings.Contains(began, "srv_old") {
		t.Fatal(began)
	}
	replaced(t, r, described(&ran, "srv_same", "b"), described(&ran, "srv_new", "new"))
	replaced(t, r, described(&ran, "srv_same", "b"), described(&ran, "srv_new", "new"))
	want := event.ToolsChanged{Added: []string{"srv_new"}, Removed: []string{"srv_old"}, Changed: []string{"srv_same"}}
	r.turn(2)
	if got := each[event.ToolsChanged](r.sink); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("told %+v", got)
	}
	r.agent = New(r.deps) // the program starts again
	r.turn(3)
	if got := each[event.ToolsChanged](r.sink); len(got) != 2 || !reflect.DeepEqual(got[1], want) {
		t.Errorf("told after the restart %+v", got)
	}
	for n := range 3 {
		if r.sent(n) != began {
			t.Errorf("request %d: %s, began with %s", n, r.sent(n), began)
		}
	}
	if took, err := r.agent.TakeTools(context.Background(), r.uid); err != nil || !reflect.DeepEqual(took, want) {
		t.Errorf("%+v, %v", took, err)
	}
	if again, err := r.agent.TakeTools(context.Background(), r.uid); err != nil || !again.Empty() {
		t.Errorf("%+v, %v", again, err)
	}
	r.turn(4)
	if got := r.sent(3); strings.Contains(got, "srv_old") || !strings.Contains(got, "srv_new") || !strings.Contains(got, `"b"`) {
		t.Error(got)
	}
}

// Other toolsets are the person's own act: they count from the next turn on. A toolset is a
// promise.
func TestOtherToolsetsCountAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var sets atomic.Value
	sets.Store([]string{"terminal"})
	r.deps.Settings = func(string) Settings { return Settings{Toolsets: sets.Load().([]string)} }
	r.agent = New(r.deps)
	r.turn(1)
	sets.Store([]string{"echo"})
	r.turn(2)
	if got := r.sent(1); !strings.Contains(got, "echo") || strings.Contains(got, "change") || len(each[event.ToolsChanged](r.sink)) != 0 {
		t.Error(got)
	}
}

// A call of a tool that is gone says so, also in a script, and one that came meanwhile is not part
// of the session.
func TestCallsAfterAReplacement(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	var names []string
	script := outer(func(ctx context.Context, c tool.Call) string {
		for _, s := range c.Nest.Tools() {
			names = append(names, s.Name+":"+s.Description)
		}
		return c.Nest.Call(ctx, nestedCall("srv_old", `{}`)).Text
	})
	r := rigWith(t, []tool.Tool{script}, says("hi"), callsTools(fakeCall{"srv_old", `{}`}), callsTools(fakeCall{"srv_new", `{}`}), callsTools(fakeCall{"outer", `{}`}), says("done"))
	r.gate.SetPolicy(approval.Policy{Mode: approval.ModeOff})
	replaced(t, r, described(&ran, "srv_old", "old"))
	r.turn(1)
	replaced(t, r, described(&ran, "srv_new", "new"))
	r.turn(2)
	h := r.history()
	for i, want := range map[int]string{
		4: "the tool srv_old is gone: srv does not offer it any more", 6: "srv_new is not part of this session. Yours are: outer, srv_old",
		8: "the tool srv_old is gone",
	} {
		if got := h[i].Result.Text; !strings.Contains(got, want) {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	if got := strings.Join(names, " "); got != "outer:outer srv_old:old" || ran.Load() != 0 {
		t.Errorf("the script sees %s, ran %d", got, ran.Load())
	}
}

// A tool that only hides here, as one that needs a person, is not gone; and a turn that runs is not
// disturbed.
func TestWhatHidesIsNotGone(t *testing.T) {
	t.Parallel()
	var hidden atomic.Bool
	shy := newTool("shy", func(s *tool.Spec) {
		s.Available = func() error {
			if hidden.Load() {
				return fmt.Errorf("nobody is there")
			}
			return nil
		}
	}, nil)
	r := rigWith(t, []tool.Tool{shy}, says("1"), callsTools(fakeCall{"shy", `{}`}), says("2"))
	r.turn(1)
	hidden.Store(true)
	r.turn(2)
	if r.sent(1) != r.sent(0) || len(each[event.ToolsChanged](r.sink)) != 0 {
		t.Errorf("%+v", each[event.ToolsChanged](r.sink))
	}
	if got := r.history()[4].Result.Text; !strings.Contains(got, "not available here: nobody is there") {
		t.Error(got)
	}
}

func TestToolsAreNotTakenInATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, callsTools(fakeCall{"wait", `{}`}))
	r.submit("go", "")
	first[event.ToolStarted](r.sink)
	if _, err := r.agent.TakeTools(context.Background(), r.uid); err == nil {
		t.Error("taken while a turn runs")
	}
	r.agent.Interrupt(r.uid)
	r.idle()
}

// The list is replaced while sessions work: no call is lost and no list is half.
func TestReplacementsBesideTurns(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	r := newRig(t)
	r.gate.SetPolicy(approval.Policy{Mode: approval.ModeOff})
	for range 20 {
		r.model.script = append(r.model.script, callsTools(fakeCall{"echo", `{"v":"x"}`}, fakeCall{"srv_a", `{}`}), says("ok"))
	}
	replaced(t, r, described(&ran, "srv_a", "0"))
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range 200 {
			tools := []tool.Tool{described(&ran, "srv_a", fmt.Sprint(i))}
			if i%4 == 0 {
				tools = nil
			}
			if err := r.registry().Replace("srv", tools); err != nil {
				t.Error(err)
			}
			r.agent.OfferTools()
		}
	})
	for n := range 20 {
		r.turn(n + 1)
	}
	wait.Wait()
	for n := range r.model.seen() {
		if r.sent(n) != r.sent(0) {
			t.Fatalf("request %d: %s", n, r.sent(n))
		}
	}
	for _, m := range r.history() {
		if m.Result != nil && m.Result.Name == "echo" && m.Result.IsError {
			t.Errorf("%+v", m.Result)
		}
	}
}
