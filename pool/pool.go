// Package pool keeps named back ends and runs commands in them.
//
// The contract:
//
//   - A back end has a name and a kind. Same name, same place, state kept. Which one runs a call:
//     the call's own name, else the session's selected one, else the default. An unknown name is
//     run by the default, with a warning.
//   - The life of a back end is one state machine (machine.go). Every transition is published as
//     event.BackendChanged with its cause; load is published as event.BackendActivity. Concurrent
//     first uses start it once; what is idle is stopped, what is lost is brought back at the next
//     use, which is told so.
//   - A session has at most Config.MaxPerSession back ends of its own up (admit.go): the longest
//     idle one makes way.
//   - A command begins at most once. Only when it certainly did not (NotStarted) the pool brings
//     the back end up again, once, or lets the default run it, with a warning; never where it could
//     reach more than where it was meant to run, and never on this machine (resolve.go).
//   - Each session has its own working directory in each back end, its own selected back end and
//     its own background processes, which end with it.
//   - What a person asks for (manager.go) never ends somebody's command unless it is forced, and
//     then that command's result says so.
//   - The settings may change at any time (configure.go).
//   - The pool knows nothing of technologies: a Kind is handed to New. Adding one changes nothing
//     here.
package pool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hermes/core/backend"
	"hermes/core/crash"
	"hermes/core/event"
)

// Pool implements backend.Pool. All methods are safe for concurrent use.
type Pool struct {
	conf  atomic.Pointer[Config]
	kinds map[string]Kind
	bus   *event.Bus
	ctx   context.Context // of everything that no single call owns; ends with Close
	stop  context.CancelFunc
	calls sync.WaitGroup // commands in the foreground, and watchers of those in the background

	mu       sync.Mutex
	closed   bool
	machines map[key]*machine
	sessions map[string]*session
	serials  map[string]int // of the newest process, by session that was closed: one that begins anew uses no number again

	pause func(tries int) time.Duration // backoff, but in tests
}

// key names a back end's life: owner is "" for kinds that all sessions share.
type key struct{ owner, name, kind string }

var _ backend.Pool = (*Pool)(nil)

// New returns a pool of the configured back ends; none is started before it is used. A back end
// whose kind is not among kinds exists in the failed state. Errors are those of names. Close it,
// and the kinds after it.
func New(c Config, kinds map[string]Kind, bus *event.Bus) (*Pool, error) {
	c, err := c.withDefaults(kinds)
	if err != nil {
		return nil, err
	}
	p := &Pool{kinds: kinds, bus: bus, machines: map[key]*machine{}, sessions: map[string]*session{}, serials: map[string]int{}, pause: backoff}
	p.conf.Store(&c)
	p.ctx, p.stop = context.WithCancel(context.Background())
	for _, name := range c.backendNames() {
		if _, ok := kinds[c.Backends[name].Kind]; !ok {
			_, _ = p.findMachine("", name) // nobody has closed it yet
		}
	}
	return p, nil
}

// config is the settings in effect. They are not changed, only replaced.
func (p *Pool) config() Config { return *p.conf.Load() }

// machineOf is findMachine for a call of s: one that ends late makes nothing new.
func (p *Pool) machineOf(s *session, name string) (*machine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, errClosed
	}
	return p.findMachineLocked(s.uid, name)
}

// findMachine returns the life of the named back end, which must be configured.
func (p *Pool) findMachine(session, name string) (*machine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.findMachineLocked(session, name)
}

// findMachineLocked is findMachine. The lock is held.
func (p *Pool) findMachineLocked(session, name string) (*machine, error) {
	c := p.config()
	spec, ok := c.Backends[name]
	switch {
	case p.closed:
		return nil, errClosed
	case !ok: // it was, a moment ago
		return nil, errors.New(notFound(name, c.backendNames()))
	}
	k := p.keyOf(session, spec)
	if m := p.machines[k]; m != nil {
		return m, nil
	}
	m := p.newMachineFor(k, spec)
	p.machines[k] = m
	return m, nil
}

