package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/pool/runner"
)

// world is an engine in memory that fails and dawdles at random, sees everything that is asked of
// it, and knows the ten invariants.
type world struct {
	t      *testing.T
	pool   *Pool
	max    int
	faults atomic.Bool

	mu      sync.Mutex
	ids     int
	all     map[int]*container
	begun   map[string]string // command: back end that it began in
	checks  map[string]int    // by invariant, so that one that is never looked at is noticed
	broken  map[string]int
	foreign *container
}

// container is one of the engine's.
type container struct {
	id       int
	key      string // session/name
	session  string
	name     string
	running  bool
	leaky    bool // up although the pool was told of a failure
	commands int
	dead     chan struct{} // closed when it stops running
	gone     chan error
}

func newWorld(t *testing.T, most int) *world {
	w := &world{t: t, max: most, all: map[int]*container{}, begun: map[string]string{}, checks: map[string]int{}, broken: map[string]int{}}
	w.foreign = &container{id: -1, key: "s0/taken", running: true} // somebody else's, under a name that we would use
	w.faults.Store(true)
	return w
}

// must counts a look at an invariant, and what it found. The lock is held.
func (w *world) must(invariant string, ok bool, format string, args ...any) {
	w.checks[invariant]++
	if ok {
		return
	}
	if w.broken[invariant]++; w.broken[invariant] <= 3 {
		w.t.Errorf("%s is broken: %s", invariant, fmt.Sprintf(format, args...))
	}
}

func (w *world) check(invariant string, ok bool, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.must(invariant, ok, format, args...)
}

// fault is true once in n times.
func (w *world) fault(n int) bool { return w.faults.Load() && rand.IntN(n) == 0 }

// call is the beginning of every call of the engine: it takes its time, and whoever holds a lock of
// the pool meanwhile is caught.
func (w *world) call(session string) {
	if rand.IntN(8) == 0 {
		free := make(chan struct{})
		go func() {
			w.pool.List(session)
			w.pool.Processes(session)
			close(free)
		}()
		select {
		case <-free:
			w.check("I8", true, "")
		case <-time.After(testwait.Hang):
			w.check("I8", false, "the pool cannot be asked during a call of the engine")
		}
	}
	if rand.IntN(4) == 0 {
		time.Sleep(time.Duration(rand.IntN(150)) * time.Microsecond)
	}
}

// of finds the container of a key. The lock is held.
func (w *world) of(key string) *container {
	for _, c := range w.all {
		if c.key == key {
			return c
		}
	}
	return nil
}

// crowd is how many of a session's own back ends are up, but those that the pool was told have
// failed. The lock is held.
func (w *world) crowd(session string) (n int) {
	for _, c := range w.all {
		if c.session == session && c.running && !c.leaky && c.name != DefaultName {
			n++
		}
	}
	return n
}

// halt ends a container and what runs in it. The lock is held.
func (c *container) halt() {
	if c.running {
		c.running = false
		close(c.dead)
	}
}

// accident takes a container away behind the pool's back, or only stops it, and tells the watcher.
func (w *world) accident() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, c := range w.all { // in random order
		if !c.running {
			continue
		}
		c.halt()
		if rand.IntN(2) == 0 {
			delete(w.all, id)
		}
		select {
		case c.gone <- errors.New("removed behind our back"):
		default:
		}
		return
	}
}

// worldKind hands the world to the pool.
type worldKind struct {
	w      *world
	shared bool
}

func (k worldKind) Describe(s Spec) About { return describe(s, k.shared) }

func (k worldKind) Open(owner string, s Spec) (Backend, error) {
	return &driver{w: k.w, session: owner, spec: s, key: owner + "/" + s.Name, idles: !k.shared}, nil
}

// driver is one back end of the world.
type driver struct {
	w       *world
	session string
	spec    Spec
	key     string
	idles   bool
	at      atomic.Pointer[container]
}

func (d *driver) Start(ctx context.Context, r Report) error {
	w := d.w
	w.call(d.session)
	if d.key == w.foreign.key {
		return errors.New("the name belongs to a container that is not ours")
	}
	if w.fault(12) {
		r.Step(event.BackendPulling, "not here")
		r.Progress("1 of 2 layers", 1, 2)
		return errors.New("the pull failed")
	}
	w.mu.Lock()
	c := w.of(d.key)
	w.mu.Unlock()
	if c == nil {
		r.Step(event.BackendCreating, "first use")
		w.call(d.session)
		c = d.create()
	}
	r.Step(event.BackendStarting, "created")
	w.call(d.session)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !c.running {
		c.running, c.dead = true, make(chan struct{})
	}
	c.gone = make(chan error, 1)
	if c.leaky = w.fault(20); c.leaky {
		return errors.New("it does not answer")
	}
	w.all[c.id] = c // an accident may have taken it meanwhile: then it is made anew, and not twice
	w.must("cap", w.crowd(d.session) <= w.max, "%s has %d up", d.session, w.crowd(d.session))
	d.at.Store(c)
	return nil
}

