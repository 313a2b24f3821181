package runner

import "hermes/core/secret"

// capture keeps the first 40 % and the last 60 % of max bytes, and hands the whole to a spill file
// once it is more than max.
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

func (c *capture) keepBytes(data []byte) {
	if c.spill != nil && c.total+int64(len(data)) > int64(c.max) {
		if c.total <= int64(c.max) {
			c.spill.write(c.keptBytes()) // complete so far
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

// keptBytes returns what was kept, in order.
func (c *capture) keptBytes() []byte {
	out := make([]byte, 0, len(c.head)+len(c.tail))
	out = append(out, c.head...)
	out = append(out, c.tail[c.next:]...)
	return append(out, c.tail[:c.next]...)
}

func (c *capture) text() string { return string(c.keptBytes()) }

// hideCutSecrets keeps a secret that the cut went through from showing its two halves.
func (r *Result) hideCutSecrets() {
	if !secret.Enabled() {
		return
	}
	head, tail := secret.Pieces(string(r.Output[:r.Cut]), string(r.Output[r.Cut:]))
	r.Output, r.Cut = append([]byte(head), tail...), len(head)
}

// writeResult ends the capture and enters what it kept into a result.
func (c *capture) writeResult(res *Result) {
	res.Output, res.Total = c.keptBytes(), c.total
	if res.Truncated = c.total > int64(len(res.Output)); res.Truncated {
		res.Cut = len(c.head)
		res.hideCutSecrets()
	}
	res.Spill, res.Warnings = c.spill.close(res.Warnings)
	res.SpillCut = res.Spill != "" && c.spill.isCut()
}
