package ssh

import (
	"context"
	"encoding/pem"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/conformance"
	"hermes/pool/ssh/sshdtest"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("SSH_AUTH_SOCK") // that of whoever runs the tests
	_ = os.Unsetenv("XDG_CACHE_HOME")
	goleak.VerifyTestMain(m)
}

const (
	killGrace = 400 * time.Millisecond
	leaseTime = time.Second
	patience  = testwait.Hang
)

// options are those of a kind that connects as the client of a server.
func options(t testing.TB, s *sshdtest.Server) Options {
	sum, data := sshdtest.Program(t)
	return Options{
		Home: s.Client, Grace: leaseTime, KillGrace: killGrace,
		Program: func(_, arch string) (Program, error) {
			if arch != sshdtest.Arch {
				return Program{}, fmt.Errorf("no runner for %s in tests", arch)
			}
			return Program{SHA256: sum, Size: len(data), Data: func() []byte { return data }}, nil
		},
	}
}

// spec is a back end that is a server.
func spec(s *sshdtest.Server) pool.Spec {
	return pool.Spec{Kind: Name, Name: "far", User: s.User, Options: &Settings{Host: s.Host, Port: s.Port, KeyFile: s.Key}}
}

// own is what a back end has as a host.
func own(s pool.Spec) *Settings { return s.Options.(*Settings) }

func specs(s *sshdtest.Server) map[string]pool.Spec { return map[string]pool.Spec{"far": spec(s)} }

func encode(b *pem.Block) []byte { return pem.EncodeToMemory(b) }

// newPool returns a pool with the back ends, closed when the test ends.
func newPool(t testing.TB, o Options, specs map[string]pool.Spec) *pool.Pool {
	t.Helper()
	p, err := pool.New(pool.Config{Default: "far", Backends: specs}, map[string]pool.Kind{Name: New(o)}, event.NewBus())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return p
}

// open returns the back end itself, not started, removed when the test ends.
func open(t testing.TB, o Options, s pool.Spec) *Backend {
	t.Helper()
	b, err := New(o).Open("", s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := b.Remove(ctx); err != nil {
			t.Error(err)
		}
	})
	return b.(*Backend)
}

// steps is a pool.Report that keeps what it is told.
type steps struct {
	causes []string
	copied int64
}

func (s *steps) Step(_ event.BackendState, cause string) { s.causes = append(s.causes, cause) }
func (s *steps) Progress(_ string, done, _ int64)        { s.copied = done }

// start starts a back end that must start.
func start(t testing.TB, b *Backend) *steps {
	t.Helper()
	var r steps
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.Start(ctx, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// refusal starts a back end that must not start, and returns why.
func refusal(t testing.TB, b *Backend) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := b.Start(ctx, &steps{})
	if err == nil {
		t.Fatal("it started")
	}
	return err
}

func output(t testing.TB, p *pool.Pool, command string) backend.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := p.Exec(ctx, backend.Request{Session: "s", Backend: "far", Command: command})
	if err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	return res
}

// maker makes pools of one server.
func maker(s *sshdtest.Server, shell string) conformance.Maker {
	return func(t testing.TB) conformance.Place {
		one := spec(s)
		one.Shell = shell
		p := newPool(t, options(t, s), map[string]pool.Spec{"far": one})
		return conformance.Place{Pool: p, Backend: "far", Grace: killGrace, Fresh: t.TempDir, Sweeps: true, Home: s.Home}
	}
}

func TestConformance(t *testing.T) {
	testskip.Long(t, "the whole table of behaviours")
	conformance.Run(t, maker(sshdtest.Start(t), ""))
}

func TestConformanceOfPlainShell(t *testing.T) {
	conformance.RunBehaviour(t, maker(sshdtest.Start(t), "/bin/sh"))
}
