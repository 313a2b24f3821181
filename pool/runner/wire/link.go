package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"hermes/core/crash"
)

// link is one side of a stream: a queue of frames to be written, by a goroutine of its own, so that
// neither the reader of the stream nor a command ever waits for the other side to read; a sign of
// life now and then; and one end, with one cause.
type link struct {
	rw   io.ReadWriteCloser
	in   frames
	dead chan struct{} // closed when the stream is of no use any more

	mu      sync.Mutex
	out     []byte
	room    chan struct{} // closed when out was taken; nil while nobody waits for that
	cause   error         // set before dead is closed
	heard   time.Time
	last    bool // what is in out is all that will be written
	wake    chan struct{}
	flushed chan struct{} // closed when the writer has ended
}

const (
	highWater = 256 << 10 // beyond this, who sends data waits
	lastWater = 64 << 20  // beyond this, the other side has not read for so long that something is wrong
)

func newLink(rw io.ReadWriteCloser) *link {
	l := &link{
		rw: rw, in: frames{from: bufio.NewReaderSize(rw, maxData)}, dead: make(chan struct{}),
		heard: time.Now(), wake: make(chan struct{}, 1), flushed: make(chan struct{}),
	}
	crash.Go("wire write", l.writeQueued)
	return l
}

// queueFrame queues a frame without waiting: for the small ones, whose number is bounded by that of
// the calls.
func (l *link) queueFrame(k kind, call uint32, body ...[]byte) {
	l.mu.Lock()
	l.queueLocked(k, call, body...)
	full := len(l.out) > lastWater
	l.mu.Unlock()
	if full {
		l.endWith(errors.New("the other side does not read"))
	}
}

// queueBytes queues bytes that are not a frame: what comes before the first one.
func (l *link) queueBytes(data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = append(l.out, data...)
}

// queueLocked is called under the lock.
func (l *link) queueLocked(k kind, call uint32, body ...[]byte) {
	if l.cause != nil || l.last {
		return
	}
	l.out = appendFrame(l.out, k, call, body...)
	l.wakeWriter()
}

func (l *link) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// queueWhenRoom queues a frame when there is room for it. It returns false when give closed, or the
// link died, first: then nothing was queued.
func (l *link) queueWhenRoom(give <-chan struct{}, k kind, call uint32, body ...[]byte) bool {
	for {
		l.mu.Lock()
		if l.cause != nil || l.last {
			l.mu.Unlock()
			return false
		}
		if len(l.out) < highWater {
			l.queueLocked(k, call, body...)
			l.mu.Unlock()
			return true
		}
		if l.room == nil {
			l.room = make(chan struct{})
		}
		room := l.room
		l.mu.Unlock()
		select {
		case <-room:
		case <-give:
			return false
		case <-l.dead:
			return false
		}
	}
}

// writeQueued writes what is queued. Two buffers take turns.
func (l *link) writeQueued() {
	defer close(l.flushed)
	var spare []byte
	for {
		select {
		case <-l.wake:
		case <-l.dead:
			return
		}
		l.mu.Lock()
		data, last := l.out, l.last
		l.out = spare[:0]
		if l.room != nil {
			close(l.room)
			l.room = nil
		}
		l.mu.Unlock()
		if len(data) > 0 {
			if _, err := l.rw.Write(data); err != nil {
				l.endWith(fmt.Errorf("writing to the other side: %w", err))
				return
			}
		}
		if last {
			return
		}
		if spare = data; cap(spare) > 4*highWater {
			spare = nil
		}
	}
}

// nextFrame reads a frame.
func (l *link) nextFrame() (frame, error) {
	f, err := l.in.nextFrame()
	if err == nil {
		l.mu.Lock()
		l.heard = time.Now()
		l.mu.Unlock()
	}
	return f, err
}

// keepAlive gives signs of life every beat, and ends the link when the other side gives none.
func (l *link) keepAlive(beat time.Duration) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	before := time.Now()
	for {
		select {
		case <-l.dead:
			return
		case <-tick.C:
		}
		l.queueFrame(kindBeat, 0)
		now := time.Now()
		l.mu.Lock()
		if now.Sub(before) > 2*beat {
			l.heard = now // it was we who slept
		}
		silent := now.Sub(l.heard)
		l.mu.Unlock()
		before = now
		if silent > 3*beat {
			l.endWith(fmt.Errorf("the other side has not given a sign of life for %v", silent.Round(beat/10)))
		}
	}
}

// endWith ends the link; the first cause stays.
func (l *link) endWith(cause error) {
	l.mu.Lock()
	if l.cause != nil {
		l.mu.Unlock()
		return
	}
	l.cause = cause
	close(l.dead)
	l.mu.Unlock()
	_ = l.rw.Close()
}

// flushAndEnd writes what is queued, waiting for that at most d, and then ends the link.
func (l *link) flushAndEnd(d time.Duration, cause error) {
	l.mu.Lock()
	l.last = true
	l.wakeWriter()
	l.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.flushed:
	case <-l.dead:
	case <-t.C:
	}
	l.endWith(cause)
}

// endCause is the cause of the end; nil while it lives.
func (l *link) endCause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}
