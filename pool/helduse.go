package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"hermes/core/event"
)

// heldUse is one call or background process that holds a back end up.
type heldUse struct {
	id               int
	session, command string
	epoch            int
	spec             Spec    // of the back end while it is held
	backend          Backend // that it runs in
	warnings         []string
	release          func()

	mu  sync.Mutex
	end func() // ends what runs; nil until somebody can be ended
	why string // why it was ended by force
}

// addUse adds a use. The lock is held.
func (m *machine) addUse(session, command string) *heldUse {
	m.serial++
	u := &heldUse{id: m.serial, session: session, command: command, epoch: m.epoch, spec: m.spec, backend: m.backend}
	if last, again := m.seen[session]; again {
		for _, n := range m.news {
			if n.epoch > last {
				u.warnings = append(u.warnings, n.text)
			}
		}
	}
	m.seen[session] = m.epoch
	m.uses = append(m.uses, u)
	m.stopIdleClock()
	u.release = sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.uses = slices.DeleteFunc(m.uses, func(o *heldUse) bool { return o == u })
		m.applyWaiting()
		m.publishLoad()
	})
	return u
}

// bindForceEnd says how the use is ended by force. If it was already, that happens now.
func (u *heldUse) bindForceEnd(end func()) {
	u.mu.Lock()
	u.end = end
	ended := u.why != ""
	u.mu.Unlock()
	if ended {
		end()
	}
}

// forceEnd ends the use because of why.
func (u *heldUse) forceEnd(why string) {
	u.mu.Lock()
	u.why = why
	end := u.end
	u.mu.Unlock()
	if end != nil {
		end()
	}
}

// forceReason is why it was ended by force, "" when it was not.
func (u *heldUse) forceReason() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.why
}

// keepUp holds the back end up, without a use, until release is called.
func (m *machine) keepUp() (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.backend == nil || !m.backend.Idles() {
		return func() {}
	}
	m.keeps++
	m.stopIdleClock()
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.keeps--
		m.applyWaiting()
		m.publishLoad()
	})
}

// stopIdleClock stops the idle clock. The lock is held.
func (m *machine) stopIdleClock() {
	m.idle = time.Time{}
	if m.timer != nil {
		m.timer.Stop()
	}
	m.publishLoad()
}

// startIdleClock starts the idle clock when nobody uses the back end, or goes on with it. The lock
// is held.
func (m *machine) startIdleClock() {
	if len(m.uses) > 0 || m.keeps > 0 || m.wanted > 0 || m.state != event.BackendReady || m.job != nil {
		return
	}
	if m.idle.IsZero() {
		m.idle = time.Now()
	}
	if m.idleLimit() <= 0 || m.gone != nil {
		return
	}
	if m.timer != nil {
		m.timer.Stop()
	}
	m.timer = time.AfterFunc(max(0, m.idleLimit()-time.Since(m.idle)), m.stopIfIdle)
}

// idleLimit is how long it may idle; 0 means for ever.
func (m *machine) idleLimit() time.Duration {
	if m.backend == nil || !m.backend.Idles() {
		return 0
	}
	return max(0, m.spec.IdleTTL)
}

// stopIfIdle stops it if it has been idle for long enough: a use that came and went meanwhile has
// set another clock.
func (m *machine) stopIfIdle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.isUnneeded() || time.Since(m.idle) < m.idleLimit() {
		m.applyWaiting()
		return
	}
	cause := fmt.Sprintf("idle for %v", m.idleLimit())
	m.beginJob("pool idle stop", func(j *job) { j.err = m.stopReady(cause) })
}

// isUnneeded says that it is up and nobody needs it. The lock is held.
func (m *machine) isUnneeded() bool {
	return m.state == event.BackendReady && m.nothingHappens() && !m.idle.IsZero()
}

// publishLoad publishes who uses the back end now. The lock is held.
func (m *machine) publishLoad() {
	a := event.BackendActivity{Name: m.spec.Name, Refs: len(m.uses), IdleSince: m.idle, IdleTTL: m.idleLimit()}
	if n := len(m.uses); n > 0 {
		a.Command, a.Session = m.uses[n-1].command, m.uses[n-1].session
	}
	m.bus.Publish(event.Header{Session: m.owner}, a)
}

const (
	stopTime = 2 * time.Minute  // for a stop or removal, beyond which the engine counts as hung
	killTime = 15 * time.Second // for commands to end that are ended by force
)

// stop takes it down, files kept. In use it refuses, unless force ends what runs.
func (m *machine) stop(ctx context.Context, force bool, cause string) error {
	return m.takeAlone(ctx, force, cause, func() error { return m.stopReady(cause) })
}

// destroy removes it with its files; it may be used again.
func (m *machine) destroy(ctx context.Context, force bool, cause string) error {
	return m.takeAlone(ctx, force, cause, func() error {
		bounded, cancel := context.WithTimeout(m.ctx, stopTime)
		defer cancel()
		return m.eraseRemains(bounded, cause)
	})
}

// takeAlone does work on a back end that nobody uses meanwhile.
func (m *machine) takeAlone(ctx context.Context, force bool, cause string, work func() error) error {
	for {
		m.mu.Lock()
		if err := m.whyHeld(force); err != nil {
			m.mu.Unlock()
			return err
		}
		j, mine := m.job, m.job == nil
		if mine {
			j = m.beginJob("pool verb", func(j *job) {
				if j.err = m.evictUses(cause); j.err == nil {
					j.err = work()
				}
			})
		} else if j.start {
			j.cancel(errors.New(cause))
		}
		m.mu.Unlock()
		select {
		case <-j.done:
			if mine {
				return j.err
			}
		case <-ctx.Done():
			return fmt.Errorf("backend '%s': %w", m.name(), ctx.Err())
		}
	}
}

