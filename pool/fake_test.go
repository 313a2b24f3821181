package pool

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/pool/runner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeKind is a technology whose back ends do what a test says, and count what was asked of them.
type fakeKind struct {
	shared bool
	mu     sync.Mutex
	made   map[string]*fake // by owner/name
	setup  func(*fake)
}

func (k *fakeKind) Describe(s Spec) About { return describe(s, k.shared) }

// settings is what fakes have of their own.
type settings struct {
	Image, Engine, Network string
	Mounts                 []Mount
	Limited                bool
}

// own is a copy of them, to be changed.
func own(s *Spec) *settings {
	o := OptionsOf[settings](*s)
	s.Options = &o
	return &o
}

// describe is what the kinds of the program say.
func describe(s Spec, shared bool) About {
	own := OptionsOf[settings](s)
	a := About{Where: own.Image, At: own.Engine, Mounts: own.Mounts, Limited: own.Limited}
	a.Shared, a.Local = shared, s.Kind == "local"
	if a.Isolated = s.Kind == "docker"; a.Isolated {
		a.Network = cmp.Or(own.Network, "bridge")
	}
	return a
}

func (k *fakeKind) Open(owner string, s Spec) (Backend, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := &fake{id: owner + "/" + s.Name}
	if k.setup != nil {
		k.setup(f)
	}
	if k.made == nil {
		k.made = map[string]*fake{}
	}
	k.made[f.id] = f
	return f, nil
}

func (k *fakeKind) get(id string) *fake {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.made[id]
}

type fake struct {
	id             string
	gate           chan struct{} // Start and Run wait for it; nil: they do not
	err            error         // of Start
	hang           chan struct{} // Remove waits for it, whatever its context says
	absent         atomic.Int32  // how often Run finds that nothing is there
	gone           chan error
	starts, stops  atomic.Int32
	removals, runs atomic.Int32
	interrupted    atomic.Int32 // how many runs of "block" have ended
}

func (f *fake) Start(ctx context.Context, r Report) error {
	f.starts.Add(1)
	if f.err == nil {
		r.Step(event.BackendPulling, "image not here")
		r.Step(event.BackendCreating, "pulled")
		r.Step(event.BackendStarting, "created")
	}
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f.err
}

func (f *fake) Stop(context.Context) error { f.stops.Add(1); return nil }
func (f *fake) Remove(context.Context) error {
	if f.hang != nil {
		<-f.hang
	}
	f.removals.Add(1)
	return nil
}
func (f *fake) Idles() bool        { return true }
func (f *fake) Gone() <-chan error { return f.gone }

func (f *fake) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if f.absent.Add(-1) >= 0 {
		return runner.Result{}, &NotStarted{errors.New("no such container")}
	}
	f.runs.Add(1)
	if s.Command == "block" {
		<-ctx.Done()
		f.interrupted.Add(1)
		return runner.Result{Interrupted: true, ExitCode: runner.ExitInterrupt}, nil
	}
	if s.Command == "break" {
		return runner.Result{}, errors.New("the connection was lost; the command may still have run")
	}
	return runner.Result{Output: []byte(f.id + " in " + s.Dir + "\n"), Dir: "/dir/of/" + s.Command}, nil
}

func (f *fake) Spawn(runner.Spec) (Process, error) {
	return nil, errors.New("no background here")
}

// newFakePool returns a pool of fakes under the kind docker, and what it publishes.
func newFakePool(t *testing.T, c Config, k *fakeKind) (*Pool, *event.Mailbox) {
	t.Helper()
	bus := event.NewBus()
	box := bus.Subscribe(event.Limits{})
	p, err := New(c, map[string]Kind{"docker": k}, bus)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
		box.Close()
	})
	return p, box
}

func exec(t *testing.T, p *Pool, session, name, command string) (backend.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	return p.Exec(ctx, backend.Request{Session: session, Backend: name, Command: command})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testwait.Hang); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 5 s: %s", what)
		}
	}
}
