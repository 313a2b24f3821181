package stream

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// silence is the cause with which a watchdog ends a call.
type silence struct {
	after time.Duration
	what  string
	hint  string
}

func (s *silence) Error() string { return fmt.Sprintf("%s %s", s.what, s.after) }

// watchdog cancels a call when nothing comes in time. It rests while the consumer works on a chunk.
type watchdog struct {
	timer *time.Timer
	now   atomic.Pointer[silence]
}

func newWatchdog(cancel context.CancelCauseFunc) *watchdog {
	d := &watchdog{}
	d.timer = time.AfterFunc(time.Hour, func() { cancel(d.now.Load()) })
	d.timer.Stop()
	return d
}

// arm gives the call so much time from now on.
func (d *watchdog) arm(after time.Duration, what string) {
	d.now.Store(&silence{after, what, "it may pass"})
	d.timer.Reset(after)
}

func (d *watchdog) stop() { d.timer.Stop() }
