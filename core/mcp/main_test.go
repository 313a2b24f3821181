package mcp

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/backend"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/socketpair"
	"hermes/core/testwait"
	"hermes/core/tool"
)

// serverKind is the variable that makes this test binary a server.
const serverKind = "MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverKind); kind != "" {
		serve(kind)
		return
	}
	if os.Getenv(scenarioName) != "" {
		runConform()
		return
	}
	goleak.VerifyTestMain(m)
}

// processes is a pool of one back end that starts real programs on this machine.
type processes struct {
	backend.Pool
	mu    sync.Mutex
	next  int
	procs map[string]*process
}

type process struct {
	cmd  *exec.Cmd
	ch   *os.File
	done chan struct{}
}

func (p *processes) List(string) []backend.Status {
	return []backend.Status{{Name: "default", Kind: "local", Traits: event.Traits{Local: true}, Default: true}}
}

func (p *processes) Start(_ context.Context, r backend.Request) (backend.Process, error) {
	ours, theirs, err := socketpair.Make()
	if err != nil {
		return backend.Process{}, err
	}
	defer theirs.Close()
	cmd := exec.Command(r.Argv[0], r.Argv[1:]...)
	cmd.Dir, cmd.ExtraFiles = r.Dir, []*os.File{theirs}
	cmd.Env = os.Environ()
	for k, v := range r.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = sink{r.Sink}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return backend.Process{}, err
	}
	q := &process{cmd: cmd, ch: ours, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.procs == nil {
		p.procs = map[string]*process{}
	}
	p.next++
	id := "p" + strconv.Itoa(p.next)
	p.procs[id] = q
	go func() { _ = cmd.Wait(); close(q.done) }()
	return backend.Process{ID: id, Backend: "default", Running: true}, nil
}

type sink struct{ to func(event.Stream, []byte) }

func (s sink) Write(b []byte) (int, error) { s.to(event.Stderr, b); return len(b), nil }

func (p *processes) of(id string) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.procs[id]
}

func (p *processes) Channel(_, id string) (io.ReadWriteCloser, error) { return p.of(id).ch, nil }

func (p *processes) Wait(ctx context.Context, _, id string, d time.Duration) (backend.Process, error) {
	q := p.of(id)
	select {
	case <-q.done:
		return backend.Process{ID: id, ExitCode: q.cmd.ProcessState.ExitCode()}, nil
	case <-ctx.Done():
	case <-time.After(d):
	}
	return backend.Process{ID: id, Running: true}, nil
}

func (p *processes) Kill(_ context.Context, _, id string) (backend.Process, error) {
	q := p.of(id)
	_ = syscall.Kill(-q.cmd.Process.Pid, syscall.SIGKILL)
	<-q.done
	return backend.Process{ID: id}, nil
}

// living counts the programs that run.
func (p *processes) living() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, q := range p.procs {
		select {
		case <-q.done:
		default:
			n++
		}
	}
	return n
}

// place is a manager with real programs, a real registry, and what it told.
type place struct {
	*Manager
	t     testing.TB
	pool  *processes
	tools *tool.Registry
	home  string
	news  chan StateChanged
}

func newPlace(t testing.TB) *place {
	t.Helper()
	r, err := tool.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, pool: &processes{}, tools: r, home: t.TempDir(), news: make(chan StateChanged, 1000)}
	dir := t.TempDir()
	p.Manager = New(Options{
		Pool: p.pool, Replace: r.Replace, Home: p.home, Cwd: func() string { return dir }, Version: "test",
		Told:  p.told,
		Retry: [2]time.Duration{10 * time.Millisecond, 50 * time.Millisecond},
	})
	t.Cleanup(p.end)
	return p
}

// told keeps the newest of what happened, for those tests that look.
func (p *place) told(c StateChanged) {
	for {
		select {
		case p.news <- c:
			return
		default:
		}
		select {
		case <-p.news:
		default:
		}
	}
}

// end closes the manager; nothing may be left.
func (p *place) end() {
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		p.t.Error(err)
	}
	if n := p.pool.living(); n > 0 {
		p.t.Errorf("%d programs are left", n)
	}
}

// program is an entry that starts this test binary as a server.
func program(name, kind string, args ...string) Settings {
	s := Settings{Name: name}
	s.Command, s.Args = os.Args[0], args
	s.Env = map[string]string{serverKind: kind}
	return s
}

func entries(list ...Settings) map[string]Settings {
	out := map[string]Settings{}
	for _, s := range list {
		out[s.Name] = s
	}
	return out
}

// until waits for a change that is as wanted.
func (p *place) until(what string, wanted func(StateChanged) bool) StateChanged {
	p.t.Helper()
	late := time.After(testwait.Hang)
	for {
		select {
		case c := <-p.news:
			if wanted(c) {
				return c
			}
		case <-late:
			p.t.Fatalf("never: %s; now %+v", what, p.List())
		}
	}
}

// call runs a tool as the agent does, past the gate.
func (p *place) call(name, args string) (string, bool) {
	p.t.Helper()
	res := p.run(name, args)
	return res.Text, res.IsError
}

func (p *place) run(name, args string) chat.ToolResult {
	p.t.Helper()
	return p.tools.Run(p.t.Context(), name, tool.Call{ID: "c", Session: "s", Args: []byte(args)})
}

func mustReady(t *testing.T, p *place, name string) Status {
	t.Helper()
	p.Await(t.Context(), name)
	s, err := p.Status(name)
	if err != nil || s.State != StateReady {
		t.Fatalf("%+v, %v; log %q", s, err, fmt.Sprint(p.Log(name)))
	}
	return s
}
