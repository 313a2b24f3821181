package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/containerd/errdefs"

	"hermes/core/crash"
	"hermes/pool/runner/wire"
)

// connection is a stream to the runner in a container that is up, and what happens to the container
// meanwhile.
type connection struct {
	engine *engine
	id     string
	client *wire.Client
	stream *stream

	gone chan error    // one cause, when it was lost behind our back
	over chan struct{} // closed when cause is known, or when we closed it

	mu      sync.Mutex
	closing bool
	cause   string // "" while nothing is wrong
	noted   string // what the engine said last: "stopped", "removed"
	oom     []time.Time
	heard   chan struct{} // closed and replaced at each of the engine's messages
}

// ownConnection wraps a client. It must be closed.
func newConnection(e *engine, id string) *connection {
	return &connection{engine: e, id: id, gone: make(chan error, 1), over: make(chan struct{}), heard: make(chan struct{})}
}

// connectRunner speaks to the runner on the other side of a stream, and looks after it from then
// on.
func (c *connection) connectRunner(ctx context.Context, s *stream, o wire.Options) error {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	client, err := wire.Connect(ctx, s, o)
	if err != nil {
		if said := s.said.String(); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return err
	}
	c.stream, c.client = s, client
	crash.Go("docker connection", c.waitForEnd)
	return nil
}

const greetTimeout = 30 * time.Second

// waitForEnd waits for the end of the stream and finds out why.
func (c *connection) waitForEnd() {
	end, lost := <-c.client.Gone()
	c.mu.Lock()
	quiet := c.closing
	cause := c.cause
	c.mu.Unlock()
	if !quiet && lost {
		if cause == "" {
			cause = c.investigateLoss(end)
		}
		c.mu.Lock()
		quiet = c.closing
		c.cause = cause
		c.mu.Unlock()
	}
	if !quiet && lost {
		c.gone <- errors.New(cause)
	}
	close(c.over)
}

// loseContainer ends a connection whose container is of no use any more.
func (c *connection) loseContainer(cause string) {
	c.mu.Lock()
	if c.closing || c.cause != "" {
		c.mu.Unlock()
		return
	}
	c.cause = cause
	c.mu.Unlock()
	_ = c.stream.Close()
}

// noteEngineEvent keeps what the engine says happened.
func (c *connection) noteEngineEvent(_ time.Time, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noted = what
	c.wakeWaiting()
}

// noteOutOfMemory keeps when the kernel killed something for want of memory.
func (c *connection) noteOutOfMemory() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.oom = append(c.oom[max(0, len(c.oom)-15):], time.Now())
	c.wakeWaiting()
}

// wakeWaiting wakes who waits for the engine's messages. The lock is held.
func (c *connection) wakeWaiting() {
	close(c.heard)
	c.heard = make(chan struct{})
}

// starvedSince says whether the kernel killed something for want of memory since then; the news may
// take a moment.
func (c *connection) starvedSince(begun time.Time, patience time.Duration) bool {
	late := time.After(patience)
	for {
		c.mu.Lock()
		n, heard := len(c.oom), c.heard
		yes := n > 0 && c.oom[n-1].After(begun)
		c.mu.Unlock()
		if yes {
			return true
		}
		select {
		case <-heard:
		case <-c.over:
			return false
		case <-late:
			return false
		}
	}
}

const investigation = 3 * time.Second

// investigateLoss asks the engine what happened to the container. What it is in the middle of is
// waited for.
func (c *connection) investigateLoss(end error) string {
	ctx, cancel := context.WithTimeout(context.Background(), investigation)
	defer cancel()
	cli, err := c.engine.connectClient(ctx)
	if err != nil {
		return err.Error()
	}
	for try := range 20 {
		got, err := cli.ContainerInspect(ctx, c.id)
		switch {
		case errdefs.IsNotFound(err):
			return "removed behind our back"
		case err != nil:
			return "the connection to the Docker daemon was lost"
		case got.State.Paused:
			return "paused behind our back"
		case got.State.OOMKilled && !got.State.Running:
			return fmt.Sprintf("its memory limit (%s) was reached, and the kernel ended all of it", humanBytes(got.HostConfig.Memory))
		case !got.State.Running && !got.State.Restarting && try > 2: // it may be on its way to be removed
			return fmt.Sprintf("stopped behind our back (exit code %d)", got.State.ExitCode)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return fmt.Sprintf("the connection to the Docker daemon was lost (%v)", end)
}

// awaitCause waits until it is known what happened to a lost connection.
func (c *connection) awaitCause() string {
	select {
	case <-c.over:
	case <-time.After(investigation + time.Second):
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// endCommands closes the connection: the commands in it are ended.
func (c *connection) endCommands(ctx context.Context) error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.engine.watch.stopListening(c.id, c)
	if c.client == nil {
		return nil
	}
	err := c.client.Close(ctx)
	_ = c.stream.Close()
	<-c.over
	return err
}

// callError is an error of a call, for people.
func (c *connection) callError(err error) error {
	var lost *wire.Lost
	if !errors.As(err, &lost) {
		return err
	}
	if cause := c.awaitCause(); cause != "" {
		return fmt.Errorf("%s; the command may still have run: %w", cause, err)
	}
	return err
}

// humanBytes is 4 GB, 512 MB, 100 kB.
func humanBytes(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 30, "GB"}, {1 << 20, "MB"}, {1 << 10, "kB"}} {
		if n >= u.size {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
