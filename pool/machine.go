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
	event.BackendStarting: {event.BackendPulling, event.BackendCreating, event.BackendReady, event.BackendFailed, event.BackendLost},
	event.BackendReady:    {event.BackendStopping, event.BackendRemoving, event.BackendLost},
	event.BackendStopping: {event.BackendStopped, event.BackendLost, event.BackendFailed},
	event.BackendStopped:  {event.BackendPulling, event.BackendCreating, event.BackendStarting, event.BackendReady, event.BackendRemoving, event.BackendLost, event.BackendFailed},
	event.BackendRemoving: {event.BackendAbsent, event.BackendFailed},
	event.BackendFailed:   {event.BackendPulling, event.BackendCreating, event.BackendStarting, event.BackendReady, event.BackendStopped, event.BackendAbsent, event.BackendRemoving, event.BackendFailed},
	event.BackendLost:     {event.BackendPulling, event.BackendCreating, event.BackendStarting, event.BackendReady, event.BackendRemoving, event.BackendFailed},
}

// machine is one back end's life: the only place that changes its state. No lock is held while the
// back end works.
type machine struct {
	key   key
	owner string // session, "" when shared
	bus   *event.Bus
	ctx   context.Context // of its work: ends when it is retired
	quit  context.CancelFunc
	pause func(tries int) time.Duration // backoff, but in tests

	mu      sync.Mutex
	spec    Spec
	backend Backend // nil when there is none of its kind
	broken  error   // why it can never start as it is configured
	state   event.BackendState
	cause   string
	since   time.Time
	tries   int       // failed starts in a row
	retry   time.Time // no start before this
	err     error     // why it failed
	job     *job      // the start, stop or removal that runs now
	gone    error     // why nobody may use it any more
	next    *change   // what the settings say by now, for when nobody uses it

	touched bool           // a start was tried: something may be there
	epoch   int            // how often it became ready
	over    chan struct{}  // closed when this epoch ends
	news    []tiding       // what those should know who used an earlier epoch
	seen    map[string]int // epoch of a session's last use
	uses    []*heldUse     // calls and background processes now, oldest first
	empty   chan struct{}  // closed when the last use ends; nil when nobody waits for that
	keeps   int            // those who hold it up without a command in it
	wanted  int            // admitted calls that wait for it
	idle    time.Time      // since when nobody uses or keeps it
	timer   *time.Timer
	serial  int // of the newest use

	finished chan struct{} // of a retired one: closed when its removal is over
	removal  error         // then
}

// job is one piece of work on a back end. There is never more than one at a time.
type job struct {
	done   chan struct{}
	start  bool
	cancel context.CancelCauseFunc // of a start
	err    error                   // once it is done
}

// tiding is something that happened to the state in a back end.
type tiding struct {
	epoch int
	text  string
}

func newMachine(ctx context.Context, k key, s Spec, b Backend, bus *event.Bus) *machine {
	m := &machine{
		key: k, spec: s, owner: k.owner, backend: b, bus: bus, state: event.BackendAbsent, since: time.Now(), pause: backoff, seen: map[string]int{},
	}
	m.ctx, m.quit = context.WithCancel(ctx)
	return m
}

// markFailed marks a back end that can never start.
func (m *machine) markFailed(err error) *machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err
	m.moveTo(event.BackendFailed, err.Error())
	return m
}

// acquireUse makes the back end ready, if need be together with others who want it, and holds it
// until the use is released. Ctx bounds this caller's patience only: the start goes on for the
// others.
func (m *machine) acquireUse(ctx context.Context, session, command string) (*heldUse, error) {
	for {
		m.mu.Lock()
		if m.state == event.BackendReady && m.job == nil && m.gone == nil {
			u := m.addUse(session, command)
			m.mu.Unlock()
			return u, nil
		}
		if err := m.startRefusal(); err != nil {
			m.mu.Unlock()
			return nil, err
		}
		if m.job == nil {
			m.beginStart()
		}
		j := m.job
		m.mu.Unlock()
		select {
		case <-j.done:
			if j.start && j.err != nil {
				return nil, m.unavailable(j.err)
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("backend '%s' is not ready yet; the command was not started: %w", m.name(), ctx.Err())
		}
	}
}

func (m *machine) name() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spec.Name
}

func (m *machine) unavailable(err error) error {
	return fmt.Errorf("backend '%s' is not available: %w", m.name(), err)
}

// startRefusal is why no start is tried now. The lock is held.
func (m *machine) startRefusal() error {
	switch {
	case m.gone != nil:
		return m.gone
	case m.broken != nil:
		return fmt.Errorf("backend '%s' is not available: %w", m.spec.Name, m.broken)
	case m.state == event.BackendFailed && m.job == nil && time.Now().Before(m.retry):
		return fmt.Errorf("backend '%s' is not available: %w (the next try is in %v; a restart by hand tries at once)",
			m.spec.Name, m.err, time.Until(m.retry).Round(time.Second))
	}
	return nil
}

// beginJob runs one piece of work. The lock is held, and no other work runs.
func (m *machine) beginJob(name string, f func(*job)) *job {
	j := &job{done: make(chan struct{})}
	m.job = j
	crash.Go(name, func() {
		f(j)
		m.mu.Lock()
		m.job = nil
		m.applyWaiting()
		m.mu.Unlock()
		close(j.done)
	})
	return j
}

// applyWaiting does what waited for a quiet moment: new settings, the idle clock. The lock is held.
func (m *machine) applyWaiting() {
	if m.empty != nil && len(m.uses) == 0 {
		close(m.empty)
		m.empty = nil
	}
	if m.next != nil && m.nothingHappens() {
		m.beginJob("pool new settings", m.applyChange)
		return
	}
	m.startIdleClock()
}

