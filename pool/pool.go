// Package pool keeps named back ends and runs commands in them.
//
// The contract:
//
//   - A back end has a name and a kind. Same name, same place, state kept. Which one runs a call: the call's own name, else
//     the session's selected one, else the default. An unknown name is run by the default, with a warning.
//   - The life of a back end is one state machine (machine.go). Every transition is published as event.BackendChanged with its
//     cause; load is published as event.BackendActivity. Concurrent first uses start it once.
//   - What cannot run where it was asked to run is an error. It is never moved to this machine.
//   - Each session has its own working directory in each back end, its own selected back end and its own background processes, which end
//     with it.
//   - The pool knows nothing of technologies: a Kind is handed to New. Adding one changes nothing here.
package pool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"hermes/core/backend"
	"hermes/core/crash"
	"hermes/core/event"
)

// Pool implements backend.Pool. All methods are safe for concurrent use.
type Pool struct {
	cfg   Config
	kinds map[string]Kind
	bus   *event.Bus
	ctx   context.Context // of everything that no single call owns; ends with Close
	stop  context.CancelFunc
	calls sync.WaitGroup // commands in the foreground, and watchers of those in the background

	mu       sync.Mutex
	closed   bool
	machines map[key]*machine
	sessions map[string]*session
}

// key names a back end's life: owner is "" for kinds that all sessions share.
type key struct{ owner, name string }

var _ backend.Pool = (*Pool)(nil)

// New returns a pool of the configured back ends; none is started before it is used. A back end whose kind is not among
// kinds exists in the failed state. Errors are those of names. Close it, and the kinds after it.
func New(c Config, kinds map[string]Kind, bus *event.Bus) (*Pool, error) {
	c, err := c.normal()
	if err != nil {
		return nil, err
	}
	p := &Pool{cfg: c, kinds: kinds, bus: bus, machines: map[key]*machine{}, sessions: map[string]*session{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	for _, name := range c.names() {
		if _, ok := kinds[c.Backends[name].Kind]; !ok {
			p.machine("", name)
		}
	}
	return p, nil
}

// machine returns the life of the named back end, which must be configured.
func (p *Pool) machine(session, name string) *machine {
	spec := p.cfg.Backends[name]
	k := p.key(session, spec)
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.machines[k]; m != nil {
		return m
	}
	m := p.open(k, spec)
	p.machines[k] = m
	return m
}

func (p *Pool) key(session string, s Spec) key {
	if kind, ok := p.kinds[s.Kind]; ok && !kind.Shared() {
		return key{session, s.Name}
	}
	return key{"", s.Name}
}

func (p *Pool) open(k key, s Spec) *machine {
	if s.Invalid != "" {
		return newMachine(p.ctx, k.owner, s, nil, p.bus).failed(errors.New(s.Invalid))
	}
	kind, ok := p.kinds[s.Kind]
	if !ok {
		have := strings.Join(slices.Sorted(maps.Keys(p.kinds)), ", ")
		err := fmt.Errorf("kind %s is not available in this version (there is: %s)", s.Kind, have)
		return newMachine(p.ctx, k.owner, s, nil, p.bus).failed(err)
	}
	b, err := kind.Open(k.owner, s)
	if err != nil {
		return newMachine(p.ctx, k.owner, s, nil, p.bus).failed(err)
	}
	return newMachine(p.ctx, k.owner, s, b, p.bus)
}

// enter admits one more call of a session. Call leave after it.
func (p *Pool) enter(uid string) (*session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	s := p.session(uid)
	p.calls.Add(1)
	s.calls.Add(1)
	return s, nil
}

func (p *Pool) leave(s *session) {
	s.calls.Done()
	p.calls.Done()
}

// Close ends every command, in the foreground and in the background, and removes what the pool made. It takes no longer than ctx
// allows; errors say what may be left.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	sessions := slices.Collect(maps.Values(p.sessions))
	out := p.retire(func(key) bool { return true })
	p.mu.Unlock()
	p.stop()
	var errs []error
	for _, s := range sessions {
		errs = append(errs, p.endProcesses(ctx, s))
	}
	errs = append(errs, await(ctx, &p.calls, "closing the pool"), p.remove(ctx, "the program ends", out))
	return errors.Join(errs...)
}

// retire lets nobody begin to use the back ends that which chooses, and returns them. The lock is held.
func (p *Pool) retire(which func(key) bool) []*machine {
	var out []*machine
	for k, m := range p.machines {
		if which(k) {
			m.retire()
			out = append(out, m)
		}
	}
	return out
}

// remove destroys retired back ends, all at the same time. Until they are gone their names belong to them.
func (p *Pool) remove(ctx context.Context, cause string, out []*machine) error {
	results := make(chan error, len(out))
	for _, m := range out {
		crash.Go("pool remove", func() { results <- m.remove(ctx, cause) })
	}
	var errs []error
	for range out {
		errs = append(errs, <-results)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.machines, func(_ key, m *machine) bool { return slices.Contains(out, m) })
	return errors.Join(errs...)
}
