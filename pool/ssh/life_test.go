package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/runner"
	"hermes/pool/ssh/guard"
	"hermes/pool/ssh/sshdtest"
)

// processes are those whose command line or environment holds a text: everything of one server has
// its home there.
func processes(t testing.TB, text string) (found []string) {
	t.Helper()
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if filepath.Base(dir) == strconv.Itoa(os.Getpid()) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if err == nil && (strings.Contains(string(line), text) || strings.Contains(string(env), "HOME="+text+"\x00")) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// After Stop and after Remove nothing of ours runs on the host; the files of the user and the copy
// of the runner stay.
func TestNothingIsLeftRunning(t *testing.T) {
	s := sshdtest.Start(t)
	for name, end := range map[string]func(*Backend, context.Context) error{"stop": (*Backend).Stop, "remove": (*Backend).Remove} {
		b := open(t, options(t, s), spec(s))
		start(t, b)
		if _, err := b.Run(t.Context(), runner.Spec{Command: "echo kept >file"}); err != nil {
			t.Fatal(err)
		}
		p, err := b.Spawn(runner.Spec{Command: "trap '' TERM; while :; do sleep 1; done"})
		if err != nil {
			t.Fatal(err)
		}
		if len(processes(t, s.Home)) == 0 {
			t.Error("nothing runs there")
		}
		if err := end(b, t.Context()); err != nil {
			t.Error(err)
		}
		if left := processes(t, s.Home); len(left) > 0 {
			t.Errorf("%s left %q", name, left)
		}
		if _, ended := p.Exit(); !ended {
			t.Errorf("%s: the process does not know its end", name)
		}
		if text := read1(t, filepath.Join(s.Home, "file")); text != "kept\n" {
			t.Errorf("%q", text)
		}
		var never *pool.NotStarted
		if _, err := b.Run(t.Context(), runner.Spec{Command: "true"}); !errors.As(err, &never) {
			t.Errorf("a command after %s: %v", name, err)
		}
	}
	if got := runners(t, filepath.Join(s.Home, ".cache", "hermes")); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// A connection that is lost in the middle of a call: the call says what is not known, the pool
// hears of it, what ran there ends, and the next call connects again.
func TestALostConnection(t *testing.T) {
	s := sshdtest.Start(t)
	p := newPool(t, options(t, s), specs(s))
	output(t, p, "true")
	up, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := p.Exec(t.Context(), backend.Request{Session: "s", Backend: "far", Command: "echo $$ >pid; echo up; exec sleep 1000", Sink: func(event.Stream, []byte) { close(up) }})
		failed <- err
	}()
	<-up
	s.Drop()
	select {
	case err := <-failed:
		if err == nil || !strings.Contains(err.Error(), "may still have run") {
			t.Errorf("%v", err)
		}
	case <-time.After(patience):
		t.Fatal("the call did not end")
	}
	pid := strings.TrimSpace(read1(t, filepath.Join(s.Home, "pid")))
	eventually(t, "the command ends with its lease", func() bool {
		_, err := os.Stat("/proc/" + pid)
		return err != nil
	})
	if res := output(t, p, "echo again"); string(res.Output) != "again\n" {
		t.Errorf("%q", res.Output)
	}
}

// A server that goes away: calls say so, and what failed comes back with the server.
func TestAServerThatGoesAndComes(t *testing.T) {
	s := sshdtest.Start(t)
	b := open(t, options(t, s), spec(s))
	start(t, b)
	gone := b.Gone()
	s.Close()
	select {
	case err := <-gone:
		if err == nil || !strings.Contains(err.Error(), "was lost") {
			t.Errorf("%v", err)
		}
	case <-time.After(patience):
		t.Fatal("the loss was not noticed")
	}
	var never *pool.NotStarted
	if _, err := b.Run(t.Context(), runner.Spec{Command: "true"}); !errors.As(err, &never) {
		t.Errorf("%v", err)
	}
	if _, err := b.Spawn(runner.Spec{Command: "true"}); !errors.As(err, &never) {
		t.Errorf("%v", err)
	}
	if err := refusal(t, b); !strings.Contains(err.Error(), "refused the connection") {
		t.Errorf("%v", err)
	}
	s.Restart()
	start(t, b)
	if res, err := b.Run(t.Context(), runner.Spec{Command: "echo back"}); err != nil || string(res.Output) != "back\n" {
		t.Errorf("%q, %v", res.Output, err)
	}
	select {
	case err := <-b.Gone():
		t.Errorf("lost again: %v", err)
	default:
	}
}

// A host that falls silent without closing anything, as behind a network that drops packets.
func TestAHostThatFallsSilent(t *testing.T) {
	testskip.Long(t, "a real server")
	s := sshdtest.Start(t)
	o := options(t, s)
	o.Heartbeat = 200 * time.Millisecond
	b := open(t, o, spec(s))
	start(t, b)
	s.Freeze(true)
	defer s.Freeze(false)
	select {
	case err := <-b.Gone():
		if err == nil {
			t.Error("no cause")
		}
	case <-time.After(patience):
		t.Fatal("the silence was not noticed")
	}
}

// The connection itself notices, too, when nothing else is said on it.
func TestKeepAlive(t *testing.T) {
	s := sshdtest.Start(t)
	settings, err := readSettings(s.Client, false)
	if err != nil {
		t.Fatal(err)
	}
	one, err := settings.resolveTarget(t.Context(), specOf(spec(s)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := dialTarget(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.keepAlive(20*time.Millisecond, testwait.Within(2*time.Second))
	}()
	select {
	case <-ended:
		t.Fatal("a host that answers was given up")
	case <-time.After(500 * time.Millisecond):
	}
	s.Freeze(true)
	defer s.Freeze(false)
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("a host that does not answer was not given up")
	}
	if err := c.Wait(); err == nil {
		t.Error("the connection is open")
	}
}

// The environment is that of a login, what env says, and nothing of ours.
func TestTheEnvironmentOfTheHost(t *testing.T) {
	t.Setenv("PLANTED_SECRET", "canary")
	t.Setenv("HERMES_HOME", "canary")
	s := sshdtest.Start(t, sshdtest.Env("FROM_THERE", "yes"))
	one := spec(s)
	one.Env = map[string]string{"ADDED": "a b", "HERMES_YOLO": "canary", "FROM_THERE": "no"}
	p := newPool(t, options(t, s), map[string]pool.Spec{"far": one})
	out := string(output(t, p, "env").Output)
	for _, want := range []string{"ADDED=a b\n", "FROM_THERE=no\n", "HOME=" + s.Home + "\n", "SSH_CLIENT="} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	for _, no := range []string{"canary", "SSH_AUTH_SOCK", "SSH_TTY"} {
		if strings.Contains(out, no) {
			t.Errorf("%q is in\n%s", no, out)
		}
	}
}

// Where sessions start: the configured directory, else the caller's wish when the host has it, else
// the login's home.
func TestWhereSessionsStart(t *testing.T) {
	s := sshdtest.Start(t)
	if err := os.Mkdir(filepath.Join(s.Home, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	for workdir, want := range map[string]string{"": s.Home, "~/work": s.Home + "/work", "~": s.Home, "/usr": "/usr", "work": s.Home + "/work"} {
		one := spec(s)
		one.Workdir = workdir
		p := newPool(t, options(t, s), map[string]pool.Spec{"far": one})
		res, err := p.Exec(t.Context(), backend.Request{Session: "s", Backend: "far", Command: "pwd", Home: "/etc"})
		if err != nil || string(res.Output) != want+"\n" || len(res.Warnings) > 0 {
			t.Errorf("workdir %q: %q, %q, %v", workdir, res.Output, res.Warnings, err)
		}
	}
	if err := os.Mkdir(filepath.Join(s.Home, "work", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, workdir := range []string{"~/work", "work", s.Home + "/work"} {
		one := spec(s)
		one.Workdir = workdir
		p := newPool(t, options(t, s), map[string]pool.Spec{"far": one})
		res, err := p.Exec(t.Context(), backend.Request{Session: "s", Backend: "far", Command: "pwd", Dir: "sub"})
		if err != nil || string(res.Output) != s.Home+"/work/sub\n" {
			t.Errorf("sub of workdir %q: %q, %v", workdir, res.Output, err)
		}
	}
	one := spec(s)
	one.Workdir = "/no/such/place"
	if err := refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), "workdir /no/such/place does not exist") {
		t.Errorf("%v", err)
	}
	if left := processes(t, s.Home); len(left) > 0 {
		eventually(t, "what failed to start is gone", func() bool { return len(processes(t, s.Home+"/work")) == 0 })
	}
}

// A refused command is never sent, and nobody else runs it.
func TestListsAreJudgedBeforeAnythingIsSent(t *testing.T) {
	s := sshdtest.Start(t)
	one := spec(s)
	own(one).AllowedCommands, own(one).DeniedCommands = []string{"touch *", "cat"}, []string{"touch secret*"}
	p := newPool(t, options(t, s), map[string]pool.Spec{"far": one})
	output(t, p, "touch fine && cat fine")
	for _, command := range []string{"rm fine", "touch fine2; rm fine", "touch secret", "cat $(rm fine)", "touch 'open"} {
		var refused *guard.Refused
		res, err := p.Exec(t.Context(), backend.Request{Session: "s", Backend: "far", Command: command})
		if !errors.As(err, &refused) {
			t.Errorf("%q: %+v, %v", command, res, err)
		}
		if _, err := p.Start(t.Context(), backend.Request{Session: "s", Backend: "far", Command: command}); !errors.As(err, &refused) {
			t.Errorf("%q: %v", command, err)
		}
	}
	if _, err := p.Exec(t.Context(), backend.Request{Session: "s", Backend: "far", Argv: []string{"rm", "fine"}}); err == nil {
		t.Error("an argument vector was let through")
	}
	if got := runners(t, s.Home); len(got) != 2 { // fine, .cache
		t.Errorf("%q", got)
	}
}

// What the host uses.
func TestSample(t *testing.T) {
	s := sshdtest.Start(t)
	b := open(t, options(t, s), spec(s))
	if _, err := b.Sample(t.Context()); err == nil {
		t.Error("a host that is not there was measured")
	}
	start(t, b)
	for range 2 {
		got, err := b.Sample(t.Context())
		if err != nil || got.MemoryBytes <= 0 || got.MemoryLimit < got.MemoryBytes || got.Pids <= 0 || got.CPUPercent < 0 || got.CPUPercent > 100_000 {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func FuzzCounters(f *testing.F) {
	f.Add("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1\nMemTotal: 10 kB\nMemAvailable: 4 kB\n0.1 0.2 0.3 1/234 5\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, s := parseCounters(text)
		if c.all < c.busy || s.MemoryBytes < 0 || s.Pids < 0 {
			t.Errorf("%+v %+v", c, s)
		}
	})
}

// TestClientProcess is not a test: it is the other program of the next one.
func TestClientProcess(t *testing.T) {
	home := os.Getenv("SSH_TEST_CLIENT")
	if home == "" {
		t.Skip("run by TestTheLeaseOfAKilledClient")
	}
	port, _ := strconv.Atoi(os.Getenv("SSH_TEST_PORT"))
	o := Options{Home: home, Grace: leaseTime, KillGrace: killGrace, Program: func(_, arch string) (Program, error) {
		sum, data := sshdtest.Program(t)
		return Program{SHA256: sum, Size: len(data), Data: func() []byte { return data }}, nil
	}}
	b, err := New(o).Open("", pool.Spec{Options: &Settings{Host: "127.0.0.1", Port: port}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(t.Context(), &steps{}); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"trap '' TERM; while :; do sleep 1; done", "setsid sleep 1000"} {
		if _, err := b.Spawn(runner.Spec{Command: command}); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = b.Run(t.Context(), runner.Spec{Command: "echo up; sleep 1000", Sink: func(runner.Stream, []byte) { fmt.Println("UP") }})
}

// After kill -9 of the program nothing that it started on the host runs for longer than the grace
// and 2 s.
func TestTheLeaseOfAKilledClient(t *testing.T) {
	s := sshdtest.Start(t)
	cmd := osexec.Command(os.Args[0], "-test.run=^TestClientProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "SSH_TEST_CLIENT="+s.Client, "SSH_TEST_PORT="+strconv.Itoa(s.Port))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	buf := make([]byte, 1000)
	for !strings.Contains(said.String(), "UP") {
		n, err := out.Read(buf)
		said.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v: %s", err, said.String())
		}
	}
	if n := len(processes(t, s.Home)); n < 4 {
		t.Errorf("%d processes on the host, want the runner and three commands", n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	eventually(t, "nothing runs on the host", func() bool { return len(processes(t, s.Home)) == 0 })
	if took := time.Since(killed); took > testwait.Within(leaseTime+2*time.Second) {
		t.Errorf("it took %v, the grace is %v", took, leaseTime)
	}
}
