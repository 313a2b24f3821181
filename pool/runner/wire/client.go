package wire

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes/pool/runner"
)

// Client runs commands on the other side of a stream. All methods are safe for concurrent use.
type Client struct {
	link *link
	opt  Options
	info Info
	tag  string // in the names of spill files
	gone chan error
	over chan struct{}  // closed when the reader has ended
	ends sync.WaitGroup // of background commands; only the reader adds

	mu     sync.Mutex
	calls  map[uint32]*call
	last   uint32
	closed bool
}

func newClient(l *link, o Options, i Info) *Client {
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	return &Client{
		link: l, opt: o, info: i, tag: hex.EncodeToString(id), calls: map[uint32]*call{},
		gone: make(chan error, 1), over: make(chan struct{}),
	}
}

// Info is what the other side said about itself.
func (c *Client) Info() Info { return c.info }

// Gone receives one cause when the stream is lost, and is then closed. Close closes it without one.
func (c *Client) Gone() <-chan error { return c.gone }

// Run runs a command to its end, as runner.Runner.Run does. Cancelling ctx ends its whole tree and
// returns the partial result; when the other side does not answer that within the grace and 3 s, an
// error says so. Next to a *Lost there is the output so far.
func (c *Client) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if err := ctx.Err(); err != nil {
		return runner.Result{}, &NotStarted{fmt.Errorf("the command was not started: %w", err)}
	}
	k, err := c.beginCall(ctx.Done(), &order{spec: s}, false)
	if err != nil {
		return runner.Result{}, err
	}
	defer c.removeCall(k)
	if err := k.awaitEnd(ctx, s.Timeout); err != nil {
		return k.partialResult(), err
	}
	res := k.end.res
	k.intake.Close(&res)
	if res.Interrupted && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		res.Interrupted, res.TimedOut, res.ExitCode = false, true, runner.ExitTimeout
	}
	return res, nil
}

// Start starts a command in the background, and returns when it runs. Its output is kept in a ring
// on our side.
func (c *Client) Start(s runner.Spec) (*Process, error) {
	k, err := c.beginCall(nil, &order{spec: s, background: true}, s.Channel)
	if err != nil {
		return nil, err
	}
	t := time.NewTimer(startPatience)
	defer t.Stop()
	select {
	case <-k.started:
	case <-k.done:
		if k.err != nil {
			return nil, k.err
		}
	case <-t.C:
		c.link.queueFrame(kindCancel, k.id)
		c.removeCall(k)
		return nil, fmt.Errorf("the other side has not said within %v whether the command started; it may run", startPatience)
	}
	return &Process{call: k}, nil
}

// startPatience is how long a start may take: it waits for a fork only.
const startPatience = time.Minute

// beginCall sends a command on its way. With an error it did not begin.
func (c *Client) beginCall(give <-chan struct{}, o *order, channel bool) (*call, error) {
	o.input = o.spec.Stdin != nil || o.spec.Live
	body := o.encode()
	if len(body) > maxStart {
		return nil, fmt.Errorf("the command and its environment are too large: %d bytes, %d at most; give data by standard input", len(body), maxStart)
	}
	k, err := c.addCall(o, channel)
	if err != nil {
		return nil, &NotStarted{err}
	}
	if !c.link.queueWhenRoom(give, kindStart, k.id, body) {
		c.removeCall(k)
		if err = c.link.endCause(); err == nil {
			err = errors.New("it was interrupted before it was sent")
		}
		return nil, &NotStarted{fmt.Errorf("the command was not started: %w", err)}
	}
	if o.spec.Stdin != nil && !o.spec.Live {
		k.sendWholeInput(o.spec.Stdin)
	}
	return k, nil
}

func (c *Client) addCall(o *order, channel bool) (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("the command was not started: %w", ErrClosed)
	}
	if err := c.link.endCause(); err != nil {
		return nil, fmt.Errorf("the command was not started: %w", err)
	}
	for {
		c.last++
		if _, taken := c.calls[c.last]; !taken && c.last != 0 {
			break
		}
	}
	k := newCall(c, c.last, o, channel)
	c.calls[k.id] = k
	return k, nil
}

func (c *Client) removeCall(k *call) {
	c.mu.Lock()
	delete(c.calls, k.id)
	c.mu.Unlock()
	k.input.close()
}

func (c *Client) findCall(id uint32) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[id]
}

// readFrames hands out what comes, and in the end tells all calls that nothing comes any more.
func (c *Client) readFrames() {
	defer close(c.over)
	for {
		f, err := c.link.nextFrame()
		if err == nil {
			err = c.handleFrame(f)
		}
		if err != nil {
			c.link.endWith(err)
			break
		}
	}
	cause := c.link.endCause()
	c.mu.Lock()
	calls, closed := c.calls, c.closed
	c.calls = map[uint32]*call{}
	c.mu.Unlock()
	for _, k := range calls {
		k.loseConnection(cause)
	}
	if !closed {
		c.gone <- cause
	}
	close(c.gone)
}

func (c *Client) handleFrame(f frame) error {
	if f.call == 0 {
		return c.handleLinkFrame(f)
	}
	k := c.findCall(f.call)
	if k == nil {
		return nil // it was given up meanwhile
	}
	return k.handleFrame(f)
}

// handleLinkFrame handles what is about the connection.
func (c *Client) handleLinkFrame(f frame) error {
	switch f.kind {
	case kindBeat:
		return nil
	case kindBye:
		return fmt.Errorf("the runner on the other side ended: %.200q", f.body)
	default:
		return errGarbled
	}
}

// Close ends the commands of this connection, waits for that until ctx is done, and closes the
// stream. The far program ends when it was the last connection.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	was := c.closed
	c.closed = true
	c.mu.Unlock()
	var err error
	if !was && c.link.endCause() == nil {
		c.link.queueFrame(kindBye, 0)
		select {
		case <-c.over:
		case <-ctx.Done():
			err = fmt.Errorf("the other side did not end its commands in time; it does so by itself now: %w", ctx.Err())
		}
	}
	c.link.endWith(ErrClosed)
	<-c.over
	<-c.link.flushed
	c.ends.Wait()
	return err
}
