package execcode

import (
	"context"
	"time"

	"hermes/core/event"
	"hermes/core/tool"
)

// Mode says where a script starts and which Python runs it.
type Mode string

// Modes.
const (
	Project Mode = "project" // in the session's folder, by the project's own Python if it has one; the network is there
	Strict  Mode = "strict"  // in an empty temporary folder, by the system's Python; files elsewhere are only readable, no network
)

// Limits bound one script. Zero fields mean the default.
type Limits struct {
	Timeout time.Duration // until it is ended; 300 s
	Calls   int           // of tools; 50
	Stdout  int           // bytes of standard output that are kept; 50,000
	Stderr  int           // bytes of standard error that are kept; 10,000
	Memory  int64         // bytes of data of one process; 0: 4 GB, < 0: no limit
	Procs   int           // processes and threads; 512
	Kernels int           // kept at the same time; 4
	Idle    time.Duration // until a kernel that nobody uses ends; 30 minutes
}

func (l Limits) orDefaults() Limits {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&l.Calls, 50)
	set(&l.Stdout, 50_000)
	set(&l.Stderr, 10_000)
	set(&l.Procs, 512)
	set(&l.Kernels, 4)
	if l.Timeout <= 0 {
		l.Timeout = 300 * time.Second
	}
	if l.Idle <= 0 {
		l.Idle = 30 * time.Minute
	}
	if l.Memory == 0 {
		l.Memory = 4 << 30
	}
	return l
}

// Script is one run.
type Script struct {
	Session string // uid: the owner of kernels
	CallID  string
	Code    string
	Dir     string // the session's folder
	Mode    Mode   // "" means Project
	Backend string // a back end of the pool to run in; "" means this machine
	Kernel  bool   // keep the variables for the next script
	Reset   bool   // forget the variables of those before
	Limits  Limits
	// Env is added to the clean environment. A kernel that began with another one is not shared.
	Env map[string]string
	// Tools are what the script may call; Call runs one of them and always returns.
	Tools []tool.Spec
	Call  func(ctx context.Context, c tool.NestedCall) tool.NestedResult
	// Output shows what the script prints as it comes; it never blocks for long. May be nil.
	Output func(s event.Stream, data []byte)
}

// Status is how a script ended.
type Status string

// Statuses.
const (
	Success     Status = "success"
	Failure     Status = "error"
	TimedOut    Status = "timeout"
	Interrupted Status = "interrupted"
)

// Result is what a model reads, as JSON.
type Result struct {
	Status   Status  `json:"status"`
	Error    string  `json:"error,omitempty"` // first: lists show the beginning
	Output   string  `json:"output"`
	ExitCode int     `json:"exit_code"`
	Calls    int     `json:"tool_calls_made"`
	Seconds  float64 `json:"duration_seconds"`
	// Isolation names what kept the script in, weakest first: "pgid", "pidns+landlock+seccomp",
	// "backend analytics".
	Isolation string   `json:"isolation"`
	Kernel    string   `json:"session,omitempty"` // "new", "kept", "lost" of a script with a kernel
	Warnings  []string `json:"warnings,omitempty"`
	Backend   string   `json:"-"` // where it ran; "" is this machine
}

// The texts that models know.
const (
	textTimeout     = "Script timed out after %ds and was killed."
	textInterrupted = "[execution interrupted — user sent a new message]"
	textOver        = "The script that made this call has ended."
	textLimit       = "Tool call limit reached (%d). No more tool calls allowed in this execution."
)
