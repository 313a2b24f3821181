package pool

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/pool/runner"
)

// A Sink that panics is the caller's bug; the back end must not stay held for ever because of it.
func TestAPanicHoldsNothing(t *testing.T) {
	p, _ := newFakePool(t, dockers("a"), &fakeKind{})
	panics := func(run func(backend.Request)) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		// The warning of the unknown name is the first thing that the Sink is told.
		run(backend.Request{Session: "s", Backend: "nosuch", Command: "c", Sink: func(event.Stream, []byte) { panic("sink") }})
	}
	panics(func(r backend.Request) { _, _ = p.Exec(t.Context(), r) })
	panics(func(r backend.Request) { _, _ = p.Start(t.Context(), r) })
	for _, s := range p.List("s") {
		if s.Refs != 0 {
			t.Errorf("%s is held by %d", s.Name, s.Refs)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
	defer cancel()
	if err := p.CloseSession(ctx, "s"); err != nil {
		t.Error(err)
	}
}

// A start can be ended from its first moment on: who comes before its goroutine has run must not
// wait for all of it.
func TestAStartCanBeEndedAtOnce(t *testing.T) {
	for range 200 {
		f := &fake{id: "s/a", gate: make(chan struct{})} // never ready
		m := newMachine(t.Context(), key{"s", "a", "docker"}, Spec{Name: "a", Kind: "docker"}, f, event.NewBus())
		m.mu.Lock()
		m.beginStart()
		m.mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
		if err := m.stop(ctx, true, "stopped by hand"); err != nil {
			t.Fatal(err)
		}
		cancel()
		m.refuseUses(errClosed)
	}
}

// ended is a process that has printed nothing and is over once it is killed.
type ended struct {
	once sync.Once
	done chan struct{}
}

func (e *ended) Done() <-chan struct{} { return e.done }
func (e *ended) Exit() (int, bool) {
	select {
	case <-e.done:
		return 0, true
	default:
		return 0, false
	}
}
func (e *ended) Output(int64, int) (data []byte, start, end int64) { return nil, 0, 0 }
func (e *ended) Write([]byte, bool) error                          { return errors.New("it reads nothing") }
func (e *ended) Resize(runner.Size) error                          { return nil }
func (e *ended) Kill(context.Context) error                        { e.once.Do(func() { close(e.done) }); return nil }
func (e *ended) Warnings() []string                                { return nil }
func (e *ended) Channel() io.ReadWriteCloser                       { return nil }

// spawning is a kind whose back ends start processes in the background.
type spawning struct{ fakeKind }

type spawner struct{ *fake }

func (k *spawning) Open(owner string, s Spec) (Backend, error) {
	b, err := k.fakeKind.Open(owner, s)
	return spawner{b.(*fake)}, err
}

func (spawner) Spawn(runner.Spec) (Process, error) { return &ended{done: make(chan struct{})}, nil }

// A number in an old conversation must not mean another process later.
func TestNumbersOfProcessesAreNotUsedAgain(t *testing.T) {
	bus := event.NewBus()
	p, err := New(dockers("a"), map[string]Kind{"docker": &spawning{}}, bus)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var ids []string
	for range 3 {
		q, err := p.Start(t.Context(), backend.Request{Session: "s", Backend: "a", Command: "serve"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, q.ID)
		if err := p.CloseSession(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(ids, " "); got != "p1 p2 p3" {
		t.Errorf("the numbers of three lives of a session: %s", got)
	}
	if q, err := p.Start(t.Context(), backend.Request{Session: "other", Backend: "a", Command: "serve"}); err != nil || q.ID != "p1" {
		t.Errorf("another session: %q, %v", q.ID, err)
	}
}

// A directory belongs to a place: when a name means another machine it is nothing to start in.
func TestADirectoryDoesNotMoveWithTheName(t *testing.T) {
	c := dockers("a", "b")
	p, _ := newFakePool(t, c, &fakeKind{})
	for _, name := range []string{"a", "b"} {
		if _, err := exec(t, p, "s", name, "c"); err != nil {
			t.Fatal(err)
		}
	}
	moved := dockers("a", "b")
	spec := moved.Backends["a"]
	own(&spec).Engine = "tcp://elsewhere:2375"
	moved.Backends["a"] = spec
	if err := p.Configure(moved); err != nil {
		t.Fatal(err)
	}
	if dir := p.sessionDir("s", "a"); dir != "" {
		t.Errorf("a starts in %s", dir)
	}
	if dir := p.sessionDir("s", "b"); dir != "/dir/of/c" {
		t.Errorf("b starts in %q", dir)
	}
}
