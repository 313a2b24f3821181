package docker

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"go.uber.org/goleak"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/conformance"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
	"hermes/pool/runner/wire"
)

func TestMain(m *testing.M) {
	if helperMain() {
		return
	}
	code := dockertest.Main(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

const testGrace = 400 * time.Millisecond

// rig is a kind with a data folder of its own. What is left of it at the end of the test is
// removed, and is a failure.
type rig struct {
	t    testing.TB
	kind *Kind
	home string
	bus  *event.Bus

	mu   sync.Mutex
	logs []string
}

func newRig(t testing.TB, change ...func(*Options)) *rig {
	t.Helper()
	dockertest.Engine(t)
	home := t.TempDir()
	sweepAfter(t, home)
	return newRigIn(t, home, change...)
}

// sweepAfter removes, when the test ends, what is left of a data folder.
func sweepAfter(t testing.TB, home string) {
	t.Cleanup(func() { sweepTest(t, openFolder(home).owner) })
}

// newRigIn is a second process of the same data folder, but for being in the same process.
func newRigIn(t testing.TB, home string, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, home: home, bus: event.NewBus()}
	o := Options{Home: home, Grace: 2 * time.Second, Program: testProgram, Wire: wire.Options{Grace: testGrace}, Log: func(f string, args ...any) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.logs = append(r.logs, f)
	}}
	for _, f := range change {
		f(&o)
	}
	r.kind = New(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
		defer cancel()
		if err := r.kind.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

func testProgram(system, arch string) (Program, error) {
	sum, data, err := dockertest.Program(system, arch)
	return Program{SHA256: sum, Data: func() []byte { return data }}, err
}

// sweepTest removes what is left of a data folder.
func sweepTest(t testing.TB, owner string) {
	cli := dockertest.Engine(t)
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	label := labelOwner + "=" + owner
	list, err := cli.ContainerList(ctx, capi.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		t.Error(err)
	}
	for _, c := range list {
		if err := cli.ContainerRemove(ctx, c.ID, capi.RemoveOptions{Force: true, RemoveVolumes: true}); ignoreGone(err) != nil {
			t.Error(err)
		}
	}
	dockertest.RemoveVolumes(t, label)
}

// pool returns a pool of this kind, closed when the test ends.
func (r *rig) pool(backends map[string]pool.Spec) *pool.Pool {
	r.t.Helper()
	for name, s := range backends {
		if own(&s).Image == "" && s.Kind == "" {
			own(&s).Image = dockertest.Busybox(r.t)
			backends[name] = s
		}
	}
	p, err := pool.New(pool.Config{Kind: Name, Fallback: pool.FallbackError, Backends: backends}, map[string]pool.Kind{Name: r.kind}, r.bus)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			r.t.Error(err)
		}
	})
	return p
}

// open is one back end of this kind, without a pool.
func (r *rig) open(session string, s pool.Spec) *Backend {
	r.t.Helper()
	if s.Name == "" {
		s.Name = "default"
	}
	if own(&s).Image == "" {
		own(&s).Image = dockertest.Busybox(r.t)
	}
	b, err := r.kind.Open(session, s)
	if err != nil {
		r.t.Fatal(err)
	}
	box := b.(*Backend)
	r.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
		defer cancel()
		if err := box.Remove(ctx); err != nil {
			r.t.Error(err)
		}
	})
	return box
}

// steps is a pool.Report that keeps everything.
type steps struct {
	mu       sync.Mutex
	states   []event.BackendState
	causes   []string
	progress []reported
	notify   chan struct{} // gets one for each progress, when there is room
}

type reported struct {
	label       string
	done, total int64
}

func (s *steps) Step(to event.BackendState, cause string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states, s.causes = append(s.states, to), append(s.causes, cause)
}

func (s *steps) Progress(label string, done, total int64) {
	s.mu.Lock()
	s.progress = append(s.progress, reported{label, done, total})
	s.mu.Unlock()
	select {
	case s.notify <- struct{}{}:
	default:
	}
}

func (s *steps) all() []reported {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.progress)
}

func (s *steps) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.causes, "\n")
}

// up starts a back end, or fails the test.
func up(t testing.TB, b *Backend) *steps {
	t.Helper()
	s := &steps{}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := b.Start(ctx, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t testing.TB, b *Backend, command string) runner.Result {
	t.Helper()
	res, err := b.Run(t.Context(), runner.Spec{Command: command})
	if err != nil {
		t.Fatalf("%.80q: %v", command, err)
	}
	return res
}

func output(t testing.TB, b *Backend, command string) string {
	t.Helper()
	return string(run(t, b, command).Output)
}

// own is what a back end has as a container: a copy of its own, to be changed.
func own(s *pool.Spec) *Settings {
	o := pool.OptionsOf[Settings](*s)
	s.Options = &o
	return &o
}

// maker makes pools with one container each, of this specification. They share a data folder, so
// that the runner is installed once.
func maker(t *testing.T, s pool.Spec) conformance.Maker {
	home := t.TempDir()
	dockertest.Engine(t)
	sweepAfter(t, home)
	var serial atomic.Int32
	return func(t testing.TB) conformance.Place {
		r := newRigIn(t, home)
		s := s
		if own(&s).Image == "" {
			own(&s).Image = dockertest.Busybox(t)
		}
		name := fmt.Sprintf("box%d", serial.Add(1))
		p := r.pool(map[string]pool.Spec{name: s})
		fresh := func() string {
			t.Helper()
			res, err := p.Exec(context.Background(), backend.Request{Session: "s1", Backend: name, Command: "mktemp -d"})
			if err != nil || res.ExitCode != 0 {
				t.Fatalf("a fresh folder: %v %s", err, res.Output)
			}
			return strings.TrimSpace(string(res.Output))
		}
		return conformance.Place{Pool: p, Backend: name, Grace: testGrace, Fresh: fresh, Sweeps: true, Sessions: 2, Home: defaultWorkdir}
	}
}

func TestConformance(t *testing.T) {
	testskip.Long(t, "the whole table of behaviours")
	conformance.Run(t, maker(t, pool.Spec{}))
}

func TestConformanceOfAReadOnlyRootAndAnotherUser(t *testing.T) {
	testskip.Long(t, "the whole table in two more containers")
	conformance.RunBehaviour(t, maker(t, pool.Spec{User: "worker", Options: &Settings{ReadOnly: true}}))
}
