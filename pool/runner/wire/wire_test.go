package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool/runner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = testwait.Hang

// pair returns a Client of an in-process Server, both gone when the test ends.
func pair(t testing.TB, o Options, p Place) (*Client, *Server) {
	t.Helper()
	if p.Info.Shell == "" {
		p.Info.Shell = "/bin/sh"
	}
	if p.Info.Dir == "" {
		p.Info.Dir = t.TempDir()
	}
	s := NewServer(p)
	t.Cleanup(func() { closeServer(t, s) })
	c := attach(t, s, o)
	t.Cleanup(func() { closeClient(t, c) })
	return c, s
}

func attach(t testing.TB, s *Server, o Options) *Client {
	t.Helper()
	ours, theirs := net.Pipe()
	go s.Serve(theirs)
	if o.Grace == 0 {
		o.Grace = 300 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := Connect(ctx, ours, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func closeServer(t testing.TB, s *Server) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Close(ctx, 200*time.Millisecond); err != nil {
		t.Error(err)
	}
}

func closeClient(t testing.TB, c *Client) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

func run(t testing.TB, c *Client, command string) runner.Result {
	t.Helper()
	res, err := c.Run(context.Background(), runner.Spec{Command: command})
	if err != nil {
		t.Fatalf("%.80q: %v", command, err)
	}
	return res
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
		panic("unreachable")
	}
}

func TestEnvironmentIsTheirsAndWhatWeAdd(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "leaked")
	c, _ := pair(t, Options{}, Place{Env: []string{"PATH=/usr/bin:/bin", "IMAGE=1", "OVER=image", "HOME=/"}})
	res, err := c.Run(context.Background(), runner.Spec{
		Command: `echo $IMAGE $OVER $ADDED $EXTRA $SECRET_OF_OURS; test -n "$HERMES_CALL"`,
		Env:     []string{"OVER=spec", "ADDED=a", "EXTRA=no"}, Extra: map[string]string{"EXTRA": "yes"},
	})
	if err != nil || string(res.Output) != "1 spec a yes\n" || res.ExitCode != 0 {
		t.Errorf("%q, exit code %d, %v", res.Output, res.ExitCode, err)
	}
}

// What is wrong with a command is not wrong with the place: nobody shall bring that up anew for it.
func TestWhatIsWrongWithACommandIsNoLoss(t *testing.T) {
	c, _ := pair(t, Options{}, Place{})
	loop := filepath.Join(t.TempDir(), "sh")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/nosuchinterpreter\n"), 0o700); err != nil { //nolint:gosec // it is to be a program
		t.Fatal(err)
	}
	var not *NotStarted
	for name, x := range map[string]struct {
		spec runner.Spec
		want string
	}{
		"no such program":        {runner.Spec{Argv: []string{"nosuchprogram"}}, "nosuchprogram was not started: no such program in PATH"},
		"no such program's path": {runner.Spec{Argv: []string{"/nosuchprogram"}}, "/nosuchprogram was not started"},
		"no such interpreter":    {runner.Spec{Argv: []string{text}}, "interpreter"},
		"no program":             {runner.Spec{Argv: []string{"/etc/passwd"}}, "permission denied"},
		"nothing":                {runner.Spec{}, "empty"},
		"missing directory":      {runner.Spec{Command: "true", Dir: "/nosuchdirectory", Strict: true}, "/nosuchdirectory does not exist"},
		"NUL":                    {runner.Spec{Command: "echo \x00"}, "NUL"},
		"too large":              {runner.Spec{Command: strings.Repeat("x", maxStart)}, "too large"},
		"too many arguments":     {runner.Spec{Argv: []string{"true", strings.Repeat("x", 200<<10)}}, "too large for this system"},
		"shell in a circle":      {runner.Spec{Command: "true", Shell: loop}, "too many levels of symbolic links"},
		"no such shell":          {runner.Spec{Command: "true", Shell: "nosuchshell"}, "no such program in PATH"},
	} {
		if _, err := c.Run(context.Background(), x.spec); err == nil || errors.As(err, &not) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: Run: %v", name, err)
		}
		var shown strings.Builder
		x.spec.Sink = func(_ runner.Stream, data []byte) { shown.Write(data) }
		_, err := c.Start(x.spec)
		if shown.Len() > 0 {
			t.Errorf("%s: Start showed what it also returned: %q", name, shown.String())
		}
		if err == nil || errors.As(err, &not) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: Start: %v", name, err)
		}
	}
	run(t, c, "true")
}

