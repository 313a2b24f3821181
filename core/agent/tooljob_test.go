package agent

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/session"
	"hermes/core/testwait"
	"hermes/core/tool"
)

func count[E event.Event](all []event.Envelope) int {
	n := 0
	for _, e := range all {
		if _, ok := e.Event.(E); ok {
			n++
		}
	}
	return n
}

// A tool that panics while it describes its call ends that call; the turn and the program go on.
func TestAPanicInADescriptionEndsTheCall(t *testing.T) {
	for name, change := range map[string]func(*tool.Spec){
		"intent": func(s *tool.Spec) { s.Intent = func(json.RawMessage) intent.Intent { panic("boom") } },
		"preview": func(s *tool.Spec) {
			s.Intent = acts
			s.Preview = func(context.Context, tool.Call) (string, string) { panic("boom") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			ran := false
			bad := newTool("bad", change, func(context.Context, tool.Call) (tool.Result, error) {
				ran = true
				return tool.Result{}, nil
			})
			r := rigWith(t, []tool.Tool{bad}, callsTools(fakeCall{"bad", "{}"}), says("I see"))
			r.submit("hi", "")
			if end := r.ended(1); end.Reason != event.TurnDone {
				t.Fatalf("%+v", end)
			}
			r.idle()
			wantShape(t, r, "user:hi", "assistant:+1", "tool:bad failed inside (a fault of the program, not of your call): boom", "assistant:I see")
			if ran {
				t.Error("a call that could not be described was run")
			}
		})
	}
}

// What a toolset leaves out cannot be called, even when a model knows its name.
func TestAToolOutsideOfTheToolsetIsRefused(t *testing.T) {
	ran := false
	hidden := newTool("hidden", func(s *tool.Spec) { s.Toolset = "web" }, func(context.Context, tool.Call) (tool.Result, error) {
		ran = true
		return tool.Result{}, nil
	})
	r := rigWith(t, append(standardTools(), hidden), callsTools(fakeCall{"hidden", "{}"}), callsTools(fakeCall{"hiden", "{}"}), callsTools(fakeCall{"ecko", "{}"}), says("ok"))
	r.submit("hi", "")
	r.ended(1)
	r.idle()
	if got := shape(r.history()); strings.Contains(got[4], "hidden") || !strings.Contains(got[4], `called "hiden". Yours are: `) || !strings.Contains(got[6], "Did you mean echo? Yours are: ") {
		t.Errorf("what a call of no tool is told: %q", got)
	}
	if got := shape(r.history())[2]; ran || !strings.Contains(got, "not part of this session") || !strings.Contains(got, "echo") {
		t.Errorf("ran %v: %s", ran, got)
	}
}

