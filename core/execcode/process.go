package execcode

import (
	"context"
	"io"

	"hermes/core/event"
)

// process is a running interpreter, here or in a back end.
type process interface {
	// channel is our end of its descriptor 3.
	channel() io.ReadWriteCloser
	// done is closed when it has ended and its output is read.
	done() <-chan struct{}
	// status is the exit code, 128+n for a signal; valid after done.
	status() int
	// ask tells it to stop: interrupt as ^C does, terminate by SIGTERM. A back end may not know
	// how.
	interrupt()
	terminate()
	// kill ends it and all that it started, and returns when that is so or ctx is done.
	kill(ctx context.Context)
	// release gives back what it held, after done.
	release()
	isolation() string
}

// sink takes output as it comes, from one goroutine a stream.
type sink func(s event.Stream, data []byte)