// whyHeld is why nobody may stop or remove it now. The lock is held.
func (m *machine) whyHeld(force bool) error {
	switch n := len(m.uses); {
	case m.gone != nil:
		return m.gone
	case force:
		return nil
	case n == 1:
		return fmt.Errorf("backend '%s' is in use: %s. Force ends that", m.spec.Name, shortCommand(m.uses[0].command))
	case n > 1:
		return fmt.Errorf("backend '%s' is in use: %d commands, the newest is %s. Force ends them", m.spec.Name, n, shortCommand(m.uses[n-1].command))
	case m.job != nil && m.job.start && m.wanted > 0:
		return fmt.Errorf("backend '%s' is being started for a command. Force ends that", m.spec.Name)
	}
	return nil
}

func shortCommand(command string) string {
	const most = 80
	if r := []rune(command); len(r) > most {
		command = string(r[:most]) + "..."
	}
	return fmt.Sprintf("%q", command)
}

// evictUses ends every use and waits until they are gone, at most killTime: what does not end by
// then ends with the back end.
func (m *machine) evictUses(cause string) error {
	m.mu.Lock()
	uses := slices.Clone(m.uses)
	empty := make(chan struct{})
	if len(uses) == 0 {
		m.mu.Unlock()
		return nil
	}
	m.empty = empty
	m.mu.Unlock()
	for _, u := range uses {
		u.forceEnd(fmt.Sprintf("backend '%s': %s while this ran", u.spec.Name, cause))
	}
	late := time.NewTimer(killTime)
	defer late.Stop()
	select {
	case <-empty:
	case <-late.C:
	case <-m.ctx.Done(): // whoever retired it ends them too, and removes it after that
		return errClosed
	}
	return nil
}

// stopReady stops what is up. It is the work of a job.
func (m *machine) stopReady(cause string) error {
	m.mu.Lock()
	b := m.backend
	if m.state != event.BackendReady {
		m.mu.Unlock()
		return nil
	}
	m.idle = time.Time{}
	m.moveTo(event.BackendStopping, cause)
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(m.ctx, stopTime)
	defer cancel()
	err := b.Stop(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.err = err
		m.moveTo(event.BackendFailed, "stopping it: "+err.Error())
		return fmt.Errorf("stopping backend '%s': %w", m.spec.Name, err)
	}
	m.moveTo(event.BackendStopped, cause)
	return nil
}

// eraseRemains destroys what there is. It is the work of a job, or the end of a retired machine.
func (m *machine) eraseRemains(ctx context.Context, cause string) error {
	m.mu.Lock()
	b, name := m.backend, m.spec.Name
	if b == nil || m.state == event.BackendAbsent {
		m.mu.Unlock()
		return nil
	}
	m.idle = time.Time{}
	m.moveTo(event.BackendRemoving, cause)
	m.mu.Unlock()
	err := b.Remove(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.err = err
		m.moveTo(event.BackendFailed, "removing it: "+err.Error())
		return fmt.Errorf("removing backend '%s': %w", name, err)
	}
	m.tries, m.err, m.retry = 0, nil, time.Time{}
	m.moveTo(event.BackendAbsent, cause)
	return nil
}

// endBackoff ends the wait after a failure.
func (m *machine) endBackoff() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries, m.retry = 0, time.Time{}
}

// refuseUses refuses new uses and the idle stop from now on, and ends a start; removeRetired
// follows. It says whether nobody had done so before.
func (m *machine) refuseUses(why error) (first bool) {
	m.mu.Lock()
	if m.timer != nil {
		m.timer.Stop()
	}
	if first = m.finished == nil; first {
		m.gone, m.finished = why, make(chan struct{})
	}
	m.mu.Unlock()
	m.quit()
	return first
}

// afterFailedRemoval is what goes on after a removal that failed: the same back end in the same
// state, which may be used and removed again.
func (m *machine) afterFailedRemoval(ctx context.Context) *machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := newMachine(ctx, m.key, m.spec, m.backend, m.bus)
	h.state, h.cause, h.since, h.err, h.broken = m.state, m.cause, m.since, m.err, m.broken
	h.touched, h.epoch, h.pause = true, m.epoch, m.pause
	return h
}

// removeRetired destroys a retired back end, or parks it, after the work that runs now. Errors mean
// that something may be left.
func (m *machine) removeRetired(ctx context.Context, cause string, keep bool) error {
	m.mu.Lock()
	j := m.job
	m.mu.Unlock()
	if j != nil {
		select {
		case <-j.done:
		case <-ctx.Done():
			return fmt.Errorf("removing backend '%s': %w", m.name(), ctx.Err())
		}
	}
	m.mu.Lock()
	p, ok := m.backend.(Parker)
	m.mu.Unlock()
	if ok && keep {
		return m.parkRetired(ctx, cause, p)
	}
	return m.eraseRemains(ctx, cause)
}

// parkRetired takes a retired back end down so that a later process finds it again.
func (m *machine) parkRetired(ctx context.Context, cause string, p Parker) error {
	m.mu.Lock()
	up, name := m.state == event.BackendReady, m.spec.Name
	if up {
		m.moveTo(event.BackendStopping, cause)
	}
	m.mu.Unlock()
	err := p.Park(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.moveTo(event.BackendFailed, "stopping it: "+err.Error())
		return fmt.Errorf("stopping backend '%s': %w", name, err)
	}
	if up {
		m.moveTo(event.BackendStopped, cause)
	}
	return nil
}
