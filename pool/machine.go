package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"hermes/core/crash"
	"hermes/core/event"
)

// moves is the whole state machine: which state may follow which.
var moves = map[event.BackendState][]event.BackendState{
	event.BackendAbsent:   {event.BackendPulling, event.BackendCreating, event.BackendStarting, event.BackendReady, event.BackendFailed},
	event.BackendPulling:  {event.BackendCreating, event.BackendFailed},
	event.BackendCreating: {event.BackendPulling, event.BackendStarting, event.BackendReady, event.BackendFailed},
	event.BackendStarting: {event.BackendReady, event.BackendFailed, event.BackendLost},
	event.BackendReady:    {event.BackendStopping, event.BackendRemoving, event.BackendLost},
	event.BackendStopping: {event.BackendStopped, event.BackendLost, event.BackendFailed},
	event.BackendStopped:  {event.BackendStarting, event.BackendReady, event.BackendRemoving, event.BackendLost, event.BackendFailed},
	event.BackendRemoving: {event.BackendAbsent, event.BackendFailed},
	event.BackendFailed:   {event.BackendPulling, event.BackendCreating, event.BackendStarting, event.BackendReady, event.BackendRemoving, event.BackendFailed},
	event.BackendLost:     {event.BackendPulling, event.BackendCreating, event.BackendStarting, event.BackendReady, event.BackendRemoving, event.BackendFailed},
}

// machine is one back end's life: the only place that changes its state. No lock is held while the back end works.
type machine struct {
	spec    Spec
	owner   string // session, "" when shared
	backend Backend
	bus     *event.Bus
	ctx     context.Context               // of starts and stops: the pool's, not a caller's
	pause   func(tries int) time.Duration // backoff, but in tests

	mu     sync.Mutex
	state  event.BackendState
	cause  string
	since  time.Time
	tries  int           // failed starts in a row
	retry  time.Time     // no start before this
	err    error         // why it failed
	work   chan struct{} // closed when the start, stop or removal that runs now is over; nil when none does
	uses   []use         // calls and background processes now, oldest first
	idle   time.Time     // since when there are none
	timer  *time.Timer
	serial int  // of the newest use
	gone   bool // removed for good
}

// use is one call or background process.
type use struct {
	id               int
	session, command string
}

func newMachine(ctx context.Context, owner string, s Spec, b Backend, bus *event.Bus) *machine {
	return &machine{spec: s, owner: owner, backend: b, bus: bus, ctx: ctx, state: event.BackendAbsent, since: time.Now(), pause: backoff}
}

// failed marks a back end that can never start.
func (m *machine) failed(err error) *machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
	m.retry = time.Now().Add(1000 * time.Hour)
	m.move(event.BackendFailed, err.Error())
	return m
}

// acquire makes the back end ready, if need be together with others who want it, and holds it until release is called. Ctx bounds this
// caller's patience only: the start goes on for the others.
func (m *machine) acquire(ctx context.Context, session, command string) (release func(), err error) {
	for {
		m.mu.Lock()
		if m.state == event.BackendReady && m.work == nil && !m.gone {
			release = m.hold(session, command)
			m.mu.Unlock()
			return release, nil
		}
		if err := m.refusal(); err != nil {
			m.mu.Unlock()
			return nil, err
		}
		if m.work == nil {
			from := m.state
			m.begin("pool start", func() { m.start(from) })
		}
		work := m.work
		m.mu.Unlock()
		select {
		case <-work:
		case <-ctx.Done():
			return nil, fmt.Errorf("backend '%s' is not ready yet; the command was not started: %w", m.spec.Name, ctx.Err())
		}
	}
}

// refusal is why no start is tried now.
func (m *machine) refusal() error {
	if m.ctx.Err() != nil || m.gone {
		return errClosed
	}
	if m.state == event.BackendFailed && m.work == nil && time.Now().Before(m.retry) {
		return fmt.Errorf("backend '%s' is not available: %w", m.spec.Name, m.err)
	}
	return nil
}

// begin runs one piece of work at a time. The lock is held.
func (m *machine) begin(name string, f func()) {
	work := make(chan struct{})
	m.work = work
	crash.Go(name, func() {
		f()
		m.mu.Lock()
		m.work = nil
		m.mu.Unlock()
		close(work)
	})
}

func (m *machine) start(from event.BackendState) {
	err := m.backend.Start(m.ctx, report{m})
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.tries, m.err = 0, nil
		m.move(event.BackendReady, reason(from))
		m.rest()
		return
	}
	m.err = err
	m.tries++
	m.retry = time.Now().Add(m.pause(m.tries))
	m.move(event.BackendFailed, err.Error())
}

// report publishes what a back end says on its way to ready.
type report struct{ m *machine }

// Step implements Report.
func (r report) Step(to event.BackendState, cause string) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	r.m.move(to, cause)
}

