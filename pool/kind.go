package pool

import (
	"context"

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
	// Start brings it up from whatever state it is in, and tells its steps (pulling, creating, starting) on the way.
	Start(ctx context.Context, step Step) error
	// Stop takes it down so that Start finds its files again.
	Stop(ctx context.Context) error
	// Remove destroys it.
	Remove(ctx context.Context) error
	// Idles says whether it is worth stopping when nobody uses it.
	Idles() bool
	// Run runs a command to its end.
	Run(ctx context.Context, s runner.Spec) (runner.Result, error)
	// Spawn starts a command in the background.
	Spawn(s runner.Spec) (Process, error)
}

// Step reports a state on the way to ready, with its cause.
type Step func(to event.BackendState, cause string)

// Process is a command in the background. *runner.Process is one.
type Process interface {
	Done() <-chan struct{}
	Exit() (code int, ended bool)
	Output(offset int64, limit int) (data []byte, start, end int64)
	Write(data []byte, eof bool) error
	Resize(s runner.Size) error
	Kill(ctx context.Context) error
	Warnings() []string // said at its start
}
