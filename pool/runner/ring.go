package runner

import "sync"

// ring keeps the last max bytes of a stream under their offsets from its beginning.
type ring struct {
	mu    sync.Mutex
	max   int
	buf   []byte // at most 2*max, so that moving it costs amortised O(1) a byte
	total int64
}

func newRing(limit int) *ring { return &ring{max: limit} }

func (r *ring) keepBytes(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total += int64(len(data))
	if len(data) >= r.max {
		r.buf = append(r.buf[:0], data[len(data)-r.max:]...)
		return
	}
	if len(r.buf)+len(data) > 2*r.max {
		keep := r.max - len(data)
		r.buf = r.buf[:copy(r.buf, r.buf[len(r.buf)-keep:])]
	}
	r.buf = append(r.buf, data...)
}

func (r *ring) text() string {
	data, _, _ := r.read(0, 0)
	return string(data)
}

// clear forgets everything, offsets too.
func (r *ring) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf, r.total = nil, 0
}

// read returns up to limit bytes (0: all) from offset, the offset where they begin, and the offset
// of the stream's end. A negative offset counts from the end; what fell out of the ring is skipped.
func (r *ring) read(offset int64, limit int) (data []byte, start, end int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if offset < 0 {
		offset += r.total
	}
	oldest := r.total - int64(min(len(r.buf), r.max))
	offset = min(max(offset, oldest), r.total)
	have := r.buf[len(r.buf)-int(r.total-offset):]
	if limit > 0 && len(have) > limit {
		have = have[:limit]
	}
	return append([]byte(nil), have...), offset, r.total
}
