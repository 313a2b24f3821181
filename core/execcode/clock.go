package execcode

import (
	"sync"
	"time"
)

// clock is a deadline that stands still while a person is asked.
type clock struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time // when it last began to run
	waits int       // questions that are open
	timer *time.Timer
	C     chan struct{} // closed when the time is over
}

func newClock(d time.Duration) *clock {
	c := &clock{left: d, since: time.Now(), C: make(chan struct{})}
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
func (c *clock) reportOver() {
	select {
	case <-c.C:
	default:
		close(c.C)
	}
}

// pauseWhile stops the clock, or lets it go on when nothing is waited for any more.
func (c *clock) pauseWhile(begins bool) {
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

func (c *clock) stop() { c.timer.Stop() }
