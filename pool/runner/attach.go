package runner

import (
	"context"
	"errors"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// Tap receives all output as it is read: of each stream in order, from a goroutine of its own. It
// may block, and the command then waits with its output; it must return soon once the command is to
// end. It may be called until Wait returns, and once more. The slice is only valid during the call.
type Tap func(s Stream, data []byte)

// tapped stands where output would be kept.
type tapped struct{ tap Tap }

func (tapped) keepBytes([]byte) {}
func (tapped) text() string     { return "" }

// Attached is a running command whose output goes elsewhere: nothing of it is kept here.
type Attached struct {
	job     *job
	timeout time.Duration
}

// Attach starts a command. The caller must call Wait. Spec's Sink, MaxOutput and SpillDir are of no
// use here.
func (r *Runner) Attach(s Spec, tap Tap) (*Attached, error) {
	s.Sink, s.SpillDir = nil, ""
	j, err := r.startJob(s, tapped{tap})
	if err != nil {
		return nil, err
	}
	return &Attached{job: j, timeout: s.Timeout}, nil
}

// Wait waits for the end, and brings it about when ctx is done or the timeout is over. Code is the
// command's own exit code, also when it was interrupted (Result.ExitCode is 130 then); 124 for a
// timeout.
func (a *Attached) Wait(ctx context.Context) (res Result, code int, err error) {
	defer a.job.run.busy.Done()
	e, err := a.job.finishCommand(ctx, a.timeout)
	if tty := a.job.io.tty; tty != nil {
		_ = tty.SetWriteDeadline(time.Now()) // a Write that still waits ends
	}
	if err != nil {
		return Result{}, 0, err
	}
	res, code = a.job.makeResult(e), e.code
	if e.timedOut {
		code = ExitTimeout
	}
	return res, code, nil
}

// Warnings returns what had to be said about its start.
func (a *Attached) Warnings() []string { return a.job.warnings }

// Write writes to standard input, and blocks until the command has taken it or has ended; eof
// closes it afterwards.
func (a *Attached) Write(data []byte, eof bool) error { return a.job.io.sendInput(data, eof) }

// Resize changes the size of its terminal.
func (a *Attached) Resize(s Size) error { return a.job.io.resize(s) }

// Signal sends a signal to the command's group.
func (a *Attached) Signal(number int) error {
	if number <= 0 || number > 64 {
		return errors.New("there is no such signal")
	}
	return unix.Kill(-a.job.child.pid, unix.Signal(number))
}

// Channel is our end of the socket of Spec.Channel; nil without. The caller closes it.
func (a *Attached) Channel() io.ReadWriteCloser {
	if a.job.io.channel == nil {
		return nil
	}
	return a.job.io.channel
}