// nothingHappens says that nothing happens in the back end or with it. The lock is held.
func (m *machine) nothingHappens() bool {
	return m.job == nil && m.gone == nil && len(m.uses) == 0 && m.keeps == 0 && m.wanted == 0
}

// beginStart begins a start. It can be ended from now on, not only once it has got somewhere. The
// lock is held.
func (m *machine) beginStart() {
	ctx, cancel := context.WithCancelCause(m.ctx)
	j := m.beginJob("pool start", func(j *job) {
		defer cancel(nil)
		m.startBackend(ctx, j)
	})
	j.start, j.cancel = true, cancel
}

func (m *machine) startBackend(ctx context.Context, j *job) {
	m.mu.Lock()
	m.touched = true
	b, from, was, r := m.backend, m.state, m.cause, &report{m: m}
	m.mu.Unlock()
	err := b.Start(ctx, r)
	var gone <-chan error
	if err == nil {
		gone = b.Gone()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.tries, m.err, m.retry = 0, nil, time.Time{}
		m.epoch++
		m.noteRestart(from, was, r.created)
		m.moveTo(event.BackendReady, startReason(from))
		m.watchLoss(gone)
		return
	}
	if stopped := context.Cause(ctx); stopped != nil && m.ctx.Err() == nil { // by a person: that is no failure of the back end
		err, m.retry = stopped, time.Time{}
	} else {
		m.tries++
		m.retry = time.Now().Add(m.pause(m.tries))
	}
	j.err, m.err = err, err
	m.moveTo(event.BackendFailed, err.Error())
}

// noteRestart notes what a start that was not the first one did to the state in the back end. The
// lock is held.
func (m *machine) noteRestart(from event.BackendState, was string, created bool) {
	if m.epoch == 1 {
		return
	}
	var text string
	switch {
	case created && (from == event.BackendLost || from == event.BackendAbsent):
		text = fmt.Sprintf("backend '%s' was made anew (%s): files that were not in a mount are gone", m.spec.Name, was)
	case created:
		text = fmt.Sprintf("backend '%s' was made anew: files that were not in a mount are gone", m.spec.Name)
	case from == event.BackendLost:
		text = fmt.Sprintf("backend '%s' was lost and is back (%s): what ran in it has ended", m.spec.Name, was)
	default:
		return
	}
	const most = 4
	m.news = append(m.news, tiding{m.epoch, text})
	m.news = m.news[max(0, len(m.news)-most):]
}

// watchLoss learns when what was just brought up is lost. The lock is held.
func (m *machine) watchLoss(gone <-chan error) {
	if gone == nil {
		return
	}
	epoch, over := m.epoch, make(chan struct{})
	m.over = over
	crash.Go("pool watch", func() {
		select {
		case err := <-gone:
			if err == nil {
				err = errors.New("it went away")
			}
			m.loseEpoch(epoch, err)
		case <-over:
		case <-m.ctx.Done():
		}
	})
}

// loseEpoch says that what an epoch brought up is not there any more. Who says so later than
// somebody else, or while it is being stopped, changes nothing.
func (m *machine) loseEpoch(epoch int, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.epoch != epoch || m.state != event.BackendReady || m.job != nil || m.gone != nil {
		return
	}
	m.moveTo(event.BackendLost, cause.Error())
	m.idle = time.Time{}
	m.publishLoad()
}

// report publishes what a back end says on its way to ready.
type report struct {
	m       *machine
	created bool
	still   bool // only progress: the state stays as it is
}

// Step implements Report.
func (r *report) Step(to event.BackendState, cause string) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	r.created = r.created || to == event.BackendCreating
	if !r.still {
		r.m.moveTo(to, cause)
	}
}

// Progress implements Report. The pane knows a pull by its id.
func (r *report) Progress(label string, done, total int64) {
	p := event.Progress{ID: "pull:" + r.m.name(), Label: label, Done: done, Total: total, Unit: "bytes"}
	r.m.bus.Publish(event.Header{Session: r.m.owner}, p)
}

// startReason says why a back end was started.
func startReason(from event.BackendState) string {
	switch from {
	case event.BackendAbsent:
		return "first use"
	case event.BackendStopped:
		return "used again"
	case event.BackendLost:
		return "brought back"
	default:
		return "tried again"
	}
}

// backoff is how long a failure is believed before the next try: 1 s, 2 s, ... 60 s, so that a
// broken image does not cost a pull a call.
func backoff(tries int) time.Duration {
	return min(time.Second<<min(tries-1, 6), time.Minute)
}

// moveTo makes one transition and publishes it. One that the table does not know is a defect of a
// kind: it is made, and says so. The lock is held.
func (m *machine) moveTo(to event.BackendState, cause string) {
	from := m.state
	if from == to {
		return
	}
	if !slices.Contains(moves[from], to) {
		cause += fmt.Sprintf(" (unexpected after %s)", from)
	}
	if m.over != nil && from == event.BackendReady {
		close(m.over)
		m.over = nil
	}
	if m.timer != nil && to != event.BackendReady {
		m.timer.Stop()
	}
	m.state, m.cause, m.since = to, cause, time.Now()
	m.bus.Publish(event.Header{Session: m.owner}, event.BackendChanged{
		Name: m.spec.Name, Kind: m.spec.Kind, From: from, To: to, Cause: cause, Image: m.spec.about.Where, Retry: m.retryAt(),
	})
}

func (m *machine) retryAt() time.Time {
	if m.state == event.BackendFailed {
		return m.retry
	}
	return time.Time{}
}

var errClosed = errors.New("the session or the program is ending: the command was not started")