// Two names of one file are one file: ~ and links do not make calls run beside each other.
func TestPathsAreTheFilesThatAreMeant(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	dir := filepath.Join(home, "proj")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.txt", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	paths := tool.Arg(func(a struct{ Path string }) intent.Intent { return intent.Intent{Paths: []string{a.Path}} })
	write := newTool("write", func(s *tool.Spec) { s.Intent = paths }, nil)
	r := rigWith(t, []tool.Tool{write}, callsTools(
		fakeCall{"write", `{"path":"real.txt"}`}, fakeCall{"write", `{"path":"link.txt"}`}, fakeCall{"write", `{"path":"~/proj/real.txt"}`},
		fakeCall{"write", `{"path":"~/.bashrc"}`},
	))
	info, err := r.svc.Create(context.Background(), session.NewSession{Cwd: dir, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	r.uid = info.UID
	r.submit("hi", "")
	asked := first[event.ApprovalAsked](r.sink)
	if n := len(each[event.ToolStarted](r.sink)); n != 1 {
		t.Errorf("%d calls on one file began together", n)
	}
	for want := 1; want <= 4; want++ {
		r.sink.until(func(all []event.Envelope) bool { return count[event.ApprovalAsked](all) == want })
		asked = each[event.ApprovalAsked](r.sink)[want-1]
		if err := r.gate.Answer(asked.ID, event.DecisionDeny); err != nil {
			t.Fatal(err)
		}
		if want == 3 { // the turn pauses here
			break
		}
	}
	for _, a := range each[event.ApprovalAsked](r.sink) {
		if got := strings.Join(a.Effects, ""); got != "writes "+filepath.Join(dir, "real.txt")+" (in the project)" {
			t.Errorf("effects %q", got)
		}
	}
}

// A background process is heard after its call has returned, in step with what the call said
// itself.
func TestOutputGoesOnAfterTheCall(t *testing.T) {
	later := make(chan func(event.Stream, []byte), 1)
	start := newTool("start", nil, func(_ context.Context, c tool.Call) (tool.Result, error) {
		c.Output(event.Stdout, []byte("one"))
		later <- c.Later
		c.Later(event.Stdout, []byte("two"))
		return tool.Result{Text: "started"}, nil
	})
	r := rigWith(t, []tool.Tool{start}, callsTools(fakeCall{"start", "{}"}), says("runs"))
	r.submit("hi", "")
	r.ended(1)
	r.idle()
	(<-later)(event.Stdout, []byte("three"))
	r.sink.until(func(all []event.Envelope) bool {
		last, ok := all[len(all)-1].Event.(event.ToolOutput)
		return ok && last.Offset+int64(len(last.Data)) == int64(len("onetwothree"))
	})
	var got strings.Builder
	for _, o := range each[event.ToolOutput](r.sink) {
		if o.Offset != int64(got.Len()) || o.CallID != "call_0" {
			t.Fatalf("%+v after %q", o, got.String())
		}
		got.Write(o.Data)
	}
	if got.String() != "onetwothree" {
		t.Errorf("heard %q", got.String())
	}
}

// A command's approval counts for the folder that it starts in, which an earlier command may have
// changed.
func TestACommandIsAskedForTheFolderThatItStartsIn(t *testing.T) {
	run := newTool("run", commands, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "ran"}, nil })
	once := callsTools(fakeCall{"run", `{"command":"rm -rf build"}`})
	r := rigWith(t, []tool.Tool{run}, once, once, once, says("done"))
	place := make(chan Place, 3)
	place <- Place{Name: "here"}
	place <- Place{Name: "here", Dir: "/proj"}
	place <- Place{Name: "here", Dir: "/home/me"}
	r.deps.Backend = func(_, _ string) Place { return <-place }
	r.agent = New(r.deps)
	r.submit("hi", "")
	for n, d := range []event.Decision{event.DecisionSession, event.DecisionDeny} {
		r.sink.until(func(all []event.Envelope) bool { return count[event.ApprovalAsked](all) > n })
		if err := r.gate.Answer(each[event.ApprovalAsked](r.sink)[n].ID, d); err != nil {
			t.Fatal(err)
		}
	}
	r.ended(1)
	r.idle()
	h := shape(r.history())
	if h[2] != "tool:ran" || h[4] != "tool:ran" || !strings.Contains(h[6], "Denied") {
		t.Errorf("%q", h)
	}
}

// The answer that ends a used-up budget calls nothing; if a model calls anyway, the call is closed.
func TestCallsBeyondTheBudgetAreClosed(t *testing.T) {
	r := newRig(t)
	r.model.always = callsTools(fakeCall{"echo", `{}`})
	r.deps.Settings = func(string) Settings { return Settings{MaxTurns: 1, Toolsets: []string{"terminal"}} }
	r.agent = New(r.deps)
	r.submit("hi", "")
	if end := r.ended(1); end.Reason != event.TurnBudget {
		t.Fatalf("%+v", end)
	}
	r.idle()
	wantShape(t, r, "user:hi", "assistant:+1", "tool:echo ", "assistant:+1", "tool:[not run: the turn had no steps left]!cancelled")
}

// Close also ends a turn that begins from the queue at that very moment.
func TestCloseWhileTheQueueGoesOn(t *testing.T) {
	for range 30 {
		r, token := gatedRig(t, callsTools(fakeCall{"token", "{}"}), says("1"), hangs("", nil))
		r.submit("one", "")
		first[event.ToolStarted](r.sink)
		r.submit("two", event.InputQueue)
		token <- struct{}{}
		first[event.MessageSealed](r.sink)
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
		if err := r.agent.Close(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
}
