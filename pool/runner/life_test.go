package runner

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
)

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testwait.Hang); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 5 s: %s", what)
		}
	}
}

func TestBadSpecs(t *testing.T) {
	r := newRunner(t)
	for want, s := range map[string]Spec{
		"command is empty":     {},
		"both a command":       {Command: "true", Argv: []string{"true"}},
		"NUL byte":             {Command: "echo a\x00b"},
		"variable \"A\"":       {Command: "true", Env: []string{"A=\x00"}},
		"does not exist":       {Command: "true", Dir: "/nosuchdir", Strict: true},
		"is not a directory":   {Command: "true", Dir: "/etc/passwd", Strict: true},
		"not an absolute path": {Command: "true", Dir: "etc", Strict: true},
		"no such program":      {Argv: []string{"nosuchprogram"}, Env: []string{"PATH=/bin"}},
		"was not started in":   {Command: "true", Shell: "/nosuchshell"},
	} {
		if _, err := r.Run(context.Background(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestCancelledBeforeTheStart(t *testing.T) {
	r := newRunner(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := script(t, "touch proof")
	if _, err := r.Run(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.Home, "proof")); err == nil {
		t.Error("the command ran")
	}
}

// Close ends what runs in the foreground and in the background, and takes no more.
func TestClose(t *testing.T) {
	r := New(Options{Grace: 200 * time.Millisecond})
	up := make(chan struct{})
	ended := make(chan Result)
	s := script(t, "echo up; trap '' TERM; while :; do sleep 1; done")
	s.Sink = func(Stream, []byte) { close(up) }
	go func() {
		res, _ := r.Run(context.Background(), s)
		ended <- res
	}()
	<-up
	p, err := r.Start(script(t, "exec sleep 100"))
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- r.Close(context.Background()) }()
	if res := <-ended; !res.Interrupted || string(res.Output) != "up\n" {
		t.Errorf("in the foreground: %+v", res)
	}
	<-p.Done()
	if code, _ := p.Exit(); code != 143 {
		t.Errorf("in the background: exit code %d", code)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := r.Run(context.Background(), script(t, "true")); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// Late output is counted, and the child that prints it gets no SIGPIPE.
func TestLateOutputIsCounted(t *testing.T) {
	r := newRunner(t)
	s := script(t, "(while ! [ -e go ]; do sleep 0.01; done; echo 12345; echo alive >proof) & echo now")
	if res := mustRun(t, r, s); string(res.Output) != "now\n" {
		t.Errorf("output %q", res.Output)
	}
	if err := os.WriteFile(filepath.Join(s.Home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child goes on", func() bool {
		data, _ := os.ReadFile(filepath.Join(s.Home, "proof"))
		return string(data) == "alive\n"
	})
	eventually(t, "its bytes are counted", func() bool { return r.LateBytes() == 6 })
}

// What the shell printed before it ended is complete, though a child holds the pipe.
func TestOutputBeforeTheEndIsComplete(t *testing.T) {
	r := newRunner(t)
	for range 20 {
		s := script(t, "sleep 1 & head -c 300000 /dev/zero")
		s.MaxOutput = 1 << 20
		if res := mustRun(t, r, s); res.Total != 300_000 {
			t.Fatalf("%d bytes of 300000", res.Total)
		}
	}
}

func TestDeadlineIsATimeout(t *testing.T) {
	r := newRunner(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	res, err := r.Run(ctx, script(t, "sleep 10"))
	if err != nil || !res.TimedOut || res.ExitCode != ExitTimeout || res.Interrupted {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestProcessTimeout(t *testing.T) {
	r := newRunner(t)
	s := script(t, "sleep 10")
	s.Timeout = 50 * time.Millisecond
	p, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if code, ended := p.Exit(); code != ExitTimeout || !ended {
		t.Errorf("exit code %d, ended %v", code, ended)
	}
}

func TestWriteToAProcessThatDoesNotRead(t *testing.T) {
	r := newRunner(t)
	s := script(t, "sleep 100")
	s.Live = true
	p, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.job.io.sendWithin(20*time.Millisecond, make([]byte, 1<<20), false); err == nil || !strings.Contains(err.Error(), "did not read") {
		t.Errorf("error %v", err)
	}
}

func TestEnviron(t *testing.T) {
	env := Environ([]string{"PATH=/bin", "PAGER=less", "bad", "=C:=x"}, true, map[string]string{"A": "1", "PAGER": "more"}, map[string]string{"A": "2"})
	want := "A=2 GIT_PAGER=cat MANPAGER=cat PAGER=more PATH=/bin TERM=xterm-256color"
	if got := strings.Join(env, " "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got := withTag([]string{"HERMES_CALL=forged", "PWD=/old", "A=1"}, "tag", "/new")
	if strings.Join(got, " ") != "A=1 HERMES_CALL=tag PWD=/new" {
		t.Errorf("got %q", got)
	}
}

func TestTildeIsHome(t *testing.T) {
	r := newRunner(t)
	home := t.TempDir()
	s := Spec{Command: "pwd", Env: []string{"PATH=/bin:/usr/bin", "HOME=" + home}, Dir: "~", Strict: true}
	if res := mustRun(t, r, s); string(bytes.TrimSpace(res.Output)) != home {
		t.Errorf("ran in %q, want %q", res.Output, home)
	}
}

// A command means what it means in its folder: when that and the one that commands begin in are
// gone, it is not started in another.
func TestACommandIsNotStartedJustAnywhere(t *testing.T) {
	r := newRunner(t)
	gone := filepath.Join(t.TempDir(), "gone")
	if _, err := r.Run(t.Context(), Spec{Command: "pwd", Env: []string{"PATH=/bin:/usr/bin"}, Dir: gone + "/sub", Home: gone}); err == nil || !strings.Contains(err.Error(), "was not started") {
		t.Errorf("error %v", err)
	}
}
