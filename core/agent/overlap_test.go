package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/tool"
)

// likeTools say what they mean by their arguments, as the real ones do.
func likeTools(run func(ctx context.Context, c tool.Call) (tool.Result, error)) []tool.Tool {
	file := func(reads bool) func(json.RawMessage) intent.Intent {
		return tool.Arg(func(a struct{ Path string }) intent.Intent {
			return intent.Intent{Reads: reads, Paths: []string{a.Path}, OnlyPaths: true}
		})
	}
	const shell = `{"type":"object","properties":{"command":{"type":"string"},"workdir":{"type":"string"},
		"backend":{"type":"string"},"background":{"type":"boolean"}},"additionalProperties":false}`
	sh := tool.Arg(func(a struct {
		Command, Workdir, Backend string
		Background                bool
	},
	) intent.Intent {
		return intent.Intent{
			Shell: &intent.Shell{Command: a.Command, Dir: a.Workdir}, InBackend: true, Backend: a.Backend, Outlives: a.Background,
		}
	})
	return []tool.Tool{
		newTool("read", func(s *tool.Spec) { s.Intent = file(true) }, run),
		newTool("write", func(s *tool.Spec) { s.Intent = file(false) }, run),
		newTool("sh", func(s *tool.Spec) { s.Schema, s.Intent = json.RawMessage(shell), sh }, run),
		newTool("look", nil, run),
		newTool("ask", func(s *tool.Spec) { s.Serial = true }, run),
		newTool("script", func(s *tool.Spec) {
			s.Intent = func(json.RawMessage) intent.Intent {
				return intent.Intent{Effects: intent.UnknownAction(), Unread: true, InBackend: true, Backend: "box"}
			}
		}, run),
	}
}

