package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hermes/core/event"
	"hermes/core/hook"
)

// hooked gives the rig hooks that are functions of what they are told.
func (r *rig) hooked(take map[hook.Event]func(in hook.Input) string) *rig {
	var list []hook.Hook
	for e, f := range take {
		list = append(list, hook.Hook{Event: e, Name: "h", Run: func(_ context.Context, _ hook.Hook, in hook.Input, _ []byte) (hook.Reply, error) {
			return hook.Reply{Out: []byte(f(in))}, nil
		}})
	}
	set := &hook.Set{}
	if err := set.Replace(hook.OwnerSettings, list); err != nil {
		r.t.Fatal(err)
	}
	r.deps.Hooks = set
	r.agent = New(r.deps)
	return r
}

func TestHooksRefuseAndChangeCalls(t *testing.T) {
	r := newRig(t, callsTools(fakeCall{"echo", `{"v":"bad"}`}, fakeCall{"echo", `{"v":"odd"}`}, fakeCall{"echo", `{"v":"good"}`})).hooked(
		map[hook.Event]func(hook.Input) string{
			hook.PreToolCall: func(in hook.Input) string {
				switch {
				case strings.Contains(string(in.Args), "bad"):
					return `{"decision":"block","reason":"not that"}`
				case strings.Contains(string(in.Args), "odd"):
					return `{"tool_input":{"v":"even"}}`
				}
				return ""
			},
			hook.PostToolCall: func(in hook.Input) string {
				text, _ := json.Marshal("saw " + in.Result.Text)
				return `{"context":` + string(text) + `}`
			},
		})
	r.submit("go", "")
	r.ended(1)
	wantShape(t, r, "user:go", "assistant:+3",
		"tool:Not run: the hook h refused it: not that",
		"tool:[the hook h changed the arguments; this ran instead: {\"v\":\"even\"}]\necho even\n[the hook h says: saw [the hook h changed the arguments; this ran instead: {\"v\":\"even\"}]\necho even]",
		"tool:echo good\n[the hook h says: saw echo good]", "assistant:Done.")
	if got := string(r.history()[3].Result.Ran); got != `{"v":"even"}` {
		t.Errorf("what ran is %s", got)
	}
}

// Arguments that a hook changed are judged by the gate as they are then.
func TestTheGateJudgesWhatHooksMade(t *testing.T) {
	r := rigWith(t, append(standardTools(), newTool("sh", commands, nil)), callsTools(fakeCall{"sh", `{"command":"ls"}`})).hooked(
		map[hook.Event]func(hook.Input) string{hook.PreToolCall: func(hook.Input) string { return `{"tool_input":{"command":"rm -rf /"}}` }})
	r.submit("go", "")
	r.ended(1)
	res := r.history()[2].Result
	if res == nil || !res.IsError || !strings.Contains(res.Text, "never") && !strings.Contains(res.Text, "refused") && !strings.Contains(res.Text, "blocked") {
		t.Errorf("%+v", res)
	}
}

// Arguments that do not fit run nothing.
func TestHooksWithWrongArguments(t *testing.T) {
	r := newRig(t, callsTools(fakeCall{"echo", `{"v":"x"}`})).hooked(
		map[hook.Event]func(hook.Input) string{hook.PreToolCall: func(hook.Input) string { return `{"tool_input":{"nothing":1}}` }})
	r.submit("go", "")
	r.ended(1)
	if res := r.history()[2].Result; !strings.Contains(res.Text, "does not fit") {
		t.Errorf("%+v", res)
	}
}

func TestHooksAroundTheModel(t *testing.T) {
	var told []string
	r := newRig(t, says("Hello.")).hooked(map[hook.Event]func(hook.Input) string{
		hook.SessionStart:  func(hook.Input) string { told = append(told, "start"); return `{"context":"it is Monday"}` },
		hook.MessageIn:     func(in hook.Input) string { told = append(told, "in "+in.Prompt); return "" },
		hook.PreModelCall:  func(in hook.Input) string { told = append(told, "ask "+in.Model); return "" },
		hook.PostModelCall: func(in hook.Input) string { told = append(told, "said "+in.Message); return "" },
		hook.MessageOut:    func(in hook.Input) string { told = append(told, "out "+in.Message); return "" },
	})
	r.submit("hi", "")
	r.ended(1)
	r.submit("again", "")
	r.ended(2)
	want := "start, in hi, ask m1, said Hello., out Hello., in again, ask m1, said Done., out Done."
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	first, second := r.model.seen()[0], r.model.seen()[1]
	if text := first.Messages[0].Text; !strings.Contains(text, "[the hook h says: it is Monday]") {
		t.Errorf("the model was told %q", text)
	}
	if text := second.Messages[len(second.Messages)-1].Text; strings.Contains(text, "Monday") {
		t.Errorf("it was told again: %q", text)
	}
	wantShape(t, r, "user:hi", "assistant:Hello.", "user:again", "assistant:Done.")
}

func TestHooksRefuseMessagesAndRequests(t *testing.T) {
	for _, e := range []hook.Event{hook.MessageIn, hook.PreModelCall} {
		r := newRig(t).hooked(map[hook.Event]func(hook.Input) string{e: func(hook.Input) string { return `{"decision":"deny","reason":"office hours"}` }})
		r.submit("hi", "")
		end := r.ended(1)
		if end.Reason != event.TurnFailed || !strings.Contains(end.Err, "office hours") || !advised(end) {
			t.Errorf("%s: %+v", e, end)
		}
		if len(r.model.seen()) > 0 {
			t.Errorf("%s: the model was asked", e)
		}
	}
}
