package pool

import (
	"context"
	"io"

	"hermes/core/event"
	"hermes/pool/runner"
)

// Kind is one technology of back ends (this machine, containers, far hosts).
type Kind interface {
	// Open describes a back end of this kind; it does no work that can block.
	// Owner is the session that it belongs to, "" when Shared.
	Open(owner string, s Spec) (Backend, error)
	// Shared says that all sessions use the same one; otherwise every session gets its own.
	Shared() bool
}

// Backend is what the pool drives. The pool calls Start, Stop and Remove never at the same time, and commands only between a
// successful Start and the next Stop.
type Backend interface {
	// Start brings it up from whatever state it is in, and reports its steps (pulling, creating, starting) on the way.
	Start(ctx context.Context, r Report) error
	// Stop takes it down so that Start finds its files again.
	Stop(ctx context.Context) error
	// Remove destroys it, and returns only when it is verified to be gone.
	Remove(ctx context.Context) error
	// Idles says whether it is worth stopping when nobody uses it.
	Idles() bool
	// Gone receives one cause when what the last successful Start brought up is lost behind our back (removed, stopped, paused,
	// its engine or its connection gone). A nil channel never tells. Ask anew after each Start.
	Gone() <-chan error
	// Run runs a command to its end. An error that is a *NotStarted promises that the command did not begin.
	Run(ctx context.Context, s runner.Spec) (runner.Result, error)
	// Spawn starts a command in the background. Errors as those of Run.
	Spawn(s runner.Spec) (Process, error)
}

// Report is told what happens on the way to ready. Its methods never block.
type Report interface {
	// Step says that a state began, and its cause.
	Step(to event.BackendState, cause string)
	// Progress says how far a pull is: bytes of all layers, total 0 while unknown. Label is for people ("3 of 5 layers").
	Progress(label string, done, total int64)
}

// Puller is a Backend that is made from an image.
type Puller interface {
	// Pull fetches the image now, whatever the pull policy says.
	Pull(ctx context.Context, r Report) error
}

// Releaser is a Backend that holds something even while it is stopped.
type Releaser interface {
	// Release gives that up, and what was made stays: a Backend with other settings takes it over. Never at the same time as Start, Stop and Remove.
	Release()
}

// Sampler is a Backend that can say what it uses.
type Sampler interface {
	// Sample measures it once.
	Sample(ctx context.Context) (Sample, error)
}

// Sample is what a back end uses now. Zero limits are none.
type Sample struct {
	CPUPercent               float64 // 100 is one processor
	MemoryBytes, MemoryLimit int64
	Pids, PidsLimit          int64
}

// NotStarted is an error of Run and Spawn when the command certainly did not begin: the pool may bring the back end up again and try
// once more, or let the default run it. After any other error the command may have run, and the pool does neither.
type NotStarted struct{ Err error }

func (e *NotStarted) Error() string { return e.Err.Error() }
func (e *NotStarted) Unwrap() error { return e.Err }

// Process is a command in the background. *runner.Process is one.
type Process interface {
	Done() <-chan struct{}
	Exit() (code int, ended bool)
	Output(offset int64, limit int) (data []byte, start, end int64)
	Write(data []byte, eof bool) error
	Resize(s runner.Size) error
	Kill(ctx context.Context) error
	Warnings() []string // said at its start
	// Channel is our end of the extra socket of a command with Spec.Channel; nil without.
	Channel() io.ReadWriteCloser
}
