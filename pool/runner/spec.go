package runner

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes/core/confine"
)

// Stream says where bytes came from.
type Stream uint8

// Streams of a command.
const (
	Stdout Stream = iota
	Stderr
	Terminal // both, when the command has a terminal
	Note     // said by the runner: output that a slow Sink did not get
)

// Size of a terminal in cells.
type Size struct{ Rows, Cols uint16 }

// Sink receives output in order, from one goroutine at a time, never after the call returned. The
// slice is only valid during the call.
type Sink func(s Stream, data []byte)

// Spec is one command.
type Spec struct {
	Command string   // run by Shell; exclusive with Argv
	Argv    []string // run without a shell; Argv[0] is looked up in PATH of Env
	Shell   string   // "" means /bin/sh

	// Dir is where it starts; "" means Home. When Dir is missing and Strict is set that is an
	// error; otherwise the command starts in Home (or, failing that, in /) and the result has a
	// warning.
	Dir    string
	Strict bool
	Home   string

	Env     []string          // "NAME=value", the whole environment; HERMES_CALL and PWD are added
	Notes   []string          // warnings that the result is to have
	Session string            // for whoever completes Env: whose command it is. The Runner itself does not read it
	Extra   map[string]string // for whoever completes Env: what the caller wants added. The Runner itself does not read it
	Stdin   []byte            // given whole, then closed; nil means /dev/null
	Live    bool              // keep standard input open for Process.Write; only for Start
	Size    *Size             // non-nil asks for a terminal
	Channel bool              // descriptor 3 is one end of a socket whose other end is Process.Channel; only for Start with Argv
	Merge   bool              // one pipe for both streams: exact order, all Stdout
	Timeout time.Duration     // 0 means no limit
	Lasting bool              // for whoever sets Confine: it may change hooks and their like
	// Files says that standard input is a request of core/files, and output its reply: nothing is run.
	// Whoever holds the files answers it, never the Runner; Argv is what people and rules see of it.
	Files   bool
	Confine *confine.Policy // what it may do to this machine; nil: what this process may. When it cannot be had nothing runs

	Sink      Sink   // may be nil
	MaxOutput int    // bytes kept in Result.Output or, in the background, in the ring; 0 means the default
	SpillDir  string // when set, output beyond MaxOutput is kept whole in a file there (at most 64 MB)
}

// Result is what became of a command.
type Result struct {
	Output      []byte        // both streams as they arrived; head 40 %, tail 60 % when Truncated
	Total       int64         // bytes that the command printed before it ended
	Truncated   bool          // Output lacks the middle
	Cut         int           // where in Output the middle is missing, when Truncated
	Spill       string        // file with the full output
	SpillCut    bool          // the file holds the beginning only
	ExitCode    int           // 0-255; 128+n for signal n; 124 timeout; 130 interrupt
	Signal      string        // "SIGKILL", ... when a signal ended it
	TimedOut    bool          //
	Interrupted bool          // the context was cancelled
	Dir         string        // directory at the end; where it began when the command did not live to tell
	Warnings    []string      //
	Took        time.Duration //
}

// Exit codes that do not come from the command.
const (
	ExitTimeout   = 124
	ExitInterrupt = 130
)

const (
	defaultMaxOutput = 50_000
	defaultRing      = 200_000
	defaultShell     = "/bin/sh"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the runner is closed: no command was started")

func (s *Spec) validate() error {
	switch {
	case s.Files:
		return errors.New("a request about files reached the runner, which runs commands only")
	case s.Command == "" && len(s.Argv) == 0:
		return errors.New("nothing to run: the command is empty")
	case s.Command != "" && len(s.Argv) > 0:
		return errors.New("both a command text and an argument vector were given: use one")
	}
	for _, v := range append([]string{s.Command, s.Dir, s.Shell}, s.Argv...) {
		if strings.ContainsRune(v, 0) {
			return fmt.Errorf("the command or its directory contains a NUL byte, which no program can be started with: %.40q", v)
		}
	}
	for _, kv := range s.Env {
		if strings.ContainsRune(kv, 0) {
			name, _, _ := strings.Cut(kv, "=")
			return fmt.Errorf("the environment variable %q contains a NUL byte", name)
		}
	}
	return nil
}
