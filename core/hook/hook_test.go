package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/backend"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// here is a pool of one back end that runs real programs on this machine.
type here struct{ backend.Pool }

func (here) List(string) []backend.Status {
	return []backend.Status{{Name: "box"}, {Name: "default", Traits: event.Traits{Local: true}, Default: true}}
}

func (here) Exec(ctx context.Context, r backend.Request) (backend.Result, error) {
	cmd := exec.CommandContext(ctx, r.Argv[0], r.Argv[1:]...)
	cmd.Dir, cmd.Stdin = r.Dir, bytes.NewReader(r.Stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdout, cmd.Stderr = sink{r.Sink, event.Stdout}, sink{r.Sink, event.Stderr}
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return backend.Result{ExitCode: exit.ExitCode()}, nil
	}
	return backend.Result{}, err
}

type sink struct {
	to   func(event.Stream, []byte)
	from event.Stream
}

func (s sink) Write(b []byte) (int, error) { s.to(s.from, b); return len(b), nil }

// run has the hooks of a config.yaml take part in something.
func run(t *testing.T, settings string, in Input) (Verdict, []event.HookRan) {
	t.Helper()
	set, problems := config.Defaults().ProjectHooks("hooks.yaml", []byte(settings))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var s Set
	if err := s.Replace(OwnerSettings, Commands{here{}}.Of(set)); err != nil {
		t.Fatal(err)
	}
	var ran []event.HookRan
	in.Cwd = t.TempDir()
	return s.Run(t.Context(), in, func(e event.HookRan) { ran = append(ran, e) }), ran
}

func call(tool, args string) Input {
	return Input{Event: PreToolCall, Session: "s", Tool: tool, CallID: "c1", Args: json.RawMessage(args)}
}

func TestCommands(t *testing.T) {
	const head = "hooks:\n  pre_tool_call:\n    - "
	rm := call("terminal", `{"command":"rm -rf /"}`)
	for name, c := range map[string]struct {
		hook    string
		in      Input
		outcome event.HookOutcome
		refused bool
		text    string
		args    string
	}{
		"nothing to say":       {`"true"`, rm, event.HookOK, false, "", ""},
		"talk":                 {`echo hello`, rm, event.HookOK, false, "", ""},
		"exit code 2":          {`{command: "echo not here >&2; exit 2"}`, rm, event.HookDenied, true, "not here", ""},
		"hermes' words":        {`{command: "echo '{\"decision\": \"block\", \"reason\": \"no rm\"}'"}`, rm, event.HookDenied, true, "no rm", ""},
		"reads its input":      {`{command: "grep -q 'rm -rf' && echo '{\"action\":\"block\",\"message\":\"seen\"}'"}`, rm, event.HookDenied, true, "seen", ""},
		"continue":             {`{command: "echo '{\"continue\": false, \"stopReason\": \"halt\"}'"}`, rm, event.HookDenied, true, "halt", ""},
		"changes":              {`{command: "echo '{\"tool_input\": {\"command\": \"ls\"}}'"}`, rm, event.HookChanged, false, "", `{"command": "ls"}`},
		"other agents' words":  {`{command: "echo '{\"hookSpecificOutput\": {\"permissionDecision\": \"deny\", \"permissionDecisionReason\": \"r\"}}'"}`, rm, event.HookDenied, true, "r", ""},
		"missing program":      {`/nowhere/guard`, rm, event.HookFailed, true, "127", ""},
		"broken JSON":          {`{command: "echo '{'"}`, rm, event.HookFailed, true, "JSON", ""},
		"decides what we lack": {`{command: "echo '{\"decision\": \"ask\"}'"}`, rm, event.HookFailed, true, `"ask"`, ""},
		"missing, let pass":    {`{command: /nowhere/guard, on_error: allow}`, rm, event.HookFailed, false, "127", ""},
		"late":                 {`{command: "sleep 60 & sleep 60", timeout: 0.2}`, rm, event.HookFailed, true, "200ms", ""},
		"a flood":              {`{command: "yes | head -c 200000"}`, rm, event.HookFailed, true, "64 KiB", ""},
		"no such place":        {`{command: "true", backend: moon}`, rm, event.HookFailed, true, "moon", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v, ran := run(t, head+c.hook+"\n", c.in)
			if len(ran) != 1 || ran[0].Outcome != c.outcome || v.Refused != c.refused || ran[0].Refused != c.refused {
				t.Fatalf("%+v %+v", v, ran)
			}
			if !strings.Contains(ran[0].Text, c.text) || string(v.Args) != c.args {
				t.Errorf("said %q, args %s", ran[0].Text, v.Args)
			}
			if (ran[0].Words() == "") != (c.outcome == event.HookOK) {
				t.Errorf("words %q", ran[0].Words())
			}
		})
	}
}

