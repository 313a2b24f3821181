package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"hermes/core/crash"
)

// Process is a command in the background. Its output is kept in a ring of Spec.MaxOutput (200,000)
// bytes.
type Process struct {
	ring *ring
	stop context.CancelFunc
	done chan struct{}

	mu   sync.Mutex
	job  *job // another one when there was no sandbox for the first
	end  exit
	over bool
}

// Start starts a command that runs until it ends, is killed, or the Runner is closed.
func (r *Runner) Start(s Spec) (*Process, error) {
	if s.MaxOutput <= 0 {
		s.MaxOutput = defaultRing
	}
	p := &Process{ring: newRing(s.MaxOutput), done: make(chan struct{})}
	j, err := r.startJob(s, p.ring)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.job, p.stop = j, stop
	crash.Go("runner process", func() {
		defer r.busy.Done()
		p.superviseJob(ctx, s)
	})
	return p, nil
}

func (p *Process) superviseJob(ctx context.Context, s Spec) {
	defer close(p.done)
	defer p.stop()
	e, err := p.awaitJob(ctx, s)
	if err != nil {
		p.ring.keepBytes([]byte("\n[" + err.Error() + "]\n"))
		e.code = 255
	}
	if e.timedOut {
		e.code = ExitTimeout
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end, p.over = e, true
}

// awaitJob waits for the end. When nothing ran because there was no sandbox, it starts the command
// once more.
func (p *Process) awaitJob(ctx context.Context, s Spec) (exit, error) {
	for try := 1; ; try++ {
		j := p.currentJob()
		e, err := j.finishCommand(ctx, s.Timeout)
		j.io.closeDir()
		if err != nil || j.notMade == "" {
			return e, err
		}
		if try == sandboxTries || s.Channel || ctx.Err() != nil { // the channel is in use already
			return e, noSandbox(s.Confine.Mode, errors.New(j.notMade))
		}
		p.ring.clear()
		next, err := j.run.beginJob(&s, p.ring)
		if err != nil {
			return e, err
		}
		p.mu.Lock()
		p.job = next
		p.mu.Unlock()
	}
}

func (p *Process) currentJob() *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.job
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns the exit code (128+n for signal n, 124 for a timeout), and whether the process has
// ended.
func (p *Process) Exit() (code int, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end.code, p.over
}

// Warnings returns what had to be said about its start.
func (p *Process) Warnings() []string { return p.currentJob().warnings }

// Channel is our end of the socket of Spec.Channel; nil without. The caller closes it.
func (p *Process) Channel() io.ReadWriteCloser {
	ch := p.currentJob().io.channel
	if ch == nil {
		return nil // a nil *os.File in the interface would not be nil
	}
	return ch
}

// Output returns up to limit bytes (0: all that is kept) from offset, the offset where they begin,
// and that of the end of all output so far. A negative offset counts from the end. What fell out of
// the ring is skipped.
func (p *Process) Output(offset int64, limit int) (data []byte, start, end int64) {
	return p.ring.read(offset, limit)
}

const writeTimeout = 5 * time.Second

// Write sends data to standard input; eof closes it afterwards. It fails when the process does not
// read for 5 s.
func (p *Process) Write(data []byte, eof bool) error {
	if _, over := p.Exit(); over {
		return errors.New("the process has ended: it reads no input any more")
	}
	if err := p.currentJob().io.sendWithin(writeTimeout, data, eof); err != nil {
		return fmt.Errorf("writing to the process: %w", err)
	}
	return nil
}

// Resize changes the size of its terminal.
func (p *Process) Resize(s Size) error {
	if err := p.currentJob().io.resize(s); err != nil {
		return fmt.Errorf("resizing the process: %w", err)
	}
	return nil
}

// Kill ends the process and its tree, and waits for that until ctx is done.
func (p *Process) Kill(ctx context.Context) error {
	p.stop()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the process was told to end, but has not yet: %w", ctx.Err())
	}
}
