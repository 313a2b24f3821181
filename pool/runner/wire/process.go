package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"hermes/pool/runner"
)

// Process is a command in the background on the far side. When the connection is lost it counts as
// ended, with exit code 255 and a note in its output.
type Process struct{ call *call }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.call.done }

// Exit returns the exit code (128+n for signal n, 124 for a timeout), and whether the process has
// ended.
func (p *Process) Exit() (code int, ended bool) {
	select {
	case <-p.call.done:
	default:
		return 0, false
	}
	if p.call.err != nil {
		return 255, true
	}
	return p.call.end.code, true
}

// Output is as runner.Process.Output.
func (p *Process) Output(offset int64, limit int) (data []byte, start, end int64) {
	return p.call.intake.Read(offset, limit)
}

const writeTimeout = 5 * time.Second

// Write sends data to standard input; eof closes it afterwards. It fails when the process does not
// read for 5 s.
func (p *Process) Write(data []byte, eof bool) error {
	if _, over := p.Exit(); over {
		return errors.New("the process has ended: it reads no input any more")
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	err := p.call.sendInput(data, eof, ctx.Done())
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("it did not read its input within %v: only a part was written", writeTimeout)
	}
	if err != nil {
		return fmt.Errorf("writing to the process: %w", err)
	}
	return nil
}

// Resize changes the size of its terminal.
func (p *Process) Resize(s runner.Size) error {
	if !p.call.tty {
		return errors.New("resizing the process: it has no terminal")
	}
	var w writer
	w.writeNumber(int64(s.Rows))
	w.writeNumber(int64(s.Cols))
	return p.sendWish(kindResize, w)
}

// Signal sends a signal, by its number, to the process' group.
func (p *Process) Signal(number int) error {
	var w writer
	w.writeNumber(int64(number))
	return p.sendWish(kindSignal, w)
}

func (p *Process) sendWish(k kind, body []byte) error {
	if _, over := p.Exit(); over {
		return errors.New("the process has ended")
	}
	p.call.c.link.queueFrame(k, p.call.id, body)
	return nil
}

// Kill ends the process and its tree, and waits for that until ctx is done.
func (p *Process) Kill(ctx context.Context) error {
	if _, over := p.Exit(); over {
		return nil
	}
	p.call.c.link.queueFrame(kindCancel, p.call.id)
	select {
	case <-p.call.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the process was told to end, but has not yet: %w", ctx.Err())
	}
}

// Warnings returns what had to be said about its start.
func (p *Process) Warnings() []string { return p.call.warnings }

// Channel is our end of the socket of Spec.Channel; nil without. The caller closes it.
func (p *Process) Channel() io.ReadWriteCloser {
	if p.call.channel == nil {
		return nil
	}
	return p.call.channel
}
