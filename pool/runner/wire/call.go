package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes/core/crash"
	"hermes/pool/runner"
)

// call is our side of a command.
type call struct {
	c       *Client
	id      uint32
	intake  *runner.Intake
	output  meter
	input   *window
	channel *channel // nil without
	tty     bool

	background bool
	started    chan struct{}
	done       chan struct{}

	once     sync.Once
	begun    bool
	warnings []string // of the start; set before started is closed
	end      ending   // set before done is closed
	err      error    // likewise: instead of end
}

func newCall(c *Client, id uint32, o *order, withChannel bool) *call {
	k := &call{c: c, id: id, tty: o.spec.Size != nil, background: o.background, input: newWindow(), started: make(chan struct{}), done: make(chan struct{})}
	if o.background {
		k.intake = runner.NewRing(o.spec)
	} else {
		k.intake = runner.NewIntake(o.spec, fmt.Sprintf("%s-%010d", c.tag, id))
	}
	if withChannel {
		k.channel = newChannel(k)
	}
	return k
}

// handleFrame is called by the reader of the connection only, and does not wait.
func (k *call) handleFrame(f frame) error {
	switch f.kind {
	case kindOutput:
		return k.bytesTaken(f.body)
	case kindStarted:
		return k.startedRunning(f.body)
	case kindRefused:
		return k.wasRefused(f.body)
	case kindExit:
		return k.takeResult(f.body)
	case kindCredit:
		return k.addCredit(f.body)
	case kindChannel, kindChannelEnd:
		if k.channel == nil || !k.channel.frameArrived(f) {
			return errGarbled
		}
		return nil
	default:
		return errGarbled
	}
}

func (k *call) bytesTaken(body []byte) error {
	if len(body) == 0 || body[0] > byte(runner.Note) {
		return errGarbled
	}
	k.intake.Put(runner.Stream(body[0]), body[1:])
	if due := k.output.creditDue(len(body) - 1); due > 0 {
		k.c.link.queueFrame(kindCredit, k.id, encodeCredit(flowOutput, due))
	}
	return nil
}

func (k *call) startedRunning(body []byte) error {
	r := &reader{left: body}
	warnings := r.readList()
	if err := r.checkEnd(); err != nil || k.begun {
		return errGarbled
	}
	k.begun, k.warnings = true, warnings
	close(k.started)
	return nil
}

// wasRefused is the end of a call that never began. Only what ends on the other side could begin
// somewhere else.
func (k *call) wasRefused(body []byte) error {
	if k.begun || len(body) == 0 || body[0] > refusedByEnd {
		return errGarbled
	}
	err := errors.New(string(body[1:]))
	if body[0] == refusedByEnd {
		err = &NotStarted{err}
	}
	k.finishOnce(ending{}, err)
	return nil
}

func (k *call) takeResult(body []byte) error {
	e, err := decodeEnding(body)
	if err != nil {
		return err
	}
	if e.err != "" {
		k.finishOnce(e, errors.New(e.err))
	} else {
		k.finishOnce(e, nil)
	}
	return nil
}

func (k *call) addCredit(body []byte) error {
	f, n, err := decodeCredit(body)
	switch {
	case err != nil:
		return err
	case f == flowInput:
		k.input.addCredit(n)
	case f == flowChannel && k.channel != nil:
		k.channel.out.addCredit(n)
	default:
		return errGarbled
	}
	return nil
}

// finishOnce is the end of the call, once.
func (k *call) finishOnce(e ending, err error) {
	k.once.Do(func() {
		k.end, k.err = e, err
		k.c.mu.Lock()
		delete(k.c.calls, k.id)
		k.c.mu.Unlock()
		k.input.close()
		if k.channel != nil {
			k.channel.in.closeInput()
			k.channel.out.close()
		}
		if !k.background {
			close(k.done)
			return
		}
		if err != nil && k.begun { // of one that never began Start tells
			k.intake.Put(runner.Note, []byte("\n["+err.Error()+"]\n"))
		}
		k.c.ends.Add(1)
		crash.Go("wire end", func() { // the Sink may take a moment for the rest
			defer k.c.ends.Done()
			k.intake.Close(nil)
			close(k.done)
		})
	})
}

// loseConnection is the end of the connection.
func (k *call) loseConnection(cause error) { k.finishOnce(ending{}, &Lost{cause}) }

// partialResult is what arrived of a call that has no result.
func (k *call) partialResult() (res runner.Result) {
	k.intake.Close(&res)
	return res
}

// awaitEnd waits for the end of a command in the foreground.
func (k *call) awaitEnd(ctx context.Context, timeout time.Duration) error {
	var late <-chan time.Time
	patience := k.c.opt.Grace + answerPatience
	if timeout > 0 {
		t := time.NewTimer(timeout + patience)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-k.done:
		return k.err
	case <-late:
		k.c.link.queueFrame(kindCancel, k.id)
		return fmt.Errorf("the other side did not end the command within %v of its timeout; it may still run", patience)
	case <-ctx.Done():
	}
	k.c.link.queueFrame(kindCancel, k.id)
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-k.done:
		return k.err
	case <-t.C:
		return fmt.Errorf("the other side did not answer within %v that it ended the command; it may still run", patience)
	}
}

// answerPatience is how long the other side may take, beyond the grace, to say that it ended
// something.
const answerPatience = 3 * time.Second

// sendWholeInput sends standard input that is given whole.
func (k *call) sendWholeInput(data []byte) {
	if len(data) <= maxData { // it fits into the window: nothing to wait for
		k.c.link.queueFrame(kindInput, k.id, []byte{1}, data)
		return
	}
	crash.Go("wire stdin", func() { _ = k.sendInput(data, true, nil) })
}

var errNoReader = errors.New("it reads no input any more")

// sendInput sends standard input until give closes or the call ends.
func (k *call) sendInput(data []byte, eof bool, give <-chan struct{}) error {
	for {
		n := 0
		if len(data) > 0 {
			if n = k.input.takeCredit(min(len(data), maxData), give); n == 0 {
				return errNoReader
			}
		}
		last := byte(0)
		if eof && n == len(data) {
			last = 1
		}
		if !k.c.link.queueWhenRoom(give, kindInput, k.id, []byte{last}, data[:n]) {
			return errNoReader
		}
		if data = data[n:]; len(data) == 0 {
			return nil
		}
	}
}
