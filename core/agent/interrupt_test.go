package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/testwait"
	"hermes/core/tool"
)

// Every phase of a turn can be interrupted and ends within a second, in virtual time, with nothing
// lost.
func TestInterruptAtEveryPhase(t *testing.T) {
	deaf := make(chan struct{})
	tests := []struct {
		name   string
		script []reply
		at     func(r *rig) // waits until the turn is in the phase
		shape  []string
	}{
		{"before the first byte", []reply{hangs("", nil)}, atRequest, []string{"user:hi"}},
		{"in the text", []reply{hangs("half", nil)}, func(r *rig) { first[event.TextDelta](r.sink) }, []string{"user:hi", "assistant:half!cancelled"}},
		{"in the text of a deaf provider", []reply{hangs("half", deaf)}, func(r *rig) { first[event.TextDelta](r.sink) }, []string{"user:hi", "assistant:half!cancelled"}},
		{"while it waits to retry", []reply{fails("", provider.ClassRateLimit, 429)}, atRequest, []string{"user:hi"}},
		{
			"in a tool",
			[]reply{callsTools(fakeCall{"wait", "{}"}, fakeCall{"change", `{"v":"x"}`})},
			func(r *rig) { first[event.ToolOutput](r.sink) },
			[]string{"user:hi", "assistant:+2", "tool:partial\n[interrupted]!cancelled", "tool:[not run: the turn ended before]!cancelled"},
		},
		{
			"in a deaf tool",
			[]reply{callsTools(fakeCall{"deaf", "{}"})},
			func(r *rig) { first[event.ToolOutput](r.sink) },
			[]string{"user:hi", "assistant:+1", "tool:[interrupted: the tool did not stop in time and was left behind; its result is not known]!cancelled"},
		},
		{
			"while it waits for approval",
			[]reply{callsTools(fakeCall{"change", "{}"})},
			func(r *rig) { first[event.ApprovalAsked](r.sink) },
			[]string{"user:hi", "assistant:+1", "tool:Not run: the turn was interrupted while this waited for approval.!cancelled"},
		},
		{
			"in the arguments of a call",
			[]reply{func(ctx context.Context, q provider.Request, yield func(provider.Chunk, error) bool) {
				_ = yield(provider.Chunk{Kind: provider.ChunkToolStart, Index: 0, CallID: "a", Name: "echo"}, nil) &&
					yield(provider.Chunk{Kind: provider.ChunkToolArgs, Index: 0, Text: `{}`}, nil) &&
					yield(provider.Chunk{Kind: provider.ChunkToolStart, Index: 1, CallID: "b", Name: "echo"}, nil) &&
					yield(provider.Chunk{Kind: provider.ChunkToolArgs, Index: 1, Text: `{"v":`}, nil)
				hangs("", nil)(ctx, q, yield)
			}},
			func(r *rig) { first[event.MessageStarted](r.sink) },
			[]string{"user:hi", "assistant:+1!cancelled", "tool:[interrupted before it ran]!cancelled"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				letGo := make(chan struct{})
				script := tt.script
				if strings.Contains(tt.name, "deaf provider") {
					script = []reply{hangs("half", letGo)}
				}
				r := rigWith(t, append(standardTools(), newTool("deaf", nil, func(_ context.Context, c tool.Call) (tool.Result, error) {
					c.Output(event.Stdout, []byte("x"))
					<-letGo
					c.Output(event.Stdout, []byte("late"))
					return tool.Result{Text: "late"}, nil
				})), script...)
				r.submit("hi", "")
				tt.at(r)
				synctest.Wait()
				start := time.Now()
				if !r.agent.Interrupt(r.uid) {
					t.Fatal("nothing to interrupt")
				}
				end := r.ended(1)
				r.idle()
				if took := time.Since(start); took > time.Second {
					t.Errorf("took %v", took)
				}
				if end.Reason != event.TurnInterrupted || r.agent.Busy(r.uid) || len(r.gate.Pending("")) != 0 {
					t.Errorf("end %+v", end)
				}
				wantShape(t, r, tt.shape...)
				close(letGo)
				synctest.Wait()
				if n := len(each[event.ToolOutput](r.sink)); n > 1 {
					t.Errorf("late output was published: %d", n)
				}
				r.submit("on", "")
				if end := r.ended(2); end.Reason != event.TurnDone {
					t.Errorf("the session does not go on: %+v", end)
				}
				reqs := r.model.seen()
				if err := sound(reqs[len(reqs)-1].Messages); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func atRequest(r *rig) {
	r.sink.until(func([]event.Envelope) bool { return len(r.model.seen()) == 1 })
}

func TestALeftToolIsReportedWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		letGo := make(chan struct{})
		r := rigWith(t, []tool.Tool{newTool("deaf", nil, func(context.Context, tool.Call) (tool.Result, error) {
			<-letGo
			return tool.Result{}, nil
		})}, callsTools(fakeCall{"deaf", "{}"}))
		r.submit("hi", "")
		first[event.ToolStarted](r.sink)
		synctest.Wait()
		r.agent.Interrupt(r.uid)
		r.ended(1)
		close(letGo)
		if n := first[event.Notice](r.sink); !strings.Contains(n.Text, "deaf") {
			t.Fatalf("%+v", n)
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	r := newRig(t)
	r.model.always = hangs("half", nil)
	other := r.newSession()
	r.submit("one", "")
	r.uid, other = other, r.uid
	r.submit("two", "")
	r.sink.until(func([]event.Envelope) bool { return len(r.model.seen()) == 2 })
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	if err := r.agent.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, uid := range []string{r.uid, other} {
		if r.agent.Busy(uid) {
			t.Fatal("busy after Close")
		}
	}
	if err := r.agent.Submit(context.Background(), r.uid, Input{Text: "late"}); err == nil {
		t.Fatal("a closed agent took a prompt")
	}
}

// sound checks what providers demand of a history.
func sound(messages []chat.Message) error {
	open := []string{}
	for i, m := range messages {
		if i > 0 && m.Role != chat.RoleTool && messages[i-1].Role == m.Role {
			return fmt.Errorf("two %s messages in a row at %d", m.Role, i)
		}
		switch {
		case m.Role == chat.RoleTool && (len(open) == 0 || open[0] != m.Result.CallID):
			return fmt.Errorf("result %v at %d, open calls %v", m.Result, i, open)
		case m.Role == chat.RoleTool:
			open = open[1:]
		case len(open) > 0:
			return fmt.Errorf("calls %v have no result before %d", open, i)
		case m.Text == "" && len(m.Calls) == 0 && len(m.Parts) == 0:
			return fmt.Errorf("message %d is empty", i)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls %v have no result", open)
	}
	return nil
}
