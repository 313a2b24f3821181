package pool

import (
	"context"
	"errors"
	"slices"

	"hermes/core/event"
)

// session is what the pool remembers of one conversation.
type session struct {
	selected string            // back end for calls that name none; "" means the default
	dirs     map[string]string // where the last command ended, by back end
	procs    []*process        // oldest first
	serial   int               // of the newest process
}

// session returns the record of uid. The lock is held.
func (p *Pool) session(uid string) *session {
	s := p.sessions[uid]
	if s == nil {
		s = &session{dirs: map[string]string{}}
		p.sessions[uid] = s
	}
	return s
}

func (p *Pool) selected(uid string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session(uid).selected
}

func (p *Pool) dir(uid, name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session(uid).dirs[name]
}

// remember keeps where a command ended. Of commands that run at the same time the last to end wins.
func (p *Pool) remember(uid, name, dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session(uid).dirs[name] = dir
}

// Select makes name the session's back end for calls that name none; "" means the default again.
func (p *Pool) Select(uid, name string) error {
	if name == "" {
		name = p.cfg.Default
	}
	if _, ok := p.cfg.Backends[name]; !ok {
		return errors.New(notFound(name, p.cfg.names()))
	}
	p.mu.Lock()
	s := p.session(uid)
	changed := s.selected != name
	s.selected = name
	p.mu.Unlock()
	if changed {
		p.bus.Publish(event.Header{Session: uid}, event.BackendSelected{Name: name})
	}
	return nil
}

// CloseSession ends the session's background processes and removes its back ends.
func (p *Pool) CloseSession(ctx context.Context, uid string) error {
	err := p.endProcesses(ctx, uid)
	p.mu.Lock()
	delete(p.sessions, uid)
	p.mu.Unlock()
	own := func(k key) bool { return k.owner == uid && k.owner != "" }
	return errors.Join(err, p.remove(ctx, "the session ended", own))
}

// endProcesses kills what the session still runs in the background, all at the same time.
func (p *Pool) endProcesses(ctx context.Context, uid string) error {
	p.mu.Lock()
	procs := slices.Clone(p.session(uid).procs)
	p.mu.Unlock()
	return killAll(ctx, procs)
}
