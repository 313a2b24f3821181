package main

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/pool"
	"hermes/pool/conformance"
	"hermes/pool/runner"
	"hermes/pool/runner/wire"
)

const grace = 400 * time.Millisecond

// kind is the smallest kind of back end that a wire can be: one stream to one far side.
type kind struct {
	dial func() io.ReadWriteCloser
}

func (k *kind) Describe(pool.Spec) pool.About { return pool.About{} }

func (k *kind) Open(_ string, s pool.Spec) (pool.Backend, error) {
	return &machine{kind: k, spec: s}, nil
}

type machine struct {
	kind *kind
	spec pool.Spec

	mu     sync.Mutex
	client *wire.Client
}

func (m *machine) Start(ctx context.Context, _ pool.Report) error {
	c, err := wire.Connect(ctx, m.kind.dial(), wire.Options{Grace: grace})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.client = c
	return err
}

func (m *machine) Stop(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client == nil {
		return nil
	}
	return m.client.Close(ctx)
}

func (m *machine) Remove(ctx context.Context) error { return m.Stop(ctx) }
func (m *machine) Idles() bool                      { return true }
func (m *machine) Gone() <-chan error               { return m.client.Gone() }

func (m *machine) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Shell = m.spec.Shell
	return m.client.Run(ctx, s)
}

func (m *machine) Spawn(s runner.Spec) (pool.Process, error) {
	s.Shell = m.spec.Shell
	p, err := m.client.Start(s)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// maker makes pools of one back end that is a program of its own for each session.
func maker(command func(testing.TB) *exec.Cmd, shell string, fresh func(testing.TB) string) conformance.Maker {
	return dialer(func(t testing.TB) io.ReadWriteCloser { return spawn(t, command(t)) }, shell, fresh)
}

func dialer(dial func(testing.TB) io.ReadWriteCloser, shell string, fresh func(testing.TB) string) conformance.Maker {
	return func(t testing.TB) conformance.Place {
		program(t)
		k := &kind{dial: func() io.ReadWriteCloser { return dial(t) }}
		p, err := pool.New(pool.Config{Backends: map[string]pool.Spec{"far": {Kind: "wire", Shell: shell, Workdir: "/usr"}}}, map[string]pool.Kind{"wire": k}, event.NewBus())
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
		return conformance.Place{Pool: p, Backend: "far", Grace: grace, Fresh: func() string { return fresh(t) }, Sweeps: true, Sessions: 1}
	}
}

func served(t testing.TB) *exec.Cmd {
	cmd := exec.Command(program(t), "serve")
	cmd.Dir = os.TempDir()
	return cmd
}

func TestConformance(t *testing.T) {
	testskip.Long(t, "the whole table of behaviours")
	conformance.Run(t, maker(served, "", func(t testing.TB) string { return t.TempDir() }))
}

func TestConformanceOfPlainShell(t *testing.T) {
	conformance.RunBehaviour(t, maker(served, "/bin/sh", func(t testing.TB) string { return t.TempDir() }))
}

// Both sides in this process: the race detector sees the far one too.
func TestConformanceInOneProcess(t *testing.T) {
	dial := func(t testing.TB) io.ReadWriteCloser {
		s := wire.NewServer(wire.Place{Info: currentPlace(), Grace: time.Second})
		ours, theirs := net.Pipe()
		go s.Serve(theirs)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := s.Close(ctx, grace); err != nil {
				t.Error(err)
			}
		})
		return ours
	}
	conformance.RunBehaviour(t, dialer(dial, "", func(t testing.TB) string { return t.TempDir() }))
}
