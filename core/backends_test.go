package core

import (
	"context"
	"slices"
	"sync"
	"testing"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/event"
)

// managedPool remembers edited settings and which back ends are held up.
type managedPool struct {
	*fakePool

	mu      sync.Mutex
	names   []string // back ends of the last settings
	kept    []string
	release int
}

func (p *managedPool) Reconfigure(c *config.Config) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names = nil
	_, places := c.Places()
	for name := range places {
		p.names = append(p.names, name)
	}
	return nil
}

func (p *managedPool) Keep(_, name string) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, name)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.release++
	}
}

// managed opens a program whose pool is m.
func (p place) managed(m *managedPool) *program {
	p.t.Helper()
	m.fakePool = &fakePool{selected: map[string]string{}}
	x := p.open(func(o *Options) {
		o.Pool = func(*event.Bus, *config.Config) (Pool, error) { return m, nil }
	})
	x.pool = m.fakePool
	return x
}

// Back ends that are edited while the program runs reach the pool at once, and none of their keys
// waits for the next start.
func TestEditedBackEndsReachThePool(t *testing.T) {
	p := newPlace(t)
	pool := &managedPool{}
	x := p.managed(pool)
	defer x.close()
	p.write("terminal:\n  idle_ttl: 5m\n  backends:\n    box: {workdir: /work, timeout: 5m}\n")
	told := wait[event.ConfigReloaded](x, nil)
	if !slices.Contains(told.Changed, "terminal.backends.box.timeout") || !slices.Contains(told.Changed, "terminal.idle_ttl") {
		t.Errorf("at once: %q", told.Changed)
	}
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if slices.Sort(pool.names); !slices.Equal(pool.names, []string{"box", "default"}) {
		t.Errorf("the pool has %q", pool.names)
	}
}

// While somebody is asked about a command, its back end is held up.
func TestABackEndIsKeptWhileAPersonIsAsked(t *testing.T) {
	p := newPlace(t)
	pool := &managedPool{}
	x := p.managed(pool)
	defer x.close()
	if err := x.Submit(context.Background(), "u", agent.Input{From: chat.Person(), Text: "$ rm -r build"}); err != nil {
		t.Fatal(err)
	}
	wait[event.TurnEnded](x, nil)
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if len(pool.kept) == 0 || pool.kept[0] != "here" || pool.release != len(pool.kept) {
		t.Errorf("kept %q, released %d times", pool.kept, pool.release)
	}
}
