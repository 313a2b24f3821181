package shell

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/backend"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a pool whose commands do what exec says and whose processes are made by hand.
type fake struct {
	backend.Pool // what is not used here panics
	exec         func(ctx context.Context, r backend.Request) (backend.Result, error)
	list         []backend.Status // nil: two of no kind

	mu    sync.Mutex
	got   backend.Request
	procs map[string]*proc
}

type proc struct {
	backend.Process
	out  string
	in   string
	eof  bool
	done chan struct{}
}

func (f *fake) Exec(ctx context.Context, r backend.Request) (backend.Result, error) {
	f.got = r
	return f.exec(ctx, r)
}

func (f *fake) List(string) []backend.Status {
	if f.list != nil {
		return f.list
	}
	return []backend.Status{{Name: "here", Traits: event.Traits{Local: true}, Default: true}, {Name: "analytics"}}
}

func (f *fake) Start(_ context.Context, r backend.Request) (backend.Process, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = r
	p := &proc{Process: backend.Process{ID: "p1", Session: r.Session, Backend: "here", Command: r.Command, Running: true, Started: time.Now()}, done: make(chan struct{})}
	f.procs = map[string]*proc{"p1": p}
	return p.Process, nil
}

func (f *fake) Processes(session string) []backend.Process {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []backend.Process
	for _, p := range f.procs {
		if p.Session == session {
			out = append(out, p.Process)
		}
	}
	return out
}

func (f *fake) Output(_, id string, offset int64, limit int) ([]byte, int64, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.procs[id]
	n := int64(len(p.out))
	if offset < 0 {
		offset = max(0, n+offset)
	}
	offset = min(offset, n)
	return []byte(p.out[offset:min(n, offset+int64(limit))]), offset, n, nil
}

func (f *fake) Write(_, id string, data []byte, eof bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.procs[id]
	if p.eof {
		return errors.New("its input is closed")
	}
	p.in += string(data)
	p.eof = eof
	return nil
}

func (f *fake) Wait(ctx context.Context, _, id string, d time.Duration) (backend.Process, error) {
	f.mu.Lock()
	p := f.procs[id]
	f.mu.Unlock()
	var late <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-p.done:
	case <-late:
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return p.Process, ctx.Err()
}

func (f *fake) end(id string, code int) backend.Process {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.procs[id]
	if p.Running {
		p.Running, p.ExitCode = false, code
		close(p.done)
	}
	return p.Process
}

func (f *fake) print(id, text string) {
	f.mu.Lock()
	f.procs[id].out += text
	f.procs[id].Total += int64(len(text))
	sink := f.got.Sink
	f.mu.Unlock()
	sink(event.Stdout, []byte(text))
}

func (f *fake) Kill(_ context.Context, _, id string) (backend.Process, error) {
	return f.end(id, 137), nil
}

func runner(t *testing.T, f *fake, notify func(session, process, text string)) func(name string, args map[string]any) chat.ToolResult {
	t.Helper()
	s := New(Options{Pool: f, SpillDir: "spill", Notify: notify})
	reg, err := tool.NewRegistry(Terminal(s), Process(s))
	if err != nil {
		t.Fatal(err)
	}
	return func(name string, args map[string]any) chat.ToolResult {
		t.Helper()
		c := tool.Call{ID: "c1", Session: "s", Cwd: "/work"}
		if args["script"] == true { // a program calls
			c.Data = func(any) {}
			delete(args, "script")
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		c.Args = raw
		return reg.Run(t.Context(), name, c)
	}
}

func want(t *testing.T, r chat.ToolResult, isError bool, parts ...string) {
	t.Helper()
	if r.IsError != isError {
		t.Errorf("IsError = %v: %s", r.IsError, r.Text)
	}
	for _, p := range parts {
		if !strings.Contains(r.Text, p) {
			t.Errorf("%q lacks %q", r.Text, p)
		}
	}
}