func TestMatcher(t *testing.T) {
	const settings = "hooks:\n  pre_tool_call:\n    - {matcher: 'write_file|patch', command: exit 2}\n"
	for tool, want := range map[string]int{"write_file": 1, "patch": 1, "patched": 0, "terminal": 0} {
		if _, ran := run(t, settings, call(tool, `{}`)); len(ran) != want {
			t.Errorf("%s: %d runs", tool, len(ran))
		}
	}
}

// Hooks run in order: what one changed is what the next one sees, and who refuses ends it.
func TestOrder(t *testing.T) {
	v, ran := run(t, `
hooks:
  PreToolUse:
    - {name: first, command: "echo '{\"tool_input\": {\"v\": \"one\"}}'"}
    - {name: second, command: "grep -q one && echo '{\"tool_input\": {\"v\": \"two\"}}'"}
`, call("x", `{"v":"zero"}`))
	if len(ran) != 2 || string(v.Args) != `{"v": "two"}` || v.By != "first, second" {
		t.Fatalf("%+v %+v", v, ran)
	}
	v, ran = run(t, "hooks:\n  pre_tool_call: [exit 2, 'true']\n", call("x", `{}`))
	if len(ran) != 1 || !v.Refused {
		t.Fatalf("%+v %+v", v, ran)
	}
}

// Text for the model comes with the name of who says it; what only watches refuses nothing.
func TestAfterTheCall(t *testing.T) {
	in := Input{Event: PostToolCall, Tool: "write_file", Result: &Result{Text: "done"}}
	v, ran := run(t, `{hooks: {post_tool_call: [{name: fmt, command: "echo '{\"context\": \"2 files formatted\"}'"}]}}`, in)
	if v.Context != "[the hook fmt says: 2 files formatted]" || ran[0].Outcome != event.HookAdded {
		t.Errorf("%+v %+v", v, ran)
	}
	v, _ = run(t, "hooks:\n  post_tool_call: ['echo it does not compile >&2; exit 2']\n", in)
	if v.Refused || !strings.Contains(v.Context, "it does not compile") {
		t.Errorf("%+v", v)
	}
	if v, ran = run(t, "hooks:\n  post_tool_call: ['exit 1']\n", in); v.Refused || ran[0].Outcome != event.HookFailed {
		t.Errorf("%+v %+v", v, ran)
	}
}

// An interrupt ends a hook and is not its fault.
func TestInterrupt(t *testing.T) {
	var s Set
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Replace(OwnerSettings, []Hook{{Event: PreToolCall, Name: "slow", Timeout: time.Minute, Run: func(ctx context.Context, _ Hook, _ Input, _ []byte) (Reply, error) {
		cancel()
		<-ctx.Done()
		return Reply{}, ctx.Err()
	}}})
	if err != nil {
		t.Fatal(err)
	}
	v := s.Run(ctx, call("x", `{}`), func(e event.HookRan) { t.Errorf("told of %+v", e) })
	if v.Refused {
		t.Errorf("%+v", v)
	}
}

// A project's hooks count for exactly the content that was trusted, scripts of theirs included.
func TestProject(t *testing.T) {
	folder, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, ProjectFile), "hooks:\n  pre_tool_call: [sh tools/guard.sh]\n")
	script := filepath.Join(folder, "tools", "guard.sh")
	write(t, script, "exit 0\n")
	p := NewProjects(home, Commands{here{}})
	look := func(want trust.State) *Brought {
		t.Helper()
		b, err := p.Look(folder, config.Defaults())
		if err != nil || b == nil || b.State != want || len(b.Hooks) != 1 {
			t.Fatalf("%+v, %v; want %s", b, err, want)
		}
		return b
	}
	shown := look(trust.Unasked)
	if err := p.Answer(shown, true); err != nil {
		t.Fatal(err)
	}
	look(trust.Trusted)
	write(t, script, "exit 2\n")
	look(trust.Outdated)
	if b, err := p.Look(home, config.Defaults()); b != nil || err != nil {
		t.Errorf("nothing there: %+v %v", b, err)
	}
}

