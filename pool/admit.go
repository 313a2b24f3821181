package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/event"
)

// admitCall counts one more call that wants m up, and makes room for it when the session has as
// many back ends up as it may: the one that has idled for the longest is stopped. Those that all
// sessions share do not count.
func (p *Pool) admitCall(ctx context.Context, m *machine) (done func(), err error) {
	for {
		room, err := p.claimSlot(m)
		if err != nil {
			return nil, err
		}
		if room == nil {
			return sync.OnceFunc(m.withdrawWant), nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return nil, fmt.Errorf("backend '%s' is not ready yet; the command was not started: %w", m.name(), ctx.Err())
		}
	}
}

// claimSlot enters a call for m. When there is no room it says when to ask again: once the back end
// is down that makes some.
func (p *Pool) claimSlot(m *machine) (room <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := p.config().MaxPerSession
	if in, err := m.admitCaller(!p.countsForSession(m)); in || err != nil {
		return nil, err
	}
	var up []string
	var spare *machine
	var oldest time.Time
	for _, o := range p.machines {
		if o == m || o.owner != m.owner || !p.countsForSession(o) {
			continue
		}
		c := o.slotClaim()
		if !c.holds {
			continue
		}
		up = append(up, c.name)
		if c.leaving != nil {
			room = c.leaving
		}
		if !c.idle.IsZero() && (spare == nil || c.idle.Before(oldest)) {
			spare, oldest = o, c.idle
		}
	}
	switch {
	case len(up) < most:
		_, err := m.admitCaller(true)
		return nil, err
	case room != nil:
		return room, nil
	case spare != nil:
		return spare.giveWay(m.name(), most), nil
	}
	slices.Sort(up)
	return nil, fmt.Errorf("backend '%s' was not started: this session has %d up, which is the most that it may have (terminal.max_backends_per_session), and all are in use (%s)",
		m.name(), len(up), strings.Join(up, ", "))
}

// countsForSession says whether a back end counts against its session's maximum.
func (p *Pool) countsForSession(m *machine) bool { return m.owner != "" }

// admitCaller counts a caller if the machine has its place already, or there is one free. What
// cannot be started now is refused before anybody makes way for it.
func (m *machine) admitCaller(free bool) (in bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.startRefusal(); err != nil {
		return false, err
	}
	if free || m.hasSlot() {
		m.wanted++
		return true, nil
	}
	return false, nil
}

func (m *machine) withdrawWant() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted--
	m.applyWaiting()
}

// hasSlot says whether it has its place among those that are up. The lock is held.
func (m *machine) hasSlot() bool {
	switch m.state {
	case event.BackendPulling, event.BackendCreating, event.BackendStarting, event.BackendReady, event.BackendStopping:
		return true
	default:
		return m.job != nil && m.job.start || m.wanted > 0
	}
}

// claim is what a back end takes of its session's maximum.
type claim struct {
	name    string
	holds   bool
	idle    time.Time       // since when it could be spared; zero when it cannot be
	leaving <-chan struct{} // closed when it is down, if it is going down
}

func (m *machine) slotClaim() claim {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := claim{name: m.spec.Name, holds: m.hasSlot() || m.state == event.BackendRemoving} // what is being removed may still be up
	if m.isUnneeded() {
		c.idle = m.idle
	}
	switch down := m.state == event.BackendStopping || m.state == event.BackendRemoving; {
	case m.finished != nil:
		c.leaving = m.finished
	case down && m.job != nil:
		c.leaving = m.job.done
	}
	return c
}

// giveWay stops the back end for another one. Somebody may have begun to use it again: then nothing
// happens, and it is asked anew.
func (m *machine) giveWay(other string, most int) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.isUnneeded() {
		now := make(chan struct{})
		close(now)
		return now
	}
	cause := fmt.Sprintf("made way for '%s': a session has at most %d up", other, most)
	return m.beginJob("pool make way", func(j *job) { j.err = m.stopReady(cause) }).done
}
