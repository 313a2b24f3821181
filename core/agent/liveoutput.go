package agent

import (
	"sync"

	"hermes/core/event"
	"hermes/core/secret"
)

// liveOutput publishes what a call says, with the offsets that make gaps visible. What the call
// itself says counts until it is closed; what it left running in the background may go on. It holds
// no turn: a server may run for days.
type liveOutput struct {
	bus    *event.Bus
	header event.Header
	call   string

	mu      sync.Mutex
	offsets map[event.Stream]int64
	clean   map[event.Stream]*secret.Stream // what is said may be cut anywhere
	closed  bool
}

func newLiveOutput(t *turn, j *toolJob) *liveOutput {
	return &liveOutput{
		bus: t.a.d.Bus, header: event.Header{Session: t.w.uid, Turn: t.id, Parent: j.up}, call: j.call.ID, offsets: map[event.Stream]int64{},
		clean: map[event.Stream]*secret.Stream{},
	}
}

func (l *liveOutput) writeOpen(s event.Stream, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.publishClean(s, data)
	}
}

func (l *liveOutput) writeLate(s event.Stream, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.publishClean(s, data)
}

func (l *liveOutput) publishClean(s event.Stream, data []byte) {
	if l.clean[s] == nil {
		l.clean[s] = &secret.Stream{}
	}
	l.sendOutput(s, l.clean[s].Write(data))
}

func (l *liveOutput) sendOutput(s event.Stream, data []byte) {
	if len(data) == 0 {
		return
	}
	l.bus.Publish(l.header, event.ToolOutput{CallID: l.call, Stream: s, Offset: l.offsets[s], Data: data})
	l.offsets[s] += int64(len(data))
}

func (l *liveOutput) publishEvent(e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		header := l.header
		header.Parent = l.call
		l.bus.Publish(header, e)
	}
}

// close ends what the call itself says and reports whether it was open.
func (l *liveOutput) close() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := !l.closed
	if was {
		for s, c := range l.clean {
			l.sendOutput(s, c.Flush())
		}
	}
	l.closed = true
	return was
}
