package pool

import (
	"context"
	"io"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/pool/runner"
)

// Kind is one technology of back ends (this machine, containers, far hosts).
type Kind interface {
	// Describe says what a back end with these settings is. It does no work.
	Describe(s Spec) About
	// Open makes a back end of this kind; it does no work that can block.
	// Owner is the session that it belongs to, "" when the kind is Shared.
	Open(owner string, s Spec) (Backend, error)
}

// About is what the pool asks of a kind to treat a back end rightly without knowing the kind.
type About struct {
	event.Traits
	Where   string  // what people are shown of what is behind the name: the image, the host
	At      string  // which machine or engine it is on: paths of one mean nothing on another
	Mounts  []Mount // what it sees of the files there
	Network string  // what an Isolated one reaches; NoNetwork is nothing
	Limited bool    // it refuses some commands
	Sandbox string  // what keeps commands in that run on this machine; "" or "off": nothing
}

// NoNetwork is the network that reaches nothing.
const NoNetwork = "none"

// Keeper is a Kind whose back ends may be there when the program has ended. Specs are those of the
// kind.
type Keeper interface {
	// Leftovers lists what there is of this data folder, of all sessions. With an error there is
	// what those places have that answered.
	Leftovers(ctx context.Context, specs []Spec) ([]backend.Leftover, error)
	// Prune removes what no process uses and what is not kept any more (Spec.Keep), or is kept too
	// if all is set. It returns what it removed.
	Prune(ctx context.Context, specs []Spec, all bool) ([]backend.Leftover, error)
	// Sweep prunes in the background, once for every place, and is quiet about what does not
	// answer. Tell is told of what was kept and is gone, for people.
	Sweep(specs []Spec, tell func(text string))
	// Forget removes what earlier processes made for a session that ended. It asks no place where
	// nothing was made.
	Forget(ctx context.Context, session string, specs []Spec) error
}

// Parker is a Backend that a later process can find again with its files.
type Parker interface {
	// Park takes it down for that, and gives up our part in it. What nobody could find again it
	// removes.
	Park(ctx context.Context) error
}

// Backend is what the pool drives. The pool calls Start, Stop and Remove never at the same time,
// and commands only between a successful Start and the next Stop.
type Backend interface {
	// Start brings it up from whatever state it is in, and reports its steps (pulling, creating,
	// starting) on the way.
	Start(ctx context.Context, r Report) error
	// Stop takes it down so that Start finds its files again.
	Stop(ctx context.Context) error
	// Remove destroys it, and returns only when it is verified to be gone.
	Remove(ctx context.Context) error
	// Idles says whether it is worth stopping when nobody uses it.
	Idles() bool
	// Gone receives one cause when what the last successful Start brought up is lost behind our
	// back (removed, stopped, paused, its engine or its connection gone). A nil channel never
	// tells. Ask anew after each Start.
	Gone() <-chan error
	// Run runs a command to its end. An error that is a *NotStarted promises that the command did
	// not begin.
	Run(ctx context.Context, s runner.Spec) (runner.Result, error)
	// Spawn starts a command in the background. Errors as those of Run.
	Spawn(s runner.Spec) (Process, error)
}

// Examiner is a Kind that can tell whether its back ends could be used, without starting one.
type Examiner interface {
	// Examine looks at where specs are; def is the name of the default back end.
	Examine(ctx context.Context, specs []Spec, def string) []backend.Finding
}

// Report is told what happens on the way to ready. Its methods never block.
type Report interface {
	// Step says that a state began, and its cause.
	Step(to event.BackendState, cause string)
	// Progress says how far a pull is: bytes of all layers, total 0 while unknown. Label is for
	// people ("3 of 5 layers").
	Progress(label string, done, total int64)
}

// Puller is a Backend that is made from an image.
type Puller interface {
	// Pull fetches the image now, whatever the pull policy says.
	Pull(ctx context.Context, r Report) error
}

// Releaser is a Backend that holds something even while it is stopped.
type Releaser interface {
	// Release gives that up, and what was made stays: a Backend with other settings takes it over.
	// Never at the same time as Start, Stop and Remove.
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

// NotStarted is an error of Run and Spawn when the command certainly did not begin: the pool may
// bring the back end up again and try once more, or let the default run it. After any other error
// the command may have run, and the pool does neither.
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
