package event

import (
	"context"
	"sync"
)

// Limits bound what one Mailbox may hold.
type Limits struct {
	Events int // waiting envelopes; past it the mailbox becomes one Resync. 0 means 16,384
	Bytes  int // bytes of text and output that wait; likewise. 0 means 32 MiB
	Output int // bytes waiting of one tool output stream; past it the oldest are cut and Offset moves. 0 means 256 KiB
}

func (l Limits) withDefaults() Limits {
	if l.Events <= 0 {
		l.Events = 16_384
	}
	if l.Bytes <= 0 {
		l.Bytes = 32 << 20
	}
	if l.Output <= 0 {
		l.Output = 256 << 10
	}
	return l
}

// Mailbox is one subscriber's queue. Deltas merge in place while they wait, so that a slow
// subscriber costs memory by live streams and not by time.
type Mailbox struct {
	bus    *Bus
	limits Limits
	ready  chan struct{} // one slot: something waits

	mu      sync.Mutex
	queue   []pending
	open    map[openKey]int // deltas that may still grow: index in queue
	bytes   int
	resync  int // events given up; > 0 means that queue is just a Resync
	lastSeq uint64
	closed  bool
}

// pending is a waiting envelope. Appending deltas gather their bytes in buf until Drain.
type pending struct {
	env Envelope
	buf []byte
}

// openKey names a delta that may merge. A fact of a session closes all keys of that session.
type openKey struct {
	session string
	key     deltaKey
}

func newMailbox(b *Bus, l Limits) *Mailbox {
	return &Mailbox{bus: b, limits: l.withDefaults(), ready: make(chan struct{}, 1), open: map[openKey]int{}}
}

// Ready returns a channel that receives once something waits. It has one slot: drain until empty
// after each receive.
func (m *Mailbox) Ready() <-chan struct{} { return m.ready }

// Drain takes everything that waits, in sequence order of each entry's first event. It returns nil
// when nothing waits.
func (m *Mailbox) Drain() []Envelope {
	m.mu.Lock()
	queue, lost, seq := m.queue, m.resync, m.lastSeq
	m.queue, m.bytes, m.resync = nil, 0, 0
	clear(m.open)
	m.mu.Unlock()
	if lost > 0 {
		return []Envelope{{Header: Header{Seq: seq, At: m.bus.now()}, Event: Resync{Dropped: lost}}}
	}
	if len(queue) == 0 {
		return nil
	}
	out := make([]Envelope, len(queue))
	for i, p := range queue {
		out[i] = p.toEnvelope()
	}
	return out
}

// Next waits for events and drains them. It returns ctx's error, or nil, nil once the mailbox is
// closed and empty.
func (m *Mailbox) Next(ctx context.Context) ([]Envelope, error) {
	for {
		if out := m.Drain(); out != nil {
			return out, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case _, ok := <-m.ready:
			if !ok {
				return m.Drain(), nil
			}
		}
	}
}

// Close ends the subscription and wakes Next. What waits can still be drained.
func (m *Mailbox) Close() {
	m.bus.unsubscribe(m)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		close(m.ready)
	}
}

// putNext is called by the bus in sequence order.
func (m *Mailbox) putNext(env Envelope) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.lastSeq = env.Seq
	switch {
	case m.resync > 0:
		m.resync++
	default:
		m.addEnvelope(env)
		if len(m.queue) > m.limits.Events || m.bytes > m.limits.Bytes {
			m.giveUp()
		}
	}
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

func (m *Mailbox) giveUp() {
	m.resync = len(m.queue)
	m.queue, m.bytes = nil, 0
	clear(m.open)
}

func (m *Mailbox) addEnvelope(env Envelope) {
	d, ok := env.Event.(Delta)
	if !ok {
		m.closeKeys(env.Session)
		m.bytes += weightOf(env.Event)
		m.queue = append(m.queue, pending{env: env})
		return
	}
	k := openKey{env.Session, d.key()}
	if i, ok := m.open[k]; ok && m.mergeInto(&m.queue[i], env) {
		return
	}
	p := newPending(env, m.limits.Output)
	m.bytes += len(p.buf)
	m.open[k] = len(m.queue)
	m.queue = append(m.queue, p)
}

// closeKeys stops deltas from merging backwards over a fact of session.
// A fact without a session concerns everybody and closes every key.
func (m *Mailbox) closeKeys(session string) {
	if session == "" {
		clear(m.open)
		return
	}
	for k := range m.open {
		if k.session == session || k.session == "" {
			delete(m.open, k)
		}
	}
}

// mergeInto puts env into p and reports whether it could.
func (m *Mailbox) mergeInto(p *pending, env Envelope) bool {
	before := len(p.buf)
	if !p.mergeDelta(env, m.limits.Output) {
		return false
	}
	m.bytes += len(p.buf) - before
	return true
}
