// Package deadline is a time limit that stands still while a person is asked: for scripts and for
// procedures.
package deadline

import (
	"context"
	"sync"
	"time"
)

// Clock is a deadline that stands still while a person is asked.
type Clock struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time // when it last began to run
	waits int       // questions that are open
	timer *time.Timer
	C     chan struct{} // closed when the time is over
}

// New starts a clock.
func New(d time.Duration) *Clock {
	c := &Clock{left: d, since: time.Now(), C: make(chan struct{})}
	c.timer = time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.waits == 0 && time.Since(c.since) >= c.left {
			c.reportOver()
		}
	})
	return c
}

// reportOver says that the time is over, once.
func (c *Clock) reportOver() {
	select {
	case <-c.C:
	default:
		close(c.C)
	}
}

// PauseWhile stops the clock, or lets it go on when nothing is waited for any more.
func (c *Clock) PauseWhile(begins bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case begins:
		if c.waits++; c.waits == 1 {
			c.left -= time.Since(c.since)
			c.timer.Stop()
		}
	case c.waits > 0:
		if c.waits--; c.waits == 0 {
			c.since = time.Now()
			c.timer.Reset(max(0, c.left))
		}
	}
}

// Stop ends it without a word.
func (c *Clock) Stop() { c.timer.Stop() }

// Sleep waits, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
