package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/tool"
)

// outer is a tool that calls others, as a script does.
func outer(run func(ctx context.Context, c tool.Call) string) tool.Tool {
	return newTool("outer", nil, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		return tool.Result{Text: run(ctx, c)}, nil
	})
}

func nestedCall(name, args string) tool.NestedCall {
	return tool.NestedCall{Name: name, Args: json.RawMessage(args)}
}

// Calls inside of a call are checked, asked about and told like others, under that call; they are
// no messages.
func TestCallsInsideOfACall(t *testing.T) {
	var waits []bool
	tools := append(standardTools(), outer(func(ctx context.Context, c tool.Call) string {
		if c.Nest == nil {
			return "no nest"
		}
		var out []string
		for _, s := range c.Nest.Tools() {
			out = append(out, s.Name)
		}
		for _, x := range []tool.NestedCall{
			nestedCall("echo", `{"v":"a"}`), nestedCall("echo", `{"nope":1}`), nestedCall("nothing", `{}`),
			{Name: "change", Args: json.RawMessage(`{"v":"b"}`), Waiting: func(w bool) { waits = append(waits, w) }},
		} {
			r := c.Nest.Call(ctx, x)
			first, _, _ := strings.Cut(r.Text, ":")
			out = append(out, first)
		}
		return strings.Join(out, "|")
	}))
	r := rigWith(t, tools, callsTools(fakeCall{"outer", `{}`}))
	r.submit("go", "")
	var asked event.Envelope
	r.sink.until(func(all []event.Envelope) bool {
		i := slices.IndexFunc(all, func(e event.Envelope) bool { _, ok := e.Event.(event.ApprovalAsked); return ok })
		if i >= 0 {
			asked = all[i]
		}
		return i >= 0
	})
	if err := r.agent.Answer(asked.Event.(event.ApprovalAsked).ID, event.DecisionOnce); err != nil {
		t.Fatal(err)
	}
	r.ended(1)
	var up string
	var inside []string
	var all []event.Envelope
	r.sink.until(func(seen []event.Envelope) bool { all = slices.Clone(seen); return true })
	for _, e := range all {
		switch ev := e.Event.(type) {
		case event.ToolStarted:
			if ev.Call.Name == "outer" {
				up = ev.Call.ID
			} else if e.Parent != up || up == "" {
				t.Errorf("%s is inside of %q", ev.Call.Name, e.Parent)
			}
		case event.ToolEnded:
			if e.Parent != "" {
				inside = append(inside, ev.Result.Name)
			}
		default:
		}
	}
	if asked.Parent != up || !slices.Equal(waits, []bool{true, false}) || strings.Join(inside, " ") != "echo echo nothing change" {
		t.Errorf("asked inside of %q, waits %v, ended %v", asked.Parent, waits, inside)
	}
	h := r.history()
	if len(h) != 4 || h[2].Result.Text != `change|echo|outer|wait|echo a|echo|There is no tool called "nothing". Did you mean outer?|echo b` && !strings.HasPrefix(h[2].Result.Text, "change|echo|outer|wait|echo a|echo|There is no tool") {
		t.Errorf("%q", shape(h))
	}
}

// Calls at the same time do not disturb each other, and nested ones nest no further.
func TestCallsInsideRunTogether(t *testing.T) {
	tools := append(standardTools(), outer(func(ctx context.Context, c tool.Call) string {
		if c.Nest == nil {
			return "no nest"
		}
		var wait sync.WaitGroup
		out := make([]string, 20)
		for i := range out {
			wait.Go(func() {
				out[i] = c.Nest.Call(ctx, nestedCall("echo", `{"v":"x"}`)).Text
			})
		}
		wait.Wait()
		return strings.Join(slices.Compact(out), ",") + " " + c.Nest.Call(ctx, nestedCall("outer", `{}`)).Text
	}))
	r := rigWith(t, tools, callsTools(fakeCall{"outer", `{}`}))
	r.submit("go", "")
	r.ended(1)
	if got := r.history()[2].Result.Text; got != "echo x no nest" {
		t.Errorf("%q", got)
	}
}

// Three denials inside of a call pause the turn as three of its own do, and the rest is not asked.
func TestDenialsInsideOfACall(t *testing.T) {
	tools := append(standardTools(), outer(func(ctx context.Context, c tool.Call) string {
		var last chat.ToolResult
		for range 5 {
			last = c.Nest.Call(ctx, nestedCall("change", `{"v":"b"}`)).ToolResult
		}
		return last.Text
	}))
	r := rigWith(t, tools, callsTools(fakeCall{"outer", `{}`}))
	r.submit("go", "")
	for n := 1; n <= maxDenials; n++ {
		var id string
		r.sink.until(func(all []event.Envelope) bool {
			seen := 0
			for _, e := range all {
				if a, ok := e.Event.(event.ApprovalAsked); ok {
					seen++
					id = a.ID
				}
			}
			return seen == n
		})
		if err := r.agent.Answer(id, event.DecisionDeny); err != nil {
			t.Fatal(err)
		}
	}
	if end := r.ended(1); end.Reason != event.TurnInterrupted || !strings.Contains(end.Err, "denied") {
		t.Errorf("%+v", end)
	}
	if got := r.history()[2].Result.Text; !strings.Contains(got, "the turn is paused") {
		t.Errorf("%q", got)
	}
}
