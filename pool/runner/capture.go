package runner

import "hermes/core/secret"

// capture keeps the first 40 % and the last 60 % of max bytes, and hands the whole to a spill file once it is more than max.
type capture struct {
	max   int
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring is written next
	total int64
	spill *spill
}

func newCapture(limit int) *capture { return &capture{max: limit} }

func (c *capture) headMax() int { return c.max * 2 / 5 }

func (c *capture) put(data []byte) {
	if c.spill != nil && c.total+int64(len(data)) > int64(c.max) {
		if c.total <= int64(c.max) {
			c.spill.write(c.bytes()) // complete so far
		}
		c.spill.write(data)
	}
	c.total += int64(len(data))
	if room := c.headMax() - len(c.head); room > 0 {
		n := min(room, len(data))
		c.head = append(c.head, data[:n]...)
		data = data[n:]
	}
	c.putTail(data)
}

func (c *capture) putTail(data []byte) {
	size := c.max - c.headMax()
	if len(data) > size {
		data = data[len(data)-size:]
	}
	if room := size - len(c.tail); room > 0 {
		n := min(room, len(data))
		c.tail = append(c.tail, data[:n]...)
		data = data[n:]
	}
	for len(data) > 0 {
		n := copy(c.tail[c.next:], data)
		c.next = (c.next + n) % size
		data = data[n:]
	}
}

// bytes returns what was kept, in order.
func (c *capture) bytes() []byte {
	out := make([]byte, 0, len(c.head)+len(c.tail))
	out = append(out, c.head...)
	out = append(out, c.tail[c.next:]...)
	return append(out, c.tail[:c.next]...)
}

// whole keeps a secret that the cut went through from showing its two halves.
func (r *Result) whole() {
	if !secret.Enabled() {
		return
	}
	head, tail := secret.Pieces(string(r.Output[:r.Cut]), string(r.Output[r.Cut:]))
	r.Output, r.Cut = append([]byte(head), tail...), len(head)
}

// into ends the capture and enters what it kept into a result.
func (c *capture) into(res *Result) {
	res.Output, res.Total = c.bytes(), c.total
	if res.Truncated = c.total > int64(len(res.Output)); res.Truncated {
		res.Cut = len(c.head)
		res.whole()
	}
	res.Spill, res.Warnings = c.spill.close(res.Warnings)
}
