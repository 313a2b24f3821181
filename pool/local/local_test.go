package local

import (
	"context"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/conformance"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(withEngine{m}) }

// withEngine closes what tests with containers opened.
type withEngine struct{ m *testing.M }

func (w withEngine) Run() int { return dockertest.Main(w.m) }

const grace = 400 * time.Millisecond

// newPool returns a pool of this machine, closed when the test ends.
func newPool(t testing.TB, c pool.Config) *pool.Pool {
	t.Helper()
	kind := NewWith(runner.Options{Grace: grace})
	p, err := pool.New(c, map[string]pool.Kind{Name: kind}, event.NewBus())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := kind.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return p
}

// maker makes pools of this machine with the given shell.
func maker(shell string) conformance.Maker {
	return func(t testing.TB) conformance.Place {
		p := newPool(t, pool.Config{Backends: map[string]pool.Spec{"here": {Shell: shell}}})
		return conformance.Place{Pool: p, Backend: "here", Grace: grace, Fresh: t.TempDir, Sweeps: runtime.GOOS == "linux"}
	}
}

func TestConformance(t *testing.T) { conformance.Run(t, maker("")) }

func TestConformanceOfPlainShell(t *testing.T) { conformance.RunBehaviour(t, maker("/bin/sh")) }
