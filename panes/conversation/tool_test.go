package conversation

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/text"
)

// inside sends an event that happened inside of a call.
func inside(p *Pane, parent string, e event.Event) {
	p.Apply([]event.Envelope{{Header: event.Header{Session: "s", Turn: "t", At: start, Parent: parent}, Event: e}})
}

func TestCallsInsideOfACallStandUnderIt(t *testing.T) {
	p := open(t, &world{})
	outer := toolCall("outer", "script.py")
	say(p, event.MessageAdded{Message: assistant(2, "", outer)}, event.ToolStarted{Call: outer})
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		inside(p, "outer", event.ToolStarted{Call: toolCall(n, "step "+n)})
		inside(p, "outer", event.ToolOutput{CallID: n, Data: []byte("said " + n)})
		if n != "f" {
			inside(p, "outer", event.ToolEnded{Result: chat.ToolResult{CallID: n, Text: "done", Took: time.Second}})
		}
	}
	v := seen(p)
	if !strings.Contains(v, "… 2 calls before") || strings.Contains(v, "step b") || !strings.Contains(v, "     ✓ terminal  step c") || !strings.Contains(v, "     ▶ terminal  step f") {
		t.Errorf("running:\n%s", v)
	}
	say(p, event.ToolEnded{Result: chat.ToolResult{CallID: "outer", Text: "all", Took: time.Minute}})
	if v := seen(p); !strings.Contains(v, "○ terminal  step f") || p.script.calls["f"].isRunning() {
		t.Errorf("what the call left open still runs:\n%s", v)
	}
	press(p, "ctrl+up", "enter")
	if v := seen(p); !strings.Contains(v, "step a") || strings.Contains(v, "calls before") {
		t.Errorf("opened:\n%s", v)
	}
}

func TestAnApprovalInsideOfACallWaitsToo(t *testing.T) {
	p := open(t, &world{})
	inside(p, "outer", asking("ap", "make", start))
	if !strings.Contains(seen(p), "1 waits for you") {
		t.Errorf("no bar:\n%s", seen(p))
	}
}

// Of a script stands there what it printed, not the object that tells a model of it.
func TestWhatAScriptPrintedIsShown(t *testing.T) {
	none := 0
	p := open(t, &world{})
	say(p, event.MessageAdded{Message: assistant(2, "", toolCall("c", "count.py"))}, event.ToolStarted{Call: toolCall("c", "count.py")})
	say(p, event.ToolEnded{Result: chat.ToolResult{
		CallID: "c", ExitCode: &none, Text: `{"status":"success","output":"forty\nfiles\n","exit_code":0,"isolation":"pidns"}`,
	}})
	if v := seen(p); !strings.Contains(v, "↳ forty") || !strings.Contains(v, "  files") || strings.Contains(v, "success") {
		t.Errorf("\n%s", v)
	}
}

func TestAFailureSaysWhy(t *testing.T) {
	two := 2
	for want, r := range map[string]chat.ToolResult{
		"↳ There is no tool called bash": {IsError: true, Text: "There is no tool called bash\nAvailable tools: many"},
		"  ld: symbol not found":         {ExitCode: &two, Text: "compiling\nld: symbol not found\n"},
		"  ld: no such file":             {ExitCode: &two, Text: "compiling\nld: no such file\n\n[exit code 2]"},
		"↳ Script timed out after 15s":   {ExitCode: &two, IsError: true, Text: `{"status":"timeout","error":"Script timed out after 15s","output":"x"}`},
		"interrupted":                    {Interrupted: true, IsError: true, Text: "x"},
	} {
		p := open(t, &world{})
		say(p, event.MessageAdded{Message: assistant(2, "", toolCall("c", "make"))}, event.ToolStarted{Call: toolCall("c", "make")})
		r.CallID = "c"
		say(p, event.ToolEnded{Result: r})
		if v := seen(p); !strings.Contains(v, want) {
			t.Errorf("%q is not in\n%s", want, v)
		}
	}
}

// TestTheClockOfACallBeginsWithTheAnswer: a person who thought for a minute does not make a command
// slow.
func TestTheClockOfACallBeginsWithTheAnswer(t *testing.T) {
	w := &world{now: start.Add(70 * time.Second)}
	p := open(t, w)
	ask := asking("ap", "make", start)
	say(p, event.MessageAdded{Message: assistant(2, "", ask.Call)}, event.ToolStarted{Call: ask.Call}, ask)
	settled := event.ApprovalSettled{ID: "ap", CallID: ask.Call.ID, Decision: event.DecisionOnce, By: "user"}
	p.Apply([]event.Envelope{{Header: event.Header{Session: "s", Turn: "t", At: start.Add(67 * time.Second)}, Event: settled}})
	if v := seen(p); !strings.Contains(v, "  3 s") {
		t.Errorf("got\n%s", v)
	}
}

