// Package base is what the commands of the command line share: the settings and streams of one run,
// the program that it opens, exit codes and errors, tables and JSON.
package base

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"hermes/core/backend"
	"hermes/core/client"
	"hermes/core/config"
	"hermes/core/profile"
	"hermes/core/provider"
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
	// KeyProblems says what is wrong with the keys of the settings: which actions there are not, and
	// which keys two actions have. The screen knows its actions, the settings do not. May be nil.
	KeyProblems func(keys map[string][]string) (unknown, conflicts []string)
	// Examine looks at where back ends are, for `doctor`. May be nil.
	Examine func(ctx context.Context, c *config.Config) []backend.Finding
	// Database says what is wrong with the file of the conversations, and whether all of it was
	// looked at; for `doctor`. May be nil.
	Database func(ctx context.Context, path string) (wrong string, all bool)
	// Driven reports whether a program that some Hermes started runs this one, so that no person
	// says what it is told. May be nil: nobody does.
	Driven func() bool
	// Kinds are the wire formats, by which `setup` tries a model server. May be nil: nothing is tried.
	Kinds map[string]provider.Maker
	// SQLite returns the version of the database library, for `doctor`. May be nil.
	SQLite func() string
}

// Start says with what the program is built.
type Start struct {
	Config       *config.Config
	Options      config.Options   // to follow edits of the settings
	Problems     []config.Problem // what is wrong with the settings
	Session      session.Config   // how sessions work that say nothing else
	Cwd          string           // directory of new sessions, absolute
	Model        string           // replaces the configured one; may be empty
	NoSubstitute bool             // no other model answers in place of the one that was chosen
	Log          *slog.Logger
	Version      string // of this program
	// KeepLeftovers leaves what a crash left on engines where it is: somebody wants to see it.
	KeepLeftovers bool
}

// Workbench says what the full-screen program opens with.
type Workbench struct {
	Session  string   // a uid, a unique start of one, a title or "last"; empty for a new session
	Prompt   string   // sent there at once; empty for none
	Commands []string // names of the commands of the command line
}

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Command is one run of the command line.
type Command struct {
	Program Program
	Streams Streams
	Env     []string

	Profile string
	Home    string
	Set     []string // --set key=value
}

// Getenv is a variable of the environment, "" when it is not set.
func (c *Command) Getenv(name string) string {
	for _, pair := range c.Env {
		if k, v, ok := strings.Cut(pair, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// Driven reports whether a program that some Hermes started runs this command line.
func (c *Command) Driven() bool { return c.Program.Driven != nil && c.Program.Driven() }

// Options say where this run's settings come from.
func (c *Command) Options() (config.Options, error) {
	flags := map[string]string{}
	for _, pair := range c.Set {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return config.Options{}, UsageError("--set %s: write --set key=value", pair)
		}
		flags[key] = value
	}
	o := config.Options{Home: c.Home, Profile: c.Profile, Env: c.Env, Flags: flags}
	paths, err := o.Paths()
	if err != nil {
		return o, UsageError("%v", err)
	}
	if p := profile.Of(paths.Root); !p.Exists(paths.Profile) { // a mistyped one must not become a new one
		if c.Profile == "" && paths.Profile == config.ActiveProfile(paths.Root) {
			return o, UsageError("%v; `hermes profile switch default` uses none", p.Missing(paths.Profile))
		}
		return o, UsageError("%v", p.Missing(paths.Profile))
	}
	return o, nil
}

// Load reads the settings. Problems of a file are told on stderr and stop nothing; those of flags
// are the caller's mistake.
func (c *Command) Load() (Start, error) {
	o, err := c.Options()
	if err != nil {
		return Start{}, err
	}
	cfg, problems := config.Load(o)
	for _, p := range problems {
		if p.File == config.FromFlags {
			return Start{}, UsageError("%s", p)
		}
	}
	return Start{Config: cfg, Options: o, Problems: problems, Session: session.Config{Source: "run"}, Version: c.Version().Version}, nil
}

// Paths are where the profile of this run keeps things.
func (c *Command) Paths() (config.Paths, error) {
	o, err := c.Options()
	if err != nil {
		return config.Paths{}, err
	}
	return o.Paths()
}
