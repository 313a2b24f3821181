package runner

import (
	"slices"
	"sync"

	"hermes/core/confine"
)

// cells are the threads that fork confined commands, one for each policy: a thread is restricted
// once, before its first fork, and its children inherit that. So a confined command costs no more
// than another one. A cell lives on while it has children, because those die with their thread; the
// newest cell of each policy waits for the next command.
type cells struct {
	mu     sync.Mutex
	closed bool
	byKey  map[string]*cell
	guards []*confine.Guard // also those of cells that are gone: what their commands left behind may ask
}

type cell struct {
	spawner
	guard *confine.Guard
	key   string
	live  int  // children
	old   bool // another one took its place
}

const maxCells = 8

// takeCell returns the cell of a policy, for one child: leave must be called once.
func (c *cells) takeCell(p confine.Policy) (*cell, error) {
	key := p.Stamp()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if found := c.byKey[key]; found != nil {
		found.live++
		return found, nil
	}
	n := &cell{key: key, live: 1}
	n.enter = func() (err error) { n.guard, err = p.Enter(); return err }
	n.once.Do(n.startThread)
	if n.failed != nil {
		n.close()
		return nil, n.failed
	}
	c.guards = append(slices.DeleteFunc(c.guards, (*confine.Guard).Over), n.guard)
	if len(c.byKey) >= maxCells {
		c.retireAll()
	}
	if c.byKey == nil {
		c.byKey = map[string]*cell{}
	}
	c.byKey[key] = n
	return n, nil
}

// retireAll makes room: every cell ends when its last child has.
func (c *cells) retireAll() {
	for key, x := range c.byKey {
		delete(c.byKey, key)
		x.old = true
		if x.live == 0 {
			x.close()
		}
	}
}

func (c *cells) leaveCell(x *cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.live--
	if x.old && x.live == 0 {
		x.close()
	}
}

func (c *cells) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.retireAll()
	for _, g := range c.guards {
		g.Close()
	}
	c.guards = nil
}