func TestAnInterruptionIsSaidOnce(t *testing.T) {
	p := open(t, &world{})
	half := assistant(2, "half of it")
	half.Status = chat.StatusCancelled
	say(p, event.TurnStarted{}, event.MessageAdded{Message: user(1, "go")}, event.MessageAdded{Message: half},
		event.TurnEnded{Reason: event.TurnInterrupted, Took: 2 * time.Second, Hint: "the queue is held"})
	if v := seen(p); strings.Count(v, "interrupted") != 1 || !strings.Contains(v, "interrupted after 2.0 s") || !strings.Contains(v, "the queue is held") {
		t.Errorf("got\n%s", v)
	}
	say(p, event.TurnStarted{}, event.TurnEnded{Reason: event.TurnInterrupted, Took: 3 * time.Second})
	if v := seen(p); !strings.Contains(v, "after 2.0 s") || !strings.Contains(v, "after 3.0 s") {
		t.Errorf("of two turns:\n%s", v)
	}
}

func TestADeniedCallIsMarkedWhereItStands(t *testing.T) {
	for by, want := range map[event.Decider]string{"user": "", "timeout": "nobody answered in time", "policy": "denied by the policy"} {
		p := open(t, &world{})
		ask := asking("ap", "make", start)
		say(p, event.MessageAdded{Message: assistant(2, "", ask.Call)}, event.ToolStarted{Call: ask.Call}, ask)
		say(p, event.ApprovalSettled{ID: "ap", CallID: ask.Call.ID, Decision: event.DecisionDeny, By: by})
		say(p, event.ToolEnded{Result: chat.ToolResult{CallID: ask.Call.ID, IsError: true, Took: time.Millisecond, Text: "Denied by the person. Do not …"}})
		if v := seen(p); !strings.Contains(v, "✕ terminal  make") || strings.Contains(v, " ms") || strings.Contains(v, " s\n") || !strings.Contains(v, "denied") || !strings.Contains(v, want) || strings.Contains(v, "Denied by the person") {
			t.Errorf("%s:\n%s", by, v)
		}
	}
}

func TestALineGivesUpTheLeastFirst(t *testing.T) {
	p := open(t, &world{})
	one := 1
	c := newCall(p.env, 1, toolCall("c", strings.Repeat("容器", 40)), start)
	c.noteEnd(start, chat.ToolResult{ExitCode: &one, Backend: "analytics", Took: 6 * time.Second})
	for w, want := range map[int][]string{80: {"exit 1", "analytics", "6.0 s"}, 48: {"exit 1", "6.0 s"}, 40: {"exit 1"}, 20: {}} {
		l := text.Sanitize(c.drawLine(w))
		if text.Width(l) > w {
			t.Errorf("%d: %d cells", w, text.Width(l))
		}
		for _, part := range want {
			if !strings.Contains(l, part) {
				t.Errorf("%d: %q lacks %q", w, l, part)
			}
		}
	}
}

func TestTheNameLineSaysWhatATurnTookOnce(t *testing.T) {
	p := open(t, &world{})
	say(p, event.TurnStarted{}, event.MessageAdded{Message: user(1, "go")}, event.MessageStarted{MessageID: 2, Model: "sonnet"}, event.MessageSealed{Message: assistant(2, "Done.")},
		event.TurnEnded{Reason: event.TurnDone, Took: 3100 * time.Millisecond, Usage: chat.Usage{Output: 50, Cost: 4200, CostKnown: true}})
	v := seen(p)
	if !strings.Contains(v, "sonnet · 3.1 s · $0.0042 · 50 tokens") || strings.Count(v, "3.1 s") != 1 {
		t.Errorf("got\n%s", v)
	}
	p.Resize(30, 12)
	if v := seen(p); !strings.Contains(v, "sonnet · 3.1 s") || strings.Contains(v, "tokens") {
		t.Errorf("narrow:\n%s", v)
	}
}

func TestTheSettingsReachTheScreenAtOnce(t *testing.T) {
	w := &world{messages: []chat.Message{user(1, "go"), {ID: 2, Seq: 2, Role: chat.RoleAssistant, Status: chat.StatusFinal, Text: "Done.", Reasoning: "hm"}}}
	p := open(t, w)
	if v := seen(p); !strings.Contains(v, "14:02") {
		t.Fatalf("by default:\n%s", v)
	}
	p.deps.Display = func() Display { return Display{PasteLines: 1} }
	p.Apply([]event.Envelope{{Event: event.ConfigReloaded{}}})
	if v := seen(p); strings.Contains(v, "14:02") {
		t.Errorf("after the change:\n%s", v)
	}
	k := keyMsg("one\ntwo")
	k.Paste = true
	p.Update(k)
	if len(p.composer.Parts()) != 1 {
		t.Error("the paste of two lines is no chip")
	}
}

