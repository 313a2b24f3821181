// Package backend is the contract between whoever wants a command run (tools, execute_code, the
// command line) and whatever runs it (the pool): plain data, no behaviour, standard library and
// core/event only.
//
// It exists so that core never imports pool and pool never imports the tools.
package backend

import (
	"context"
	"io"
	"time"

	"hermes/core/event"
)

// Request is one command for a named back end.
type Request struct {
	Session string            // uid; the owner of containers, working directories and background processes
	CallID  string            // tool call this belongs to; events and late output carry it
	Backend string            // "" means the session's current back end, then the default
	Command string            // run by the back end's shell; exclusive with Argv
	Argv    []string          // run without a shell
	Shown   string            // what people see of it, where it runs by a wrapper of ours; "": Command or Argv
	Dir     string            // "" means where the last command of this session and back end ended
	Home    string            // where the first one starts when Dir is ""; "" lets the back end choose
	Env     map[string]string // added to the back end's clean environment
	Stdin   []byte            // given whole, then closed; nil means /dev/null
	Timeout time.Duration     // 0 means no limit beyond ctx
	// Order is the place of the call in its session: where the latest one ends, the next begins,
	// whichever of several ends first. 0: whatever ends last.
	Order   int64
	Lasting bool  // it may change what other programs run by themselves, where a sandbox could hold that fixed
	PTY     *Size // non-nil asks for a terminal
	// Files says that Stdin is a request about files (core/files) and the output its reply. Argv is
	// what people and the rules of a host see of it. Nothing else answers in the place of the back
	// end that is named, and the next command begins where it would have. Only for Exec.
	Files bool
	// Channel gives the command a socket on descriptor 3; Pool.Channel is the other end. Only for
	// Start, with Argv.
	Channel bool
	// Merge sends both streams through one pipe: their order is then exact, and all is Stdout.
	// Otherwise the order between stdout and stderr is that of arrival, which swaps what is written
	// within some microseconds.
	Merge bool
	// Sink receives output as it comes, in order, from one goroutine. It must not block for long:
	// a slow sink never stalls the command, it loses the middle of what it would have been given.
	// May be nil.
	Sink func(stream event.Stream, data []byte)
	// MaxOutput bounds Result.Output in bytes (head 40 %, tail 60 %); 0 means 50,000.
	MaxOutput int
	// SpillDir, when set, receives the full output as a file once it exceeds MaxOutput.
	SpillDir string
}

// Size of a terminal in cells.
type Size struct{ Rows, Cols int }

// Result of a finished command. A command that ran and failed is a Result with an exit code, not an
// error; errors mean that it could not be run or that its fate is unknown, and say which.
type Result struct {
	Backend     string        // where it really ran
	Requested   string        // what was asked for
	Output      []byte        // stdout and stderr as they came, bounded; bytes, not text
	Total       int64         // bytes produced
	Truncated   bool          // Output lacks the middle
	Cut         int           // where in Output the middle is missing, when Truncated
	Spill       string        // file with the full output, when it was kept
	SpillCut    bool          // the file holds the beginning only
	ExitCode    int           // 0-255; 128+n for a signal; 124 timeout; 130 interrupt
	Signal      string        // "SIGKILL", ... when a signal ended it
	TimedOut    bool          //
	Interrupted bool          // ctx was cancelled
	Dir         string        // directory at the end
	Warnings    []string      // for people and the model: fallbacks, lost directory, killed survivors
	Took        time.Duration //
}

// Process is a background process.
type Process struct {
	ID       string // "p1", "p2" ... within the session
	Session  string
	CallID   string
	Backend  string
	Command  string
	Started  time.Time
	Ended    time.Time // zero while it runs
	Running  bool
	ExitCode int
	Total    int64 // bytes of output so far
	PTY      bool
	Warnings []string // said at its start: another back end, a lost directory
}

