package ui

import (
	"context"
	"sync/atomic"
	"time"

	"hermes/core/event"
)

// bridge carries events from the bus to the event loop: one batch a frame, the first at once. While
// the loop is blocked (an editor has the terminal) the mailbox merges what comes, and one batch
// brings it all.
type bridge struct {
	bus  *event.Bus
	box  *event.Mailbox
	seen atomic.Uint64 // everything up to here is on the screen
	gap  atomic.Int64  // nanoseconds between two batches
	row  int           // heavy frames in a row
}

const (
	// heavyFrame is how many bytes make a frame that a slow line feels. Behind heavyRow of them, a
	// quarter of a second, frames come less often. A short burst is not held back, so that its end
	// is on the screen at once.
	heavyFrame    = 3000
	heavyRow      = 8
	heavyInterval = 50 * time.Millisecond
)

func newBridge(bus *event.Bus) *bridge {
	b := &bridge{bus: bus, box: bus.Subscribe(event.Limits{})}
	b.seen.Store(bus.Seq())
	b.gap.Store(int64(frameInterval))
	return b
}

// noteFrameBytes hears how many bytes a frame took. The event loop calls it.
func (b *bridge) noteFrameBytes(bytes int) {
	gap := frameInterval
	b.row++
	if bytes <= heavyFrame {
		b.row = 0
	}
	if b.row >= heavyRow {
		gap = heavyInterval
	}
	b.gap.Store(int64(gap))
}

// sendBatches sends batches until ctx ends or the mailbox is closed. send may block.
func (b *bridge) sendBatches(ctx context.Context, send func(batch)) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-b.box.Ready():
			if !ok {
				return
			}
		}
		upTo := b.bus.Seq()
		events := b.box.Drain()
		if len(events) == 0 {
			continue
		}
		send(batch{events, func() { b.seen.Store(upTo) }})
		pause.Reset(time.Duration(b.gap.Load()))
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// isCaughtUp reports whether everything published is on the screen.
func (b *bridge) isCaughtUp() bool { return b.seen.Load() >= b.bus.Seq() }