// Progress implements Report. The pane knows a pull by its id.
func (r report) Progress(label string, done, total int64) {
	p := event.Progress{ID: "pull:" + r.m.spec.Name, Label: label, Done: done, Total: total, Unit: "bytes"}
	r.m.bus.Publish(event.Header{Session: r.m.owner}, p)
}

// reason says why a back end was started.
func reason(from event.BackendState) string {
	switch from {
	case event.BackendAbsent:
		return "first use"
	case event.BackendStopped:
		return "used again"
	default:
		return "tried again"
	}
}

// backoff is how long a failure is believed before the next try: 1 s, 2 s, ... 60 s, so that a broken image does not cost a pull a call.
func backoff(tries int) time.Duration {
	return min(time.Second<<min(tries-1, 6), time.Minute)
}

// hold adds a use. The lock is held.
func (m *machine) hold(session, command string) (release func()) {
	m.serial++
	id := m.serial
	m.uses = append(m.uses, use{id, session, command})
	m.idle = time.Time{}
	if m.timer != nil {
		m.timer.Stop()
	}
	m.load()
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.uses = slices.DeleteFunc(m.uses, func(u use) bool { return u.id == id })
		m.rest()
		m.load()
	})
}

// rest starts the idle clock when nobody uses the back end. The lock is held.
func (m *machine) rest() {
	if len(m.uses) > 0 || m.state != event.BackendReady {
		return
	}
	m.idle = time.Now()
	if m.ttl() <= 0 || m.gone {
		return
	}
	if m.timer != nil {
		m.timer.Stop()
	}
	m.timer = time.AfterFunc(m.ttl(), m.expire)
}

// ttl is how long it may idle; 0 means for ever.
func (m *machine) ttl() time.Duration {
	if m.backend == nil || !m.backend.Idles() {
		return 0
	}
	return max(0, m.spec.IdleTTL)
}

// expire stops it if it has been idle for long enough: a use that came and went meanwhile has set another clock.
func (m *machine) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	idle := m.state == event.BackendReady && m.work == nil && !m.gone && len(m.uses) == 0 && !m.idle.IsZero()
	if !idle || time.Since(m.idle) < m.ttl() {
		return
	}
	m.move(event.BackendStopping, fmt.Sprintf("idle for %v", m.ttl()))
	m.begin("pool idle stop", m.stop)
}

func (m *machine) stop() {
	err := m.backend.Stop(m.ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.err = err
		m.move(event.BackendFailed, "stopping it: "+err.Error())
		return
	}
	m.move(event.BackendStopped, "stopped")
}

// retire refuses new uses and the idle stop from now on; remove follows.
func (m *machine) retire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer != nil {
		m.timer.Stop()
	}
	m.gone = true
}

// remove destroys a retired back end, after the work that runs now. Errors mean that something may be left.
func (m *machine) remove(ctx context.Context, cause string) error {
	m.mu.Lock()
	work, unused := m.work, m.backend == nil || (m.state == event.BackendAbsent && m.work == nil)
	m.mu.Unlock()
	if unused {
		return nil
	}
	if work != nil {
		select {
		case <-work:
		case <-ctx.Done():
			return fmt.Errorf("removing backend '%s': %w", m.spec.Name, ctx.Err())
		}
	}
	m.setState(event.BackendRemoving, cause)
	if err := m.backend.Remove(ctx); err != nil {
		m.setState(event.BackendFailed, "removing it: "+err.Error())
		return fmt.Errorf("removing backend '%s': %w", m.spec.Name, err)
	}
	m.setState(event.BackendAbsent, cause)
	return nil
}

func (m *machine) setState(to event.BackendState, cause string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move(to, cause)
}

// move makes one transition and publishes it. One that the table does not know is a defect of a kind: it is made, and says so. The lock is held.
func (m *machine) move(to event.BackendState, cause string) {
	from := m.state
	if from == to {
		return
	}
	if !slices.Contains(moves[from], to) {
		cause += fmt.Sprintf(" (unexpected after %s)", from)
	}
	m.state, m.cause, m.since = to, cause, time.Now()
	m.bus.Publish(event.Header{Session: m.owner}, event.BackendChanged{
		Name: m.spec.Name, Kind: m.spec.Kind, From: from, To: to, Cause: cause, Image: m.spec.Where(), Retry: m.retryAt(),
	})
}

func (m *machine) retryAt() time.Time {
	if m.state == event.BackendFailed {
		return m.retry
	}
	return time.Time{}
}

// load publishes who uses the back end now. The lock is held.
func (m *machine) load() {
	a := event.BackendActivity{Name: m.spec.Name, Refs: len(m.uses), IdleSince: m.idle, IdleTTL: m.ttl()}
	if n := len(m.uses); n > 0 {
		a.Command, a.Session = m.uses[n-1].command, m.uses[n-1].session
	}
	m.bus.Publish(event.Header{Session: m.owner}, a)
}

var errClosed = errors.New("the session or the program is ending: the command was not started")
