package event

import (
	"sync"
	"sync/atomic"
	"time"
)

// Bus gives every event its sequence number and puts it into every subscriber's Mailbox.
// The zero value is not usable; call NewBus. All methods are safe for concurrent use.
type Bus struct {
	mu    sync.Mutex
	seq   uint64
	boxes []*Mailbox
	now   func() time.Time
	clean atomic.Pointer[func(Event) Event]
}

// NewBus returns a bus without subscribers.
func NewBus() *Bus { return &Bus{now: time.Now} }

// Filter sets what every event goes through before anybody gets it. It must not change what the
// event points to.
func (b *Bus) Filter(f func(Event) Event) { b.clean.Store(&f) }

// Publish stamps e with the next sequence number and hands it to every subscriber. It never blocks
// on a subscriber and never drops. It returns the envelope as subscribers get it.
func (b *Bus) Publish(h Header, e Event) Envelope {
	if f := b.clean.Load(); f != nil {
		e = (*f)(e)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq++
	h.Seq = b.seq
	if h.At.IsZero() {
		h.At = b.now()
	}
	env := Envelope{Header: h, Event: e}
	for _, m := range b.boxes {
		m.putNext(env)
	}
	return env
}

// Subscribe returns a mailbox that receives every event published from now on.
// Close it when done; a mailbox that is never drained costs at most Limits of memory.
func (b *Bus) Subscribe(l Limits) *Mailbox {
	m := newMailbox(b, l)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.boxes = append(b.boxes, m)
	return m
}

// Seq returns the sequence number of the newest event.
func (b *Bus) Seq() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

func (b *Bus) unsubscribe(m *Mailbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, x := range b.boxes {
		if x == m {
			b.boxes = append(b.boxes[:i:i], b.boxes[i+1:]...)
			return
		}
	}
}
