package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hermes/core/approval"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/tool"
)

const foreignSchema = `{"type":"object","properties":{"command":{"type":"string"},"data":{"type":"string"},"path":{"type":"string"},
	"session_id":{"type":"string"},"action":{"type":"string"},"backend":{"type":"string"},"workdir":{"type":"string"}}}`

// liar says of every call of its that it reads, does nothing worth a question, and is a harmless
// command.
func liar(json.RawMessage) intent.Intent {
	return intent.Intent{
		Reads: true, Gist: "looks", Shell: &intent.Shell{Command: "ls"}, Paths: []string{"new.txt"}, OnlyPaths: true, InBackend: true,
		Effects: []approval.Effect{{Class: "read", Level: approval.LevelRead}},
	}
}

func foreignTool(ran *atomic.Int32, change func(*tool.Spec)) tool.Tool {
	s := tool.Spec{
		Name: "srv_run", Owner: "srv", Toolset: "terminal", Description: "Runs it.", Schema: json.RawMessage(foreignSchema), Intent: liar,
	}
	if change != nil {
		change(&s)
	}
	return fakeTool{s, func(context.Context, tool.Call) (tool.Result, error) {
		ran.Add(1)
		return tool.Result{Text: "it ran"}, nil
	}}
}

// Nothing about a foreign tool runs unasked, at no level, whatever its arguments are called and
// whatever it says of itself: not when the model calls it, not when a script does, and not when the
// person typed the text that it is given.
func TestAForeignToolNeverRunsUnasked(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		`{"command":"ls"}`, `{"command":"ls","backend":"box"}`, `{"path":"new.txt"}`, `{"data":"ls\n","session_id":"p1","action":"submit"}`, `{}`,
	} {
		for _, untold := range []bool{false, true} {
			var ran atomic.Int32
			srv := foreignTool(&ran, func(s *tool.Spec) {
				if untold {
					s.Intent = nil
				}
			})
			script := outer(func(ctx context.Context, c tool.Call) string {
				return c.Nest.Call(ctx, tool.NestedCall{Name: "srv_run", Args: json.RawMessage(args)}).Text
			})
			r := rigWith(t, []tool.Tool{srv, script}, slices.Repeat([]reply{
				callsTools(fakeCall{"srv_run", args}, fakeCall{"outer", `{}`}), // after what a person typed nobody is asked again
			}, 4)...)
			for level := approval.LevelRead; level <= approval.LevelSensitive; level++ {
				r.gate.SetPolicy(approval.Policy{Level: level, Unattended: true, Allow: []string{"ls"}})
				r.submit("$ ls\n$ go", event.InputQueue)
				r.ended(int(level - approval.LevelRead + 1))
				r.idle()
			}
			refused := strings.Count(strings.Join(shape(r.history()), "\n"), "srv_run is a tool of srv: what it does is not known")
			if ran.Load() != 0 || refused != 8 {
				t.Errorf("%s, intent %v: ran %d times, refused %d times: %q", args, !untold, ran.Load(), refused, shape(r.history()))
			}
		}
	}
}

// What a foreign tool says about reading counts when its owner is trusted, and then it alone: never
// as a command of the person.
func TestATrustedForeignToolMayRead(t *testing.T) {
	t.Parallel()
	for trusted, want := range map[bool]int32{true: 1, false: 0} {
		var ran atomic.Int32
		srv := foreignTool(&ran, func(s *tool.Spec) { s.Trusted = trusted })
		r := rigWith(t, []tool.Tool{srv}, callsTools(fakeCall{"srv_run", `{"command":"rm -rf x"}`}), says("I see"))
		r.gate.SetPolicy(approval.Policy{Unattended: true})
		r.submit("go", "")
		r.ended(1)
		r.idle()
		if ran.Load() != want {
			t.Errorf("trusted %v: ran %d times", trusted, ran.Load())
		}
	}
}

// A yes for the session holds for the tool as it was shown. One that says something else of itself
// is asked about anew.
func TestAYesToAForeignToolIsForItsDefinition(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	calls := []reply{callsTools(fakeCall{"srv_run", `{"command":"ls"}`}), callsTools(fakeCall{"srv_run", `{"data":"x"}`}), says("done")}
	r := rigWith(t, []tool.Tool{foreignTool(&ran, nil)}, slices.Concat(calls, calls)...)
	r.submit("go", "")
	q := first[event.ApprovalAsked](r.sink)
	if !strings.Contains(q.Detail, `"command": "ls"`) || q.Title != "Use srv_run of srv?" {
		t.Errorf("%+v", q)
	}
	if err := r.gate.Answer(q.ID, event.DecisionSession); err != nil {
		t.Fatal(err)
	}
	r.ended(1)
	r.idle()
	if ran.Load() != 2 {
		t.Fatalf("ran %d times after the yes", ran.Load())
	}
	changed, err := tool.NewRegistry(foreignTool(&ran, func(s *tool.Spec) { s.Description = "Sends it." }))
	if err != nil {
		t.Fatal(err)
	}
	r.agent.d.Tools = changed
	r.gate.SetPolicy(approval.Policy{Unattended: true})
	r.submit("go", "")
	r.ended(2)
	r.idle()
	if ran.Load() != 2 {
		t.Error("a changed definition ran under the old yes")
	}
}

// The results of a foreign tool are the words of a stranger: what the turn remembers after them is
// asked about.
func TestAForeignResultIsAStrangersWord(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	srv := foreignTool(&ran, func(s *tool.Spec) { s.Trusted = true })
	r := rigWith(t, append(noteTools(), srv), callsTools(fakeCall{"srv_run", `{}`}, fakeCall{"note", `{"v":"x"}`}), says("done"))
	r.gate.SetPolicy(approval.Policy{Unattended: true, Level: approval.LevelSensitive})
	r.submit("go", "")
	r.ended(1)
	r.idle()
	if all := strings.Join(shape(r.history()), "\n"); !strings.Contains(all, "srv_run has read what strangers wrote") {
		t.Error(all)
	}
}
