package wire

import (
	"fmt"
	"sync"

	"hermes/pool/runner"
)

// queue holds bytes between the reader of a connection, which never waits, and somebody who does.
type queue struct {
	mu     sync.Mutex
	wake   sync.Cond
	pieces []piece
	size   int
	lost   int64
	drops  bool // beyond a megabyte the oldest is dropped, and a note says so
	shut   bool // nothing comes any more
	dead   bool // nobody wants the rest
}

type piece struct {
	stream runner.Stream
	data   []byte
}

const backlogMax = 1 << 20

func newQueue(drops bool) *queue {
	q := &queue{drops: drops}
	q.wake.L = &q.mu
	return q
}

// putCopy takes a copy. It returns false when more waits than a window allows: the sender does not
// keep to the rules.
func (q *queue) putCopy(s runner.Stream, data []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shut || q.dead {
		return true
	}
	if !q.drops && q.size+len(data) > windowSize {
		return false
	}
	if last := len(q.pieces) - 1; last >= 0 && q.pieces[last].stream == s && len(q.pieces[last].data)+len(data) <= maxData {
		q.pieces[last].data = append(q.pieces[last].data, data...)
	} else {
		q.pieces = append(q.pieces, piece{s, append([]byte(nil), data...)})
	}
	q.size += len(data)
	for q.drops && q.size > backlogMax {
		q.lost += int64(len(q.pieces[0].data))
		q.size -= len(q.pieces[0].data)
		q.pieces = q.pieces[1:]
	}
	q.wake.Signal()
	return true
}

// takeNext waits for the next piece; false means that none comes.
func (q *queue) takeNext() (piece, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pieces) == 0 && q.lost == 0 && !q.shut && !q.dead {
		q.wake.Wait()
	}
	if q.dead {
		return piece{}, false
	}
	if q.lost > 0 {
		note := fmt.Sprintf("\n[%d bytes lost here: the connection was slower than the output]\n", q.lost)
		q.lost = 0
		return piece{runner.Note, []byte(note)}, true
	}
	if len(q.pieces) == 0 {
		return piece{}, false
	}
	p := q.pieces[0]
	q.pieces = q.pieces[1:]
	q.size -= len(p.data)
	return p, true
}

// closeInput says that nothing comes any more; what waits can still be taken.
func (q *queue) closeInput() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shut = true
	q.wake.Broadcast()
}

// dropAll throws away what waits as well.
func (q *queue) dropAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dead, q.pieces, q.size = true, nil, 0
	q.wake.Broadcast()
}