// Pool is everything that is done with back ends. Implementations are safe for concurrent use.
type Pool interface {
	// Exec runs a command to its end. Cancelling ctx kills the whole process tree and returns the
	// partial result.
	Exec(ctx context.Context, r Request) (Result, error)
	// Start runs a command in the background; it outlives ctx and ends with the session.
	Start(ctx context.Context, r Request) (Process, error)
	// Processes lists the session's background processes, newest first. "" lists all.
	Processes(session string) []Process
	// Output returns up to limit bytes from offset of a process' output and the offset of its end.
	// A negative offset counts from the end. Bytes that fell out of the ring are skipped: start
	// says where data begins.
	Output(session, id string, offset int64, limit int) (data []byte, start, end int64, err error)
	// Write sends data to a process' standard input; eof closes it afterwards.
	Write(session, id string, data []byte, eof bool) error
	// Wait blocks until the process ends, ctx is done or d passed (0: no limit) and returns its
	// state then.
	Wait(ctx context.Context, session, id string, d time.Duration) (Process, error)
	// Kill ends a process and its whole tree.
	Kill(ctx context.Context, session, id string) (Process, error)
	// Resize changes the terminal of a PTY process.
	Resize(session, id string, s Size) error
	// List says what back ends exist and how they are, for the session.
	List(session string) []Status
	// Select makes name the session's back end for calls that name none.
	Select(session, name string) error
	// CloseSession ends a session for good: its background processes, and what was made for it.
	CloseSession(ctx context.Context, session string) error
	// Channel is our end of the socket of a process that was started with Request.Channel. Closing
	// it ends the socket, not the process.
	Channel(session, id string) (io.ReadWriteCloser, error)

	// What follows is what a person does with back ends.

	// Up makes a back end ready now, as a first use would.
	Up(ctx context.Context, session, name string) error
	// Stop takes a back end down; its files stay. In use it is refused unless force is set:
	// commands in it are then ended.
	Stop(ctx context.Context, session, name string, force bool) error
	// Restart is Stop and Up. It also ends the wait after a failure.
	Restart(ctx context.Context, session, name string, force bool) error
	// Remove destroys a back end with its files; the next use makes a new one. Force as with Stop.
	Remove(ctx context.Context, session, name string, force bool) error
	// Pull fetches a back end's image now.
	Pull(ctx context.Context, session, name string) error
	// Sample measures what a running back end uses, once. Nobody calls it for back ends that nobody
	// looks at.
	Sample(ctx context.Context, session, name string) (event.BackendStats, error)
	// Keep holds a back end up for a while that no command is in it (an approval waits, a person
	// looks). Call release.
	Keep(session, name string) (release func())
	// Leftovers lists what there is of this data folder, of all sessions and also of processes that
	// were killed. With an error there is what those places have that answered.
	Leftovers(ctx context.Context) ([]Leftover, error)
	// Prune removes the leftovers that no process uses and that are not kept any more, or are kept
	// too if all is set. It returns what it removed.
	Prune(ctx context.Context, all bool) ([]Leftover, error)
}

// Leftover is a back end that exists, whoever made it.
type Leftover struct {
	Engine  string    `json:"engine"` // where it is
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Image   string    `json:"image"`
	Session string    `json:"session"` // as in labels: cleaned
	Backend string    `json:"backend"`
	State   string    `json:"state"` // the engine's word: running, exited, created, paused
	Created time.Time `json:"created"`
	Live    bool      `json:"live"` // a running hermes uses it
	// Kept says that nobody uses it, and that its session finds it again.
	Kept bool `json:"kept"`
}

// Finding is what was found where back ends are, for `hermes doctor`.
type Finding struct {
	Level   event.Level
	Subject string // one word: engine, hosts
	Text    string
	Fix     string // what to do about it; may be empty
}

// Interactive is the Request.Command of a shell for a person: their own one where it is known and
// there, else the best one. The pagers that are off for commands that nobody watches are on again.
const Interactive = `unset PAGER GIT_PAGER MANPAGER; s=${SHELL:-}; ` +
	`command -v "$s" >/dev/null 2>&1 || s=$(command -v bash || command -v sh); exec "$s" -i`

// InteractiveShown is the Request.Shown of that shell.
const InteractiveShown = "a shell for a person"

// Status is a back end as it is now.
type Status struct {
	Name      string
	Kind      string
	Traits    event.Traits
	Image     string // image or host
	State     event.BackendState
	Cause     string
	Refs      int
	Command   string // newest running command
	User      string // uid of the session that it runs for
	Since     time.Time
	IdleSince time.Time // zero while in use or not up
	IdleTTL   time.Duration
	Mounts    []string      // folders of this machine (or of the engine's) that a container sees: "host:container[:ro]"
	Sandbox   string        // of commands on this machine: "project", "strict"; "" or "off": none
	Timeout   time.Duration // of a foreground command that asks for none; 0: as the tools have it
	Dir       string        // where the session's next command starts; "" before the first one
	Selected  bool          // the session's current one
	Default   bool
}
