package execcode

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"hermes/core/event"
)

// window keeps the first 40 % and the last 60 % of what is written to it, or the tail alone. Its
// memory is bounded by limit.
type window struct {
	limit int
	first int // bytes of the head
	head  []byte
	tail  []byte // up to twice its size, cut now and then
	total int64
}

func newWindow(limit int, onlyTail bool) *window {
	w := &window{limit: limit, first: limit * 2 / 5}
	if onlyTail {
		w.first = 0
	}
	return w
}

func (w *window) write(p []byte) {
	w.total += int64(len(p))
	n := min(len(p), w.first-len(w.head))
	w.head, p = append(w.head, p[:n]...), p[n:]
	last := w.limit - w.first
	if len(p) > last {
		w.tail, p = w.tail[:0], p[len(p)-last:]
	}
	w.tail = append(w.tail, p...)
	if len(w.tail) > 2*last {
		w.tail = append(w.tail[:0], w.tail[len(w.tail)-last:]...)
	}
}

// keptText is what was kept; a note stands where something is missing. Characters that the cut went
// through are dropped.
func (w *window) keptText(clean func([]byte) string) string {
	if w.total <= int64(w.limit) {
		return clean(append(append([]byte{}, w.head...), w.tail...))
	}
	tail := w.tail[max(0, len(w.tail)-(w.limit-w.first)):]
	note := fmt.Sprintf("[output truncated at %s]\n", formatSize(w.limit))
	head := clean(trimEnd(w.head))
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head + note + clean(trimStart(tail))
}

func formatSize(n int) string {
	if n%1000 == 0 {
		return fmt.Sprintf("%dKB", n/1000)
	}
	if n%1024 == 0 {
		return fmt.Sprintf("%dKB", n/1024)
	}
	return fmt.Sprintf("%d bytes", n)
}

// trimEnd drops the beginning of a UTF-8 character at the end.
func trimEnd(p []byte) []byte {
	for i := 1; i <= min(3, len(p)); i++ {
		b := p[len(p)-i]
		switch {
		case b >= 0xF0 && i < 4, b >= 0xE0 && b < 0xF0 && i < 3, b >= 0xC0 && b < 0xE0 && i < 2:
			return p[:len(p)-i]
		case b < 0x80 || b >= 0xC0:
			return p
		}
	}
	return p
}

// trimStart drops the end of a UTF-8 character at the start.
func trimStart(p []byte) []byte {
	n := 0
	for n < min(3, len(p)) && p[n] >= 0x80 && p[n] < 0xC0 {
		n++
	}
	return p[n:]
}

// collector takes what one run prints, from both streams, until each of them said the mark.
type collector struct {
	mu       sync.Mutex
	out, err *window
	show     func(event.Stream, []byte)
	mark     []byte // "" when the end of the process is the end
	held     map[event.Stream][]byte
	ended    map[event.Stream]bool
	over     chan struct{} // closed when both streams said the mark
}

func newCollector(l Limits, show func(event.Stream, []byte), mark string) *collector {
	return &collector{
		out: newWindow(l.Stdout, false), err: newWindow(l.Stderr, true), show: show, mark: []byte(mark),
		held: map[event.Stream][]byte{}, ended: map[event.Stream]bool{}, over: make(chan struct{}),
	}
}

func (c *collector) write(s event.Stream, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended[s] {
		return
	}
	if len(c.mark) > 0 {
		p = c.searchMark(s, p)
	}
	c.keepOutput(s, p)
}

// searchMark returns what of p can be told already: all but what may be the beginning of the mark.
func (c *collector) searchMark(s event.Stream, p []byte) []byte {
	if len(c.held[s]) > 0 {
		p = append(c.held[s], p...)
		c.held[s] = nil
	}
	if i := bytes.Index(p, c.mark); i >= 0 {
		c.ended[s] = true
		if c.ended[event.Stdout] && c.ended[event.Stderr] {
			close(c.over)
		}
		return p[:i]
	}
	for n := min(len(p), len(c.mark)-1); n > 0; n-- {
		if bytes.HasSuffix(p, c.mark[:n]) {
			c.held[s] = append([]byte{}, p[len(p)-n:]...)
			return p[:len(p)-n]
		}
	}
	return p
}

func (c *collector) keepOutput(s event.Stream, p []byte) {
	if len(p) == 0 {
		return
	}
	if s == event.Stderr {
		c.err.write(p)
	} else {
		c.out.write(p)
	}
	if c.show != nil {
		c.show(s, p)
	}
}

func (c *collector) texts(clean func([]byte) string) (out, err string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.keptText(clean), c.err.keptText(clean)
}