func TestWhatCannotBeReachedIsNotStarted(t *testing.T) {
	c, s := pair(t, Options{}, Place{})
	var not *NotStarted
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Run(ctx, runner.Spec{Command: "true"}); !errors.As(err, &not) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	closeServer(t, s)
	receive(t, "the loss", c.Gone())
	if _, err := c.Run(context.Background(), runner.Spec{Command: "true"}); !errors.As(err, &not) {
		t.Errorf("after the loss: %v", err)
	}
}

func TestWithoutShellOnlyArgumentVectorsRun(t *testing.T) {
	s := NewServer(Place{})
	defer closeServer(t, s)
	c := attach(t, s, Options{})
	defer closeClient(t, c)
	if _, err := c.Run(context.Background(), runner.Spec{Command: "true"}); err == nil || !strings.Contains(err.Error(), "neither bash nor sh") {
		t.Errorf("a command: %v", err)
	}
	if res, err := c.Run(context.Background(), runner.Spec{Argv: []string{"/bin/echo", "x"}}); err != nil || string(res.Output) != "x\n" {
		t.Errorf("an argument vector: %q, %v", res.Output, err)
	}
}

func TestLossInTheMiddleSaysThatNobodyKnows(t *testing.T) {
	ours, theirs := net.Pipe()
	s := NewServer(Place{Info: Info{Shell: "/bin/sh"}, Grace: 100 * time.Millisecond})
	defer closeServer(t, s)
	go s.Serve(theirs)
	c, err := Connect(context.Background(), ours, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, c)
	p, err := c.Start(runner.Spec{Command: "echo up; sleep 100"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Run(context.Background(), runner.Spec{Command: "echo partial; sleep 100", Sink: func(runner.Stream, []byte) { _ = theirs.Close() }})
	var lost *Lost
	if !errors.As(err, &lost) || !strings.HasPrefix(err.Error(), "connection lost; the command may still have run") {
		t.Errorf("Run: %v", err)
	}
	if string(res.Output) != "partial\n" {
		t.Errorf("output %q", res.Output)
	}
	receive(t, "the end of the process", p.Done())
	if code, ended := p.Exit(); code != 255 || !ended {
		t.Errorf("process: exit code %d, ended %v", code, ended)
	}
	if out, _, _ := p.Output(0, 0); !strings.Contains(string(out), "connection lost") {
		t.Errorf("process: output %q", out)
	}
	if receive(t, "the loss", c.Gone()) == nil {
		t.Error("no cause")
	}
	if _, open := <-c.Gone(); open {
		t.Error("Gone is not closed")
	}
	receive(t, "the server's idleness", s.Idle())
}

func TestCloseIsNoLoss(t *testing.T) {
	c, s := pair(t, Options{}, Place{})
	p, err := c.Start(runner.Spec{Command: "trap 'exit 3' TERM; while :; do sleep 0.01; done"})
	if err != nil {
		t.Fatal(err)
	}
	closeClient(t, c)
	if cause, open := <-c.Gone(); open {
		t.Errorf("Gone: %v", cause)
	}
	if code, ended := p.Exit(); !ended || (code != 3 && code != 143) {
		t.Errorf("exit code %d, ended %v", code, ended)
	}
	receive(t, "the server's idleness", s.Idle())
	if _, err := c.Run(context.Background(), runner.Spec{Command: "true"}); !errors.Is(err, ErrClosed) {
		t.Errorf("Run after Close: %v", err)
	}
}

func TestChannelIsASocketBothWays(t *testing.T) {
	c, _ := pair(t, Options{}, Place{})
	p, err := c.Start(runner.Spec{Argv: []string{"/bin/sh", "-c", "echo hello >&3; cat <&3 >&3"}, Channel: true})
	if err != nil {
		t.Fatal(err)
	}
	ch := p.Channel()
	defer ch.Close()
	hello := make([]byte, 6)
	if _, err := io.ReadFull(ch, hello); err != nil || string(hello) != "hello\n" {
		t.Fatalf("%q, %v", hello, err)
	}
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // four windows
	go func() { _, _ = ch.Write(data) }()
	back := make([]byte, len(data))
	if _, err := io.ReadFull(ch, back); err != nil || !bytes.Equal(back, data) {
		t.Fatalf("what came back is not what was sent: %v", err)
	}
	_ = ch.Close()
	receive(t, "cat's end of file", p.Done())
	if code, _ := p.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestChannelEndsWithItsCommand(t *testing.T) {
	c, _ := pair(t, Options{}, Place{})
	p, err := c.Start(runner.Spec{Argv: []string{"/bin/sh", "-c", "echo last words >&3"}, Channel: true})
	if err != nil {
		t.Fatal(err)
	}
	receive(t, "the end", p.Done())
	if said, err := io.ReadAll(p.Channel()); err != nil || string(said) != "last words\n" {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := p.Channel().Write([]byte("x")); err == nil {
		t.Error("writing to it afterwards: no error")
	}
}

func TestSignalReachesTheGroup(t *testing.T) {
	c, _ := pair(t, Options{}, Place{})
	p, err := c.Start(runner.Spec{Command: "trap 'exit 9' USR1; echo up; while :; do sleep 0.01; done"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is up", func() bool { out, _, _ := p.Output(0, 0); return string(out) == "up\n" })
	if err := p.Signal(10); err != nil {
		t.Fatal(err)
	}
	receive(t, "the end", p.Done())
	if code, _ := p.Exit(); code != 9 {
		t.Errorf("exit code %d", code)
	}
}

func TestDeadlineIsATimeout(t *testing.T) {
	c, _ := pair(t, Options{}, Place{})
	var res runner.Result
	var err error
	for limit := 200 * time.Millisecond; err == nil && len(res.Output) == 0 && limit < patience; limit *= 2 { // a busy machine starts it late
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		res, err = c.Run(ctx, runner.Spec{Command: "echo x; sleep 1000"})
		cancel()
	}
	if err != nil || !res.TimedOut || res.ExitCode != 124 || string(res.Output) != "x\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestWritingToWhoDoesNotReadEnds(t *testing.T) {
	testskip.Long(t, "waits for real time-outs")
	c, _ := pair(t, Options{}, Place{})
	p, err := c.Start(runner.Spec{Command: "sleep 100", Live: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(make([]byte, 1<<20), false); err == nil || !strings.Contains(err.Error(), "did not read") {
		t.Errorf("Write: %v", err)
	}
	run(t, c, "true") // others are not held
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.Kill(ctx); err != nil {
		t.Error(err)
	}
}

func TestSpillIsOnOurSide(t *testing.T) {
	c, _ := pair(t, Options{}, Place{})
	dir := t.TempDir()
	res, err := c.Run(context.Background(), runner.Spec{Command: "head -c 300000 /dev/zero", SpillDir: dir, MaxOutput: 1000})
	if err != nil || !res.Truncated || res.Cut != 400 || len(res.Output) != 1000 || res.Total != 300000 {
		t.Fatalf("%+v, %v", res, err)
	}
	if data, err := os.ReadFile(res.Spill); err != nil || len(data) != 300000 {
		t.Errorf("spill file: %d bytes, %v", len(data), err)
	}
}
