// Package cli is the command line: what `hermes` does without the workbench, and how the workbench is opened.
//
// The contract: Main is the whole program as a function, so that tests run it in their own process. Results go to stdout,
// everything else to stderr. What models, tools and files said is stripped of control sequences before it is printed as
// text. A failure is one sentence on stderr: what happened, where, and what to do. Exit codes are for scripts, see Exit.
//
// The rest of the program comes in through Program; this package declares the few methods that it needs of it.
package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"

	"hermes/core/backend"
	"hermes/core/client"
	"hermes/core/config"
	"hermes/core/session"
)

// Program is what main hands to the command line.
type Program struct {
	Version string // "" means from the build information
	Commit  string // likewise
	// Open builds the program without a screen. Commands that need no conversation never call it.
	Open func(ctx context.Context, s Start) (client.Client, error)
	// Workbench runs the full-screen program until the person leaves it.
	Workbench func(ctx context.Context, s Start, o Workbench) error
	// KeyProblems says what is wrong with the keys of the settings: the screen knows its actions, the settings do not.
	// May be nil.
	KeyProblems func(keys map[string][]string) []string
	// Examine looks at where back ends are, for `doctor`. May be nil.
	Examine func(ctx context.Context, c *config.Config) []backend.Finding
	// Database says what is wrong with the file of the conversations, and whether all of it was looked at; for `doctor`. May be nil.
	Database func(ctx context.Context, path string) (wrong string, all bool)
	// SQLite returns the version of the database library, for `doctor`. May be nil.
	SQLite func() string
}

// Start says with what the program is built.
type Start struct {
	Config   *config.Config
	Options  config.Options   // to follow edits of the settings
	Problems []config.Problem // what is wrong with the settings
	Session  session.Config   // how sessions work that say nothing else
	Cwd      string           // directory of new sessions, absolute
	Model    string           // replaces the configured one; may be empty
	Firm     bool             // no other model answers in place of the one that was chosen
	Log      *slog.Logger
	// KeepLeftovers leaves what a crash left on engines where it is: somebody wants to see it.
	KeepLeftovers bool
}

// Workbench says what the full-screen program opens with.
type Workbench struct {
	Session string // a uid, a unique start of one, a title or "last"; empty for a new session
}

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs one command line, without the program's name in args, and returns the exit code. Env is "NAME=value" each; the
// environment of the process is not looked at.
func Main(ctx context.Context, p Program, args []string, s Streams, env []string) int {
	c := &command{program: p, streams: s, env: env}
	root := c.root()
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		c.report(cmd, err)
	}
	return int(exitCode(err))
}

// Process runs Main with the arguments, streams and environment of this process.
func Process(ctx context.Context, p Program) int {
	return Main(ctx, p, os.Args[1:], Streams{os.Stdin, os.Stdout, os.Stderr}, os.Environ())
}

// command is one run of the command line.
type command struct {
	program Program
	streams Streams
	env     []string

	profile string
	home    string
	set     []string // --set key=value
}

func (c *command) getenv(name string) string {
	for _, pair := range c.env {
		if k, v, ok := strings.Cut(pair, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// options say where this run's settings come from.
func (c *command) options() (config.Options, error) {
	flags := map[string]string{}
	for _, pair := range c.set {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return config.Options{}, usage("--set %s: write --set key=value", pair)
		}
		flags[key] = value
	}
	o := config.Options{Home: c.home, Profile: c.profile, Env: c.env, Flags: flags}
	if _, err := o.Paths(); err != nil {
		return o, usage("%v", err)
	}
	return o, nil
}

// load reads the settings. Problems of a file are told on stderr and stop nothing; those of flags are the caller's mistake.
func (c *command) load() (Start, error) {
	o, err := c.options()
	if err != nil {
		return Start{}, err
	}
	cfg, problems := config.Load(o)
	for _, p := range problems {
		if p.File == "flags" {
			return Start{}, usage("%s", p)
		}
	}
	return Start{Config: cfg, Options: o, Problems: problems, Session: session.Config{Source: "run"}}, nil
}
