package approval

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/intent"
)

// meant gives a request the arguments of one of our tools for commands, and what that tool says
// that they mean.
func meant(r Request, args string) Request {
	var a struct {
		Command, Workdir, Backend, Data, Action string
		Session                                 string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(args), &a); err != nil {
		panic(err)
	}
	r.Call.Args = json.RawMessage(args)
	in := intent.Intent{InBackend: true, Backend: a.Backend, OtherArgs: intent.OtherArgs(r.Call.Args, "command", "backend", "timeout")}
	if a.Action == "submit" || a.Action == "close" {
		a.Data += "\n"
	}
	switch {
	case a.Command != "":
		in.Shell = &intent.Shell{Command: a.Command, Dir: a.Workdir}
	case a.Data != "":
		in.Stdin = &intent.Stdin{Process: a.Session, Text: a.Data}
	default:
		in.Effects = intent.UnknownAction()
	}
	r.Intent = in
	return r
}

// foreign is a call of a tool that somebody else brought.
func foreign(d *desk, owner, definition, args string) Request {
	r := shell(d, "")
	r.Call = chat.ToolCall{ID: "c1", Name: "run", Args: json.RawMessage(args)}
	r.Backend, r.Owner, r.Definition, r.Intent = "", owner, definition, intent.Intent{}
	return r
}

// No argument of a foreign tool is read, whatever it is called: it is asked about at every level,
// in mode smart too, however harmless its text looks, and although the person typed that text or
// allowed it for commands.
func TestAForeignCallIsAskedAbout(t *testing.T) {
	for _, args := range []string{
		`{"command":"ls"}`, `{"command":"go version"}`, `{"path":"new.txt"}`, `{"data":"ls\n","session_id":"p1"}`,
		`{"action":"list"}`, `{}`,
	} {
		for level := LevelRead; level <= LevelSensitive; level++ {
			judge := &model{says: "ALLOW"}
			for _, p := range []Policy{{Level: level, Allow: []string{"go version"}}, {Level: level, Mode: ModeSmart, Judge: judge}} {
				r := foreign(newDesk(), "srv", "d1", args)
				r.Prompt = "$ ls"
				if v := unattended(p, r); v.Allowed || !strings.Contains(v.Text, "run is a tool of srv") || len(judge.asked) > 0 {
					t.Errorf("%s at level %d in mode %q: %+v", args, level, p.Mode, v)
				}
			}
		}
	}
}

// A tool of ours that says nothing about its calls is asked about too.
func TestACallThatSaysNothingIsAskedAbout(t *testing.T) {
	for level := LevelRead; level <= LevelSensitive; level++ {
		if v := unattended(Policy{Level: level}, foreign(newDesk(), "", "", `{"command":"ls"}`)); v.Allowed {
			t.Errorf("level %d: %+v", level, v)
		}
	}
}

// A yes to a foreign tool holds for its owner, its name and its definition, with any arguments: not
// for what another server calls the same, nor for a tool that says something else of itself, nor
// for a command.
func TestAYesToAForeignTool(t *testing.T) {
	for _, answer := range []event.Decision{event.DecisionSession, event.DecisionProject, event.DecisionAlways} {
		d := newDesk()
		path := filepath.Join(t.TempDir(), "approvals.json")
		g := New(Policy{}, NewFile(path))
		if _, asked := decide(t, g, d, foreign(d, "srv", "d1", `{"command":"ls"}`), answer); !asked {
			t.Fatal("the first call was not asked about")
		}
		if answer != event.DecisionSession { // another process reads the file
			g = New(Policy{}, NewFile(path))
		}
		other := foreign(d, "srv", "d1", `{}`)
		other.Call.Name = "remove"
		for name, c := range map[string]struct {
			r    Request
			asks bool
		}{
			"other arguments":    {foreign(d, "srv", "d1", `{"command":"rm -rf x"}`), false},
			"another definition": {foreign(d, "srv", "d2", `{"command":"ls"}`), true},
			"another owner":      {foreign(d, "evil", "d1", `{"command":"ls"}`), true},
			"another tool":       {other, true},
			"our own tool":       {foreign(d, "", "", `{"command":"ls"}`), true},
			"a command":          {shell(d, "any arguments"), true},
		} {
			if _, asked := decide(t, g, d, c.r, event.DecisionDeny); asked != c.asks {
				t.Errorf("%s, %s: asked %v", answer, name, asked)
			}
		}
	}
}

func TestTheQuestionAboutAForeignTool(t *testing.T) {
	d := newDesk()
	g := New(Policy{}, NewFile(filepath.Join(t.TempDir(), "approvals.json")))
	decide(t, g, d, foreign(d, "srv", "d1", `{"command":"ls"}`), event.DecisionDeny)
	q := d.events[0].(event.ApprovalAsked)
	if q.Title != "Use run of srv?" || !strings.Contains(q.Scope, "run of srv, as it is defined now, with any arguments") ||
		!slices.Contains(q.Choices, event.DecisionAlways) || slices.ContainsFunc(q.Choices, event.Decision.Prefix) {
		t.Errorf("%+v", q)
	}
}