func (p *Pool) keyOf(session string, s Spec) key {
	if _, ok := p.kinds[s.Kind]; ok && !s.about.Shared {
		return key{session, s.Name, s.Kind}
	}
	return key{"", s.Name, s.Kind}
}

func (p *Pool) newMachineFor(k key, s Spec) *machine {
	b, err := p.buildDriver(k, s)
	m := newMachine(p.ctx, k, s, b, p.bus)
	m.pause = p.pause
	if err != nil {
		return m.markFailed(err)
	}
	return m
}

// enterSession admits one more call of a session. Call leave after it.
func (p *Pool) enterSession(uid string) (*session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	s := p.sessionRecord(uid)
	p.calls.Add(1)
	s.calls.Add(1)
	return s, nil
}

func (p *Pool) leaveSession(s *session) {
	s.calls.Done()
	p.calls.Done()
}

// Close ends every command, in the foreground and in the background, and removes what the pool
// made; with Config.Keep it takes down what a later process can find again. It takes no longer than
// ctx allows; errors say what may be left.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	sessions := slices.Collect(maps.Values(p.sessions))
	out := p.retireMachines(func(key) bool { return true })
	p.mu.Unlock()
	p.stop()
	return errors.Join(p.endCalls(ctx, &p.calls, "closing the pool", sessions...), p.removeRetired(ctx, "the program ends", out, p.config().Keep > 0))
}

// endCalls ends what the sessions run, all at the same time. It leaves half of the time for what
// comes after: removing a back end ends what is in it anyway.
func (p *Pool) endCalls(ctx context.Context, calls *sync.WaitGroup, what string, sessions ...*session) error {
	ctx, cancel := halfDeadline(ctx)
	defer cancel()
	var procs []*process
	p.mu.Lock()
	for _, s := range sessions {
		procs = append(procs, s.procs...)
	}
	p.mu.Unlock()
	return errors.Join(killAll(ctx, procs), awaitCalls(ctx, calls, what))
}

// halfDeadline bounds a context by half of the time that it has left.
func halfDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/2)
}

// retired is a back end that is being removed for good.
type retired struct {
	m    *machine
	mine bool // nobody else removes it already
}

// retireMachines lets nobody begin to use the back ends that which chooses, and returns them. The
// lock is held.
func (p *Pool) retireMachines(which func(key) bool) []retired {
	var out []retired
	for k, m := range p.machines {
		if which(k) {
			out = append(out, retired{m, m.refuseUses(errClosed)})
		}
	}
	return out
}

// removeRetired destroys retired back ends, all at the same time, and waits no longer than ctx
// allows, whatever hangs. Until they are gone their names belong to them. What can be found again
// is only taken down if keep is set.
func (p *Pool) removeRetired(ctx context.Context, cause string, out []retired, keep bool) error {
	for _, r := range out {
		if r.mine {
			crash.Go("pool remove", func() { p.forgetRemoved(r.m, r.m.removeRetired(ctx, cause, keep)) })
		}
	}
	var errs []error
	for _, r := range out {
		select {
		case <-r.m.finished:
		case <-ctx.Done():
		}
		select { // of two that are ready the first select takes any
		case <-r.m.finished:
			if r.mine {
				errs = append(errs, r.m.removal)
			}
		default:
			errs = append(errs, fmt.Errorf("removing backend '%s': %w; what is left of it ends by itself or is removed at the next start", r.m.key.name, ctx.Err()))
		}
	}
	return errors.Join(errs...)
}

// forgetRemoved forgets a back end that was removed. One that could not be is there again, for its
// session if that begins anew, and for Close to try once more.
func (p *Pool) forgetRemoved(m *machine, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.removal = err
	close(m.finished)
	delete(p.machines, m.key)
	if err != nil && !p.closed {
		p.machines[m.key] = m.afterFailedRemoval(p.ctx)
	}
}
