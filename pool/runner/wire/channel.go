package wire

import (
	"io"
	"sync"
)

// channel is our end of the socket of a command with Spec.Channel.
type channel struct {
	k   *call
	in  *queue
	out *window

	mu     sync.Mutex // of one reader
	rest   []byte
	taken  meter
	closed chan struct{}
	once   sync.Once
}

func newChannel(k *call) *channel {
	return &channel{k: k, in: newQueue(false), out: newWindow(), closed: make(chan struct{})}
}

// frameArrived is called by the reader of the connection.
func (c *channel) frameArrived(f frame) bool {
	if f.kind == kindChannelEnd {
		c.in.closeInput()
		return true
	}
	return c.in.putCopy(0, f.body)
}

// Read reads what the command wrote; io.EOF once nobody there has the socket any more, or the
// command has ended.
func (c *channel) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rest) == 0 {
		p, ok := c.in.takeNext()
		if !ok {
			return 0, io.EOF
		}
		c.rest = p.data
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	if due := c.taken.creditDue(n); due > 0 {
		c.k.c.link.queueFrame(kindCredit, c.k.id, encodeCredit(flowChannel, due))
	}
	return n, nil
}

// Write writes to the command.
func (c *channel) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n := c.out.takeCredit(min(len(b)-done, maxData), c.closed)
		if n == 0 || !c.k.c.link.queueWhenRoom(c.closed, kindChannel, c.k.id, b[done:done+n]) {
			return done, io.ErrClosedPipe
		}
		done += n
	}
	return done, nil
}

// Close closes our end: the command reads an end of file.
func (c *channel) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.in.dropAll()
		c.k.c.link.queueFrame(kindChannelEnd, c.k.id)
	})
	return nil
}