func TestArgumentsAreWrittenForPeople(t *testing.T) {
	for args, want := range map[string]string{
		`{"command":"make\ntest","timeout":5,"list":["a"]}`: "command: \n  make\n  test\ntimeout: 5\nlist: [\"a\"]\n",
		`{"a":`: `{"a":`, `[1]`: `[1]`, `{"a":1`: "a: 1\n", ``: ``, `{"a" 1}`: `{"a" 1}`, `{}`: ``,
	} {
		if got := formatArguments(args); got != want {
			t.Errorf("%s became %q, want %q", args, got, want)
		}
	}
}

func TestTheTodoListIsShownAlthoughACallSaysIt(t *testing.T) {
	p := open(t, &world{})
	say(p, event.TurnStarted{}, event.MessageAdded{Message: assistant(2, "", toolCall("call", "plan"))})
	inside(p, "call", event.TodoChanged{Items: []event.TodoItem{{ID: "1", Content: "look", Status: "completed"}, {ID: "2", Content: "mend", Status: "in_progress"}}})
	if v := seen(p); !strings.Contains(v, "[x] look") || !strings.Contains(v, "] mend") {
		t.Errorf("no list:\n%s", v)
	}
	rows := strings.Split(seen(p), "\n")
	for i, r := range rows {
		if strings.TrimSpace(r) == "to do" && strings.TrimSpace(rows[i-1]) != "" {
			t.Errorf("nothing sets the list off:\n%s", seen(p))
		}
	}
}

func TestWhatCannotBeReadIsNotCalledNew(t *testing.T) {
	p := open(t, &world{fail: errors.New("at work in another hermes")})
	if got := p.Title().Text; got != "Conversation" || !strings.Contains(seen(p), "at work in another hermes") {
		t.Errorf("%q:\n%s", got, seen(p))
	}
}

func TestTheRunningClockIsNeverOld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{now: start}
		p := open(t, w)
		for i := range rapid.IntRange(1, 3).Draw(rt, "calls") {
			id := strconv.Itoa(i)
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 1999).Draw(rt, "pause")) * time.Millisecond)
			say(p, event.MessageAdded{Message: assistant(int64(2+i), "", toolCall(id, "make "+id))})
			p.Apply([]event.Envelope{{Header: event.Header{Session: "s", At: w.now}, Event: event.ToolStarted{Call: toolCall(id, "make "+id)}}})
		}
		for range 5 {
			p.View()
			next := p.RefreshAt(w.now)
			if wait := next.Sub(w.now); wait <= 0 || wait > time.Second {
				rt.Fatalf("the next look is in %v", wait)
			}
			w.now = next
			for _, c := range p.script.running {
				if want := strconv.Itoa(int(c.timeTaken().Seconds())) + " s"; !strings.Contains(seen(p), c.gist+blanks(seen(p), c.gist)+want) {
					rt.Fatalf("%s runs for %s:\n%s", c.gist, want, seen(p))
				}
			}
		}
	})
}

// blanks are those that stand behind word.
func blanks(s, word string) string {
	_, rest, _ := strings.Cut(s, word)
	return rest[:len(rest)-len(strings.TrimLeft(rest, " "))]
}

func TestWhatWaitsForItsTurnSaysWhereItWillRun(t *testing.T) {
	p := open(t, &world{})
	c := chat.ToolCall{ID: "c", Name: "terminal", Args: []byte(`{"command":"make","backend":"analytics"}`)}
	say(p, event.MessageAdded{Message: assistant(2, "", c)})
	if v := seen(p); !strings.Contains(v, "analytics") {
		t.Errorf("pending:\n%s", v)
	}
	say(p, event.ToolStarted{Call: c, Backend: "default"})
	if v := seen(p); !strings.Contains(v, "default") || strings.Contains(v, "analytics") {
		t.Errorf("started elsewhere:\n%s", v)
	}
}

func TestAWarningIsSaidOnce(t *testing.T) {
	p := open(t, &world{})
	why := "backend 'broken' is not available: pulling none:9: no such host"
	say(p, event.TurnStarted{}, event.MessageAdded{Message: assistant(2, "", toolCall("c", "make"))}, event.ToolStarted{Call: toolCall("c", "make")})
	say(p, event.Notice{Level: event.Warn, Text: why, Hint: "'default' runs its commands"})
	say(p, event.ToolEnded{Result: chat.ToolResult{CallID: "c", Text: "hi", Warnings: []string{why + ": 'default' ran it instead", "another one"}}})
	if v := seen(p); strings.Count(v, "is not available") != 1 || !strings.Contains(v, "another one") {
		t.Errorf("it says\n%s", v)
	}
	say(p, event.TurnStarted{}, event.MessageAdded{Message: assistant(3, "", toolCall("d", "make"))}, event.ToolStarted{Call: toolCall("d", "make")})
	say(p, event.ToolEnded{Result: chat.ToolResult{CallID: "d", Text: "hi", Warnings: []string{why}}})
	if v := seen(p); strings.Count(v, "is not available") != 2 {
		t.Errorf("a later turn says\n%s", v)
	}
}
