package runner

import (
	"fmt"
	"sync"
	"time"

	"hermes/core/crash"
)

// feed hands output to a Sink from one goroutine, through a bounded queue: a Sink that is too slow
// loses the oldest bytes that wait (what it shows is then the beginning and the end) and is told
// how many.
type feed struct {
	sink Sink
	done chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	queue   []piece
	size    int
	lost    int64
	running bool
	closed  bool
	dead    bool // the call has returned: the Sink must not be called any more
}

type piece struct {
	stream Stream
	data   []byte
}

const feedMax = 1 << 20

func newFeed(s Sink) *feed {
	if s == nil {
		return nil
	}
	return &feed{sink: s, done: make(chan struct{})}
}

func (f *feed) queueData(s Stream, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := len(f.queue) - 1; last >= 0 && f.queue[last].stream == s && len(f.queue[last].data) < chunkSize {
		f.queue[last].data = append(f.queue[last].data, data...)
	} else {
		f.queue = append(f.queue, piece{s, append([]byte(nil), data...)})
	}
	f.size += len(data)
	for f.size > feedMax {
		f.size -= len(f.queue[0].data)
		f.lost += int64(len(f.queue[0].data))
		f.queue = f.queue[1:]
	}
	if !f.running {
		f.running = true
		crash.Go("runner sink", f.deliverAll)
	}
}

// deliverAll delivers until nothing waits. It ends then: a command that is silent costs no
// goroutine.
func (f *feed) deliverAll() {
	for {
		p, ok := f.nextPiece()
		if !ok {
			return
		}
		f.sink(p.stream, p.data)
	}
}

func (f *feed) nextPiece() (piece, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead || (len(f.queue) == 0 && f.lost == 0) {
		f.running = false
		if f.closed {
			close(f.done)
		}
		return piece{}, false
	}
	if f.lost > 0 {
		note := fmt.Sprintf("\n[%d bytes not shown here: output came faster than it could be shown]\n", f.lost)
		f.lost = 0
		return piece{Note, []byte(note)}, true
	}
	p := f.queue[0]
	f.queue = f.queue[1:]
	f.size -= len(p.data)
	return p, true
}

// close waits up to d for the Sink to get the rest. A Sink that blocks for longer gets nothing more
// after the call that it is in.
func (f *feed) close(d time.Duration) {
	f.mu.Lock()
	f.closed = true
	idle := !f.running
	f.mu.Unlock()
	if idle || closesWithin(d, f.done) {
		return
	}
	f.mu.Lock()
	f.dead = true
	f.mu.Unlock()
}
