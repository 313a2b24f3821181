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

// Process is a command in the background. Its output is kept in a ring of Spec.MaxOutput (200,000) bytes.
type Process struct {
	job  *job
	ring *ring
	stop context.CancelFunc
	done chan struct{}

	mu   sync.Mutex
	end  exit
	over bool
}

// Start starts a command that runs until it ends, is killed, or the Runner is closed.
func (r *Runner) Start(s Spec) (*Process, error) {
	if s.MaxOutput <= 0 {
		s.MaxOutput = defaultRing
	}
	p := &Process{ring: newRing(s.MaxOutput), done: make(chan struct{})}
	j, err := r.start(s, p.ring)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.job, p.stop = j, stop
	crash.Go("runner process", func() {
		defer r.busy.Done()
		p.supervise(ctx, s.Timeout)
	})
	return p, nil
}

func (p *Process) supervise(ctx context.Context, timeout time.Duration) {
	defer close(p.done)
	defer p.stop()
	e, err := p.job.finish(ctx, timeout)
	p.job.io.closeDir()
	if err != nil {
		p.ring.put([]byte("\n[" + err.Error() + "]\n"))
		e.code = 255
	}
	if e.timedOut {
		e.code = ExitTimeout
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end, p.over = e, true
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns the exit code (128+n for signal n, 124 for a timeout), and whether the process has ended.
func (p *Process) Exit() (code int, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end.code, p.over
}

// Warnings returns what had to be said about its start.
func (p *Process) Warnings() []string { return p.job.warnings }

// Channel is our end of the socket of Spec.Channel; nil without. The caller closes it.
func (p *Process) Channel() io.ReadWriteCloser {
	if p.job.io.channel == nil {
		return nil // a nil *os.File in the interface would not be nil
	}
	return p.job.io.channel
}

// Output returns up to limit bytes (0: all that is kept) from offset, the offset where they begin, and that of the end of all output so far.
// A negative offset counts from the end. What fell out of the ring is skipped.
func (p *Process) Output(offset int64, limit int) (data []byte, start, end int64) {
	return p.ring.read(offset, limit)
}

const writeTimeout = 5 * time.Second

// Write sends data to standard input; eof closes it afterwards. It fails when the process does not read for 5 s.
func (p *Process) Write(data []byte, eof bool) error {
	if _, over := p.Exit(); over {
		return errors.New("the process has ended: it reads no input any more")
	}
	if err := p.job.io.sendWithin(writeTimeout, data, eof); err != nil {
		return fmt.Errorf("writing to the process: %w", err)
	}
	return nil
}

// Resize changes the size of its terminal.
func (p *Process) Resize(s Size) error {
	if err := p.job.io.resize(s); err != nil {
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