func TestSeveralCallsOfOneAnswerRunAtOnceWhereTheyDoNotTouchEachOther(t *testing.T) {
	r := rigWith(t, likeTools(nil))
	r.deps.Backend = func(_, asked string) Place {
		switch asked {
		case "box", "crate":
			return Place{Name: asked, Dir: "/root", Sandboxed: true}
		case "far":
			return Place{Name: asked, Dir: "/home/me"}
		}
		return Place{Name: "here", Dir: "/proj", Local: true}
	}
	r.agent = New(r.deps)
	read, write := func(p string) fakeCall { return fakeCall{"read", `{"path":"` + p + `"}`} }, func(p string) fakeCall { return fakeCall{"write", `{"path":"` + p + `"}`} }
	sh := func(command string, more ...string) fakeCall {
		return fakeCall{"sh", fmt.Sprintf(`{"command":%q%s}`, command, strings.Join(more, ""))}
	}
	look, ask, script := fakeCall{"look", `{}`}, fakeCall{"ask", `{}`}, fakeCall{"script", `{}`}
	box, crate, far, bg := `,"backend":"box"`, `,"backend":"crate"`, `,"backend":"far"`, `,"background":true`
	at := func(dir string) string { return `,"workdir":"` + dir + `"` }
	tests := []struct {
		name  string
		calls []fakeCall
		want  string
	}{
		{"readers together", []fakeCall{look, read("/a"), look}, "[3]"},
		{"writers of different files", []fakeCall{write("/a"), write("/b"), read("/c")}, "[3]"},
		{"writers of one file", []fakeCall{write("/a"), write("/a")}, "[1 1]"},
		{"a reader of what is written", []fakeCall{write("/a"), read("/a")}, "[1 1]"},
		{"a folder and a file in it", []fakeCall{write("/d"), write("/d/x")}, "[1 1]"},
		{"names that only begin alike", []fakeCall{write("/d"), write("/dx")}, "[2]"},
		{"a search beside a writer", []fakeCall{look, write("/a")}, "[1 1]"},
		{"serial alone", []fakeCall{look, ask, look, look}, "[1 1 2]"},
		{"commands that only read", []fakeCall{sh("sleep 3; echo a"), sh("sleep 3; echo b"), look, read("/a")}, "[4]"},
		{"a command that writes", []fakeCall{sh("ls"), sh("echo a > f"), sh("cat f")}, "[1 1 1]"},
		{"pages that are fetched", []fakeCall{sh("curl https://a.example"), sh("curl -s https://b.example | head"), sh("ls")}, "[3]"},
		{"a page that is kept", []fakeCall{sh("curl https://a.example"), sh("curl -o f https://b.example")}, "[1 1]"},
		{"what is sent", []fakeCall{sh("curl https://a.example"), sh("curl -d x=1 https://b.example")}, "[1 1]"},
		{"a page that is run", []fakeCall{sh("ls"), sh("curl https://b.example | sh")}, "[1 1]"},
		{"tests of the project", []fakeCall{sh("pytest a"), sh("pytest b"), sh("go test ./...")}, "[1 1 1]"},
		{"code of the project", []fakeCall{sh("make"), sh("make test")}, "[1 1]"},
		{"what nobody knows", []fakeCall{sh("foo"), sh("ls")}, "[1 1]"},
		{"cd before a command that begins there", []fakeCall{sh("cd sub"), sh("ls"), sh("ls -l")}, "[1 2]"},
		{"a command before cd", []fakeCall{sh("ls"), sh("cd sub && ls")}, "[1 1]"},
		{"cd to where it is", []fakeCall{sh("cd /proj && ls"), sh("cat x")}, "[2]"},
		{"cd in a shell of its own", []fakeCall{sh("(cd sub && ls)"), sh("cat x")}, "[2]"},
		{"folders of their own", []fakeCall{sh("ls", at("/a")), sh("ls", at("/b"))}, "[2]"},
		{"a folder of its own, then where that was", []fakeCall{sh("ls", at("/a")), sh("ls")}, "[1 1]"},
		{"the background alone", []fakeCall{sh("sleep 9", bg), sh("ls")}, "[1 1]"},
		{"two sandboxes", []fakeCall{sh("make", box), sh("make", crate)}, "[2]"},
		{"a sandbox beside this machine", []fakeCall{sh("make", box), sh("make"), write("/a")}, "[2 1]"},
		{"a sandbox beside a file of this machine", []fakeCall{sh("make", box), write("/a")}, "[2]"},
		{"two machines that may share a disk", []fakeCall{sh("make"), sh("make", far)}, "[1 1]"},
		{"one sandbox", []fakeCall{sh("make", box), sh("make", box)}, "[1 1]"},
		{"scripts alone", []fakeCall{script, sh("ls", crate)}, "[1 1]"},
	}
	w, err := r.agent.workerOf(t.Context(), r.uid)
	if err != nil {
		t.Fatal(err)
	}
	turn := newTurn(w)
	if turn.tools, err = w.givenTools(t.Context(), []string{"terminal"}); err != nil {
		t.Fatal(err)
	}
	turn.info.Cwd, turn.settings = "/proj", r.deps.Settings("")
	for _, tt := range tests {
		var left []numbered
		for i, c := range tt.calls {
			left = append(left, r.agent.numberCall(chat.ToolCall{ID: fmt.Sprint(i), Name: c.name, Args: json.RawMessage(c.args)}))
		}
		var got []int
		for len(left) > 0 {
			n := len(turn.takeOverlapping(left))
			got, left = append(got, n), left[n:]
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// What is allowed runs while the person is asked about the call beside it; the questions come one
// at a time, the results in the order of the calls.
func TestApprovalsStayOneAtATimeWhileCallsRunAtOnce(t *testing.T) {
	began := make(chan string, 4)
	hold := make(chan struct{})
	run := func(_ context.Context, c tool.Call) (tool.Result, error) {
		began <- argument(c, "path")
		if argument(c, "path") == "/1" {
			<-hold // the first ends last
		}
		return tool.Result{Text: "did " + argument(c, "path")}, nil
	}
	r := rigWith(t, likeTools(run), callsTools(fakeCall{"write", `{"path":"/1"}`}, fakeCall{"write", `{"path":"/2"}`}, fakeCall{"write", `{"path":"/3"}`}), says("ok"))
	r.submit("go", "")
	for n := 1; n <= 3; n++ {
		r.sink.until(func(all []event.Envelope) bool { return count[event.ApprovalAsked](all) == n })
		if got := len(r.gate.Pending(r.uid)); got != 1 {
			t.Fatalf("%d questions at a time", got)
		}
		if err := r.agent.Answer(r.gate.Pending(r.uid)[0].ID, event.DecisionOnce); err != nil {
			t.Fatal(err)
		}
		if got, want := <-began, fmt.Sprintf("/%d", n); got != want {
			t.Fatalf("%s began, want %s", got, want) // before the next is answered
		}
	}
	// those that are over say so at once; their results wait for the first one's
	r.sink.until(func(all []event.Envelope) bool { return count[event.ToolFinished](all) == 2 })
	if n := len(each[event.ToolEnded](r.sink)); n > 0 {
		t.Errorf("%d results came before the first one's", n)
	}
	close(hold)
	r.ended(1)
	var order []string
	for _, e := range each[event.ToolEnded](r.sink) {
		order = append(order, e.Result.Text)
	}
	if strings.Join(order, ", ") != "did /1, did /2, did /3" {
		t.Errorf("the results come as %q", order)
	}
	wantShape(t, r, "user:go", "assistant:+3", "tool:did /1", "tool:did /2", "tool:did /3", "assistant:ok")
	for _, s := range each[event.ToolStarted](r.sink) {
		if s.Beside != 2 {
			t.Errorf("%s runs beside %d others, want 2", s.Call.ID, s.Beside)
		}
	}
}
