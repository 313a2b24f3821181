package docker

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
)

// ice is the real engine behind a way that can freeze: what is sent arrives when it thaws, and not
// before.
type ice struct {
	address string
	mu      sync.Mutex
	thawed  chan struct{} // closed while it is not frozen
	conns   []net.Conn
}

func newIce(t *testing.T) *ice {
	t.Helper()
	dockertest.Engine(t)
	at, err := findEndpoint("")
	if err != nil {
		t.Fatal(err)
	}
	target, err := client.ParseHostURL(at.host)
	if err != nil || target.Scheme != "unix" {
		dockertest.Missing(t, "the engine has no socket on this machine: %s", at.host)
	}
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	i := &ice{address: "unix://" + l.Addr().String(), thawed: make(chan struct{})}
	close(i.thawed)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			ours, err := l.Accept()
			if err != nil {
				return
			}
			theirs, err := net.Dial("unix", target.Host)
			if err != nil {
				_ = ours.Close()
				continue
			}
			i.mu.Lock()
			i.conns = append(i.conns, ours, theirs)
			i.mu.Unlock()
			all.Go(func() { i.carry(theirs, ours) })
			all.Go(func() { i.carry(ours, theirs) })
		}
	})
	t.Cleanup(func() {
		i.set(false)
		_ = l.Close()
		i.mu.Lock()
		for _, c := range i.conns {
			_ = c.Close()
		}
		i.mu.Unlock()
		all.Wait()
	})
	return i
}

func (i *ice) carry(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		i.mu.Lock()
		thawed := i.thawed
		i.mu.Unlock()
		<-thawed
		if _, failed := to.Write(buf[:n]); failed != nil || err != nil {
			if half, ok := to.(interface{ CloseWrite() error }); ok && err == io.EOF { //nolint:errorlint // what Read returns
				_ = half.CloseWrite()
				return
			}
			_ = to.Close()
			return
		}
	}
}

func (i *ice) set(frozen bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.thawed:
		if frozen {
			i.thawed = make(chan struct{})
		}
	default:
		if !frozen {
			close(i.thawed)
		}
	}
}

// at is a Report that does something at a step.
type at struct {
	steps
	step event.BackendState
	once sync.Once
	do   func()
}

func (a *at) Step(to event.BackendState, cause string) {
	a.steps.Step(to, cause)
	if to == a.step {
		a.once.Do(a.do)
	}
}

// An engine that stops answering in the middle of something holds nobody longer than they want, and
// when it answers again all is well.
func TestAnEngineThatFreezes(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	i := newIce(t)
	r := newRig(t)
	b := r.open("s", pool.Spec{Options: &Settings{Engine: i.address}})
	var frozen atomic.Int32
	for _, step := range []event.BackendState{event.BackendCreating, event.BackendStarting} {
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		err := b.Start(ctx, &at{step: step, do: func() {
			i.set(true)
			frozen.Add(1)
			time.AfterFunc(300*time.Millisecond, cancel)
		}})
		if took := time.Since(begun); err == nil || took > testwait.Within(20*time.Second) {
			t.Errorf("frozen while %s: %v after %v", step, err, took)
		}
		cancel()
		i.set(false)
	}
	if frozen.Load() != 2 {
		t.Fatalf("it froze %d times", frozen.Load())
	}
	// What was sent while it was frozen arrives now: the attach that was given up takes the first
	// runner's input with it.
	eventually(t, "it works again", func() bool {
		if err := b.Start(t.Context(), &steps{}); err != nil {
			return false
		}
		res, err := b.Run(t.Context(), runner.Spec{Command: "sleep 1; echo again"})
		return err == nil && string(res.Output) == "again\n"
	})
	i.set(true)
	for name, f := range map[string]func(context.Context) error{
		"a command": func(ctx context.Context) error {
			_, err := b.Run(ctx, runner.Spec{Command: "sleep 60"})
			return err
		},
		"a measurement": func(ctx context.Context) error {
			_, err := b.Sample(ctx)
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		begun := time.Now()
		if err := f(ctx); err == nil || time.Since(begun) > testwait.Within(20*time.Second) {
			t.Errorf("%s: %v after %v", name, err, time.Since(begun))
		}
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := b.Stop(ctx); err == nil || time.Since(begun) > testwait.Within(20*time.Second) {
		t.Errorf("stop: %v after %v", err, time.Since(begun))
	}
	i.set(false)
	if err := b.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}