// A hook may write a file that its own command names, and still run. What it only reads may not
// change, and the refusal names it.
func TestAHookThatWritesALogRunsAgain(t *testing.T) {
	folder := t.TempDir()
	log := filepath.Join(folder, "hook.log")
	write(t, filepath.Join(folder, ProjectFile), "hooks:\n  pre_tool_call: [\"sh guard.sh 2>err.log >> hook.log\"]\n")
	write(t, filepath.Join(folder, "guard.sh"), "echo x; echo y >&2\n")
	write(t, log, "begun\n")
	p := NewProjects(t.TempDir(), Commands{here{}})
	b, err := p.Look(folder, config.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	var s Set
	if err := s.Replace(OwnerProject, b.Hooks); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if v := s.Run(t.Context(), call("terminal", "{}"), func(event.HookRan) {}); v.Refused {
			t.Fatalf("%+v", v)
		}
	}
	if got, _ := os.ReadFile(log); string(got) != "begun\nx\nx\nx\n" {
		t.Errorf("%q", got)
	}
	write(t, filepath.Join(folder, "guard.sh"), "exit 0\n")
	if v := s.Run(t.Context(), call("terminal", "{}"), func(event.HookRan) {}); !v.Refused || !strings.Contains(v.Reason, "guard.sh, which") {
		t.Errorf("%+v", v)
	}
}

// What was trusted is what runs: a program that changed since is not run, nor one of the same name
// in the folder of the session, and a hook that refuses refuses then.
func TestProgramsOfAProjectAreLookedAtBeforeEachRun(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, ProjectFile), "hooks:\n  pre_tool_call: [sh tools/guard.sh]\n")
	script := filepath.Join(folder, "tools", "guard.sh")
	large := strings.Repeat("# "+strings.Repeat("x", 78)+"\n", 20_000) // more than a MiB
	write(t, script, large+"exit 0\n")
	write(t, filepath.Join(other, "tools", "guard.sh"), "touch ran; exit 2\n")
	p := NewProjects(t.TempDir(), Commands{here{}})
	b, err := p.Look(folder, config.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Answer(b, true); err != nil {
		t.Fatal(err)
	}
	var s Set
	if err := s.Replace(OwnerProject, b.Hooks); err != nil {
		t.Fatal(err)
	}
	in := call("terminal", "{}")
	in.Cwd = other
	if v := s.Run(t.Context(), in, func(event.HookRan) {}); v.Refused {
		t.Errorf("%+v", v)
	}
	if _, err := os.Stat(filepath.Join(other, "ran")); err == nil {
		t.Error("a program of another folder was run")
	}
	write(t, script, large+"exit 3\n") // of the same length
	v := s.Run(t.Context(), in, func(event.HookRan) {})
	if !v.Refused || !strings.Contains(v.Reason, "has changed since they were trusted") {
		t.Errorf("%+v", v)
	}
	if b, err = p.Look(folder, config.Defaults()); err != nil || b.State != trust.Outdated {
		t.Errorf("%+v %v", b, err)
	}
}

// However a command names a program of the project: it is looked at.
func TestProgramsAreFoundInEveryCommand(t *testing.T) {
	for _, command := range []string{
		"sh my/guard.sh", "sh my/guard.sh>log", "sh my/guard.sh;true", "true&&sh my/guard.sh", "sh <my/guard.sh", "cat my/guard.sh|sh", `"$HERMES_PROJECT_DIR"/my/guard.sh`, `"${HERMES_PROJECT_DIR}/my/guard.sh"`,
		`"$(git rev-parse --show-toplevel)/my/guard.sh"`, `sh -c "true; sh my/guard.sh >> log"`, `sh -c 'sh -c "sh my/guard.sh"'`, "run --config=my/guard.sh", "X=$(sh my/guard.sh) true", "true > >(sh my/guard.sh)", `sh "my folder/guard.sh"`,
		"if true; then sh my/guard.sh; fi", "sh my/{guard,other}.sh", "sh my/guard.sh 2>&1", "sh 'my/guard.sh", "exec 2>log; sh my/guard.sh",
	} {
		folder := t.TempDir()
		for _, file := range []string{"my/guard.sh", "my folder/guard.sh"} {
			write(t, filepath.Join(folder, file), "exit 0\n")
		}
		before, err := filesOf(folder, []Hook{{Command: command}})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"my/guard.sh", "my folder/guard.sh"} {
			write(t, filepath.Join(folder, file), "exit 1\n")
		}
		write(t, filepath.Join(folder, "log"), "it wrote\n")
		after, err := filesOf(folder, []Hook{{Command: command}})
		if file := changed(before, after); err != nil || !strings.HasSuffix(file, "/guard.sh") {
			t.Errorf("%s: %q has changed, %v", command, file, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"", "{", `{"decision":"block"}`, `{"tool_input":[1]}`, `{"hookSpecificOutput":{"updatedInput":{"a":1}}}`, "\x1b[2J", `{"context":"\u202e"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		a, err := readAnswer(out)
		if err == nil && a.args != nil && !json.Valid(a.args) {
			t.Errorf("%q became %q", out, a.args)
		}
		_ = Hook{Event: PreToolCall, Owner: "plugin:x"}.allowed(a)
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
