package runner

import (
	"sync"

	"hermes/core/confine"
)

// cells are the threads that fork confined commands, one for each policy: a thread is restricted once, before its first fork, and its
// children inherit that. So a confined command costs no more than another one. A cell lives on while it has children, because
// those die with their thread; the newest cell of each policy waits for the next command.
type cells struct {
	mu     sync.Mutex
	closed bool
	byKey  map[string]*cell
}

type cell struct {
	spawner
	key  string
	live int  // children
	old  bool // another one took its place
}

const maxCells = 8

// get returns the cell of a policy, for one child: leave must be called once.
func (c *cells) get(p confine.Policy) (*cell, error) {
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
	n.enter = p.Enter
	n.once.Do(n.begin)
	if n.failed != nil {
		n.close()
		return nil, n.failed
	}
	if len(c.byKey) >= maxCells {
		c.retire()
	}
	if c.byKey == nil {
		c.byKey = map[string]*cell{}
	}
	c.byKey[key] = n
	return n, nil
}

// retire makes room: every cell ends when its last child has.
func (c *cells) retire() {
	for key, x := range c.byKey {
		delete(c.byKey, key)
		x.old = true
		if x.live == 0 {
			x.close()
		}
	}
}

func (c *cells) leave(x *cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.live--
	if x.old && x.live == 0 {
		x.close()
	}
}

func (c *cells) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.retire()
}