func (d *driver) create() *container {
	w := d.w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.must("I1", w.of(d.key) == nil, "a second container of %s", d.key)
	w.ids++
	c := &container{id: w.ids, key: d.key, session: d.session, name: d.spec.Name}
	w.all[c.id] = c
	return c
}

func (d *driver) Stop(context.Context) error {
	w := d.w
	w.call(d.session)
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.of(d.key)
	if c == nil {
		return nil
	}
	w.must("I2", c.commands == 0, "%s is stopped under %d commands", d.key, c.commands)
	if w.fault(20) {
		c.leaky = true
		return errors.New("the engine did not answer")
	}
	c.halt()
	return nil
}

func (d *driver) Remove(ctx context.Context) error {
	w := d.w
	w.call(d.session)
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.of(d.key); c != nil {
		if w.fault(20) {
			c.leaky = true
			return errors.New("the engine did not answer")
		}
		w.must("I2", c.commands == 0, "%s is removed under %d commands", d.key, c.commands)
		c.halt()
		delete(w.all, c.id)
	}
	return ctx.Err()
}

func (d *driver) Idles() bool { return d.idles }

func (d *driver) Gone() <-chan error {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	if c := d.at.Load(); c != nil {
		return c.gone
	}
	return nil
}

// Pull fails now and then; that is all one hears of it.
func (d *driver) Pull(_ context.Context, r Report) error {
	d.w.call(d.session)
	r.Step(event.BackendPulling, "by hand")
	r.Progress("1 of 1 layers", 1, 1)
	if d.w.fault(4) {
		return errors.New("the registry is away")
	}
	return nil
}

// begin starts a command, at most once, in a container that is up.
func (d *driver) begin(command string) (*container, error) {
	w := d.w
	w.call(d.session)
	w.mu.Lock()
	defer w.mu.Unlock()
	c := d.at.Load()
	if d.idles && (c == nil || !c.running || w.all[c.id] != c) || w.fault(40) {
		if c != nil {
			c.leaky = true // a fault: it may be up, and the pool cannot know
		}
		return nil, &NotStarted{errors.New("it is not there")}
	}
	where, twice := w.begun[command]
	w.must("I5", !twice, "%s began in %s and again in %s", command, where, d.key)
	w.begun[command] = d.spec.Name
	if c != nil {
		c.commands++
	}
	return c, nil
}

func (d *driver) ended(c *container) {
	if c != nil {
		d.w.mu.Lock()
		c.commands--
		d.w.mu.Unlock()
	}
}

func (d *driver) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	c, err := d.begin(s.Command)
	if err != nil {
		return runner.Result{}, err
	}
	defer d.ended(c)
	if d.w.fault(30) {
		return runner.Result{}, errors.New("the connection was lost; the command may still have run")
	}
	s.Sink(runner.Stdout, []byte(s.Command))
	res := runner.Result{Output: []byte(s.Command), Dir: "/d"}
	select {
	case <-time.After(time.Duration(rand.IntN(200)) * time.Microsecond):
	case <-ctx.Done():
		res.Interrupted, res.ExitCode = true, runner.ExitInterrupt
	case <-d.w.dead(c):
		return runner.Result{}, errors.New("the container is gone; the command may still have run")
	}
	return res, nil
}

func (w *world) dead(c *container) <-chan struct{} {
	if c == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return c.dead
}

func (d *driver) Spawn(s runner.Spec) (Process, error) {
	c, err := d.begin(s.Command)
	if err != nil {
		return nil, err
	}
	q := &worldProcess{done: make(chan struct{}), kill: make(chan struct{}), text: []byte(s.Command)}
	go func() {
		select {
		case <-time.After(time.Duration(rand.IntN(2000)) * time.Microsecond):
		case <-q.kill:
		case <-d.w.dead(c):
		}
		d.ended(c)
		close(q.done)
	}()
	return q, nil
}

type worldProcess struct {
	done, kill chan struct{}
	once       sync.Once
	text       []byte
}

func (q *worldProcess) Done() <-chan struct{} { return q.done }

func (q *worldProcess) Exit() (int, bool) {
	select {
	case <-q.done:
		return 0, true
	default:
		return 0, false
	}
}

func (q *worldProcess) Output(int64, int) ([]byte, int64, int64) {
	return q.text, 0, int64(len(q.text))
}
func (q *worldProcess) Write([]byte, bool) error    { return nil }
func (q *worldProcess) Resize(runner.Size) error    { return nil }
func (q *worldProcess) Warnings() []string          { return nil }
func (q *worldProcess) Channel() io.ReadWriteCloser { return nil }

func (q *worldProcess) Kill(ctx context.Context) error {
	q.once.Do(func() { close(q.kill) })
	select {
	case <-q.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
