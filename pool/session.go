package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hermes/core/crash"
	"hermes/core/event"
)

// session is what the pool remembers of one conversation, from its first call to CloseSession. A
// call keeps the one that it began in:
// one that ends late never brings a closed session back.
type session struct {
	uid      string
	ctx      context.Context // of its calls; ends with the session or the pool
	stop     context.CancelFunc
	calls    sync.WaitGroup    // those of Pool.calls that are its own
	selected string            // back end for calls that name none; "" means the default
	dirs     map[string]string // where the last command ended, by back end
	orders   map[string]int64  // of the calls that left those
	told     map[string]bool   // back ends whose failure the session was told of
	procs    []*process        // oldest first
	serial   int               // of the newest process
}

// sessionRecord returns the record of uid. The lock is held.
func (p *Pool) sessionRecord(uid string) *session {
	s := p.sessions[uid]
	if s == nil {
		s = &session{uid: uid, serial: p.serials[uid], dirs: map[string]string{}, orders: map[string]int64{}, told: map[string]bool{}}
		s.ctx, s.stop = context.WithCancel(p.ctx)
		p.sessions[uid] = s
	}
	return s
}

func (p *Pool) selectedBackend(uid string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sessions[uid]; s != nil {
		return s.selected
	}
	return ""
}

func (p *Pool) sessionDir(uid, name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sessions[uid]; s != nil {
		return s.dirs[name]
	}
	return ""
}

// rememberDir keeps where a command ended. Of commands that run at the same time the one that was
// called last wins, whichever ends last.
func (p *Pool) rememberDir(s *session, name, dir string, order int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if order == 0 || order >= s.orders[name] {
		s.dirs[name] = dir
	}
	s.orders[name] = max(order, s.orders[name])
	delete(s.told, name)
}

// Select makes name the session's back end for calls that name none; "" means the default again.
func (p *Pool) Select(uid, name string) error {
	c := p.config()
	if name == "" {
		name = c.Default
	}
	if _, ok := c.Backends[name]; !ok {
		return errors.New(notFound(name, c.backendNames()))
	}
	p.mu.Lock()
	s := p.sessionRecord(uid)
	changed := s.selected != name
	s.selected = name
	p.mu.Unlock()
	if changed {
		p.bus.Publish(event.Header{Session: uid}, event.BackendSelected{Name: name})
	}
	return nil
}

// CloseSession ends the session's commands, in the foreground and in the background, and removes
// its back ends. The same session may begin anew after it; calls that come meanwhile are refused by
// back ends of its own.
func (p *Pool) CloseSession(ctx context.Context, uid string) error {
	var errs []error
	p.mu.Lock()
	s := p.sessions[uid]
	delete(p.sessions, uid)
	if s != nil {
		s.stop()
		if s.serial > 0 {
			p.serials[uid] = s.serial
		}
	}
	out := p.retireMachines(func(k key) bool { return k.owner == uid && k.owner != "" })
	p.mu.Unlock()
	if s != nil {
		errs = append(errs, p.endCalls(ctx, &s.calls, "closing session "+uid, s))
	}
	errs = append(errs, p.removeRetired(ctx, "the session ended", out, false))
	p.forgetLeftovers(ctx, uid)
	return errors.Join(errs...)
}

// awaitCalls waits for calls until ctx is done.
func awaitCalls(ctx context.Context, calls *sync.WaitGroup, what string) error {
	done := make(chan struct{})
	crash.Go("pool close", func() {
		calls.Wait()
		close(done)
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: commands did not end in time: %w", what, ctx.Err())
	}
}
