package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"hermes/core/backend"
	"hermes/core/crash"
	"hermes/core/event"
)

// byHand is the cause of what a person does.
const byHand = "by hand"

// namedMachine returns the back end of a name that a person gave: an unknown one is an error, "" is
// the session's current one.
func (p *Pool) namedMachine(session, name string) (*machine, error) {
	c := p.config()
	if name == "" {
		name = cmp.Or(p.selectedBackend(session), c.Default)
	}
	if _, ok := c.Backends[name]; !ok {
		return nil, errors.New(notFound(name, c.backendNames()))
	}
	return p.findMachine(session, name)
}

// Up makes a back end ready now, as a first use would. It does not wait out a failure.
func (p *Pool) Up(ctx context.Context, session, name string) error {
	m, err := p.namedMachine(session, name)
	if err != nil {
		return err
	}
	m.endBackoff()
	u, err := p.holdWhenUp(ctx, m, session, "")
	if err != nil {
		return err
	}
	u.release()
	return nil
}

// Stop takes a back end down; its files stay. What is not up stays as it is. In use it is refused
// unless force is set: what runs in it is then ended, and the results say so.
func (p *Pool) Stop(ctx context.Context, session, name string, force bool) error {
	m, err := p.namedMachine(session, name)
	if err != nil {
		return err
	}
	return m.stop(ctx, force, "stopped "+byHand)
}

// Restart is Stop and Up. It also ends the wait after a failure.
func (p *Pool) Restart(ctx context.Context, session, name string, force bool) error {
	m, err := p.namedMachine(session, name)
	if err != nil {
		return err
	}
	if err := m.stop(ctx, force, "restarted "+byHand); err != nil {
		return err
	}
	return p.Up(ctx, session, name)
}

// Remove destroys a back end with its files; the next use makes a new one. Force as with Stop.
func (p *Pool) Remove(ctx context.Context, session, name string, force bool) error {
	m, err := p.namedMachine(session, name)
	if err != nil {
		return err
	}
	return m.destroy(ctx, force, "removed "+byHand)
}

// Pull fetches a back end's image now. What is up stays up, with the image that it has, and takes
// the new one when it is made anew.
func (p *Pool) Pull(ctx context.Context, session, name string) error {
	m, err := p.namedMachine(session, name)
	if err != nil {
		return err
	}
	m.mu.Lock()
	puller, ok := m.backend.(Puller)
	kind := m.spec.Kind
	m.mu.Unlock()
	if !ok {
		return fmt.Errorf("backend '%s' is of kind %s: there is no image to fetch", m.name(), kind)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	if err := puller.Pull(ctx, &report{m: m, still: true}); err != nil {
		return fmt.Errorf("backend '%s': %w", m.name(), err)
	}
	m.endBackoff()
	return nil
}

// Sample measures what a running back end uses, once, and publishes it too.
func (p *Pool) Sample(ctx context.Context, session, name string) (event.BackendStats, error) {
	m, err := p.namedMachine(session, name)
	if err != nil {
		return event.BackendStats{}, err
	}
	m.mu.Lock()
	sampler, ok := m.backend.(Sampler)
	kind, state := m.spec.Kind, m.state
	m.mu.Unlock()
	switch {
	case !ok:
		return event.BackendStats{}, fmt.Errorf("backend '%s' is of kind %s: it cannot be measured", m.name(), kind)
	case state != event.BackendReady:
		return event.BackendStats{}, fmt.Errorf("backend '%s' is %s: there is nothing to measure", m.name(), state)
	}
	s, err := sampler.Sample(ctx)
	if err != nil {
		return event.BackendStats{}, fmt.Errorf("backend '%s': %w", m.name(), err)
	}
	stats := event.BackendStats{Name: m.name(), CPUPercent: s.CPUPercent, MemoryBytes: s.MemoryBytes, MemoryLimit: s.MemoryLimit, Pids: s.Pids}
	p.bus.Publish(event.Header{Session: m.owner}, stats)
	return stats, nil
}

// Keep holds a back end up for a while that no command is in it. "" is the session's current one,
// and an unknown name the one that a command with it would run in. It starts nothing.
func (p *Pool) Keep(session, name string) (release func()) {
	name, _, err := p.chooseBackend(session, name)
	if err != nil {
		return func() {}
	}
	m, err := p.findMachine(session, name)
	if err != nil {
		return func() {}
	}
	return m.keepUp()
}

// Channel is our end of the socket of a process that was started with Request.Channel.
func (p *Pool) Channel(session, id string) (io.ReadWriteCloser, error) {
	q, err := p.findProcess(session, id)
	if err != nil {
		return nil, err
	}
	c := q.run.Channel()
	if c == nil {
		return nil, fmt.Errorf("process %s has no channel: it was not started with one", id)
	}
	return c, nil
}

// eachKeeper calls f with each kind whose back ends may outlive a program, and what is configured
// of it.
func (p *Pool) eachKeeper(f func(k Keeper, specs []Spec)) {
	c := p.config()
	for _, name := range slices.Sorted(maps.Keys(p.kinds)) {
		if k, ok := p.kinds[name].(Keeper); ok {
			f(k, c.Of(name))
		}
	}
}

// Sweep prunes in the background what earlier processes left behind.
func (p *Pool) Sweep() {
	p.eachKeeper(func(k Keeper, specs []Spec) {
		if len(specs) > 0 {
			crash.Go("pool sweep", func() {
				k.Sweep(specs, func(text string) {
					p.bus.Publish(event.Header{}, event.Notice{Level: event.Info, Text: text})
				})
			})
		}
	})
}

// Leftovers lists what there is of this data folder.
func (p *Pool) Leftovers(ctx context.Context) ([]backend.Leftover, error) {
	return p.gatherLeftovers(func(k Keeper, s []Spec) ([]backend.Leftover, error) { return k.Leftovers(ctx, s) })
}

// Prune removes what no process uses and what is not kept any more, or is kept too if all is set.
func (p *Pool) Prune(ctx context.Context, all bool) ([]backend.Leftover, error) {
	return p.gatherLeftovers(func(k Keeper, s []Spec) ([]backend.Leftover, error) { return k.Prune(ctx, s, all) })
}

// forgetLeftovers removes what earlier processes made for a session. That a place does not answer
// keeps nobody from ending a session: it is told.
func (p *Pool) forgetLeftovers(ctx context.Context, uid string) {
	p.eachKeeper(func(k Keeper, specs []Spec) {
		if err := k.Forget(ctx, uid, specs); err != nil {
			p.bus.Publish(event.Header{Session: uid}, event.Notice{
				Level: event.Warn, Text: "the session's containers were not removed: " + err.Error(), Hint: "`hermes pool prune --all` removes them",
			})
		}
	})
}

func (p *Pool) gatherLeftovers(f func(Keeper, []Spec) ([]backend.Leftover, error)) (all []backend.Leftover, err error) {
	p.eachKeeper(func(k Keeper, specs []Spec) {
		list, e := f(k, specs)
		all, err = append(all, list...), errors.Join(err, e)
	})
	return all, err
}
