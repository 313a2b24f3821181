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

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/session"
)

// Program is what main hands to the command line.
type Program struct {
	Version string // "" means from the build information
	Commit  string // likewise
	// Open builds the program without a screen. Commands that need no conversation never call it.
	Open func(ctx context.Context, s Start) (*App, error)
	// Workbench runs the full-screen program until the person leaves it.
	Workbench func(ctx context.Context, s Start, o Workbench) error
	// KeyProblems says what is wrong with the keys of the settings: the screen knows its actions, the settings do not.
	// May be nil.
	KeyProblems func(keys map[string][]string) []string
	// Engine looks at the engine at a configured address, for `doctor`. May be nil.
	Engine func(ctx context.Context, address string, images []string) Engine
	// SQLite returns the version of the database library, for `doctor`. May be nil.
	SQLite func() string
}

// Start says with what the program is built.
type Start struct {
	Config     *config.Config
	Options    config.Options   // to follow edits of the settings
	Problems   []config.Problem // what is wrong with the settings
	Source     string           // written on new sessions: "tui", "run"
	Cwd        string           // directory of new sessions, absolute
	Model      string           // replaces the configured one; may be empty
	Toolsets   []string         // likewise
	Firm       bool             // no other model answers in place of the one that was chosen
	Unattended bool             // nobody can answer: what would be asked is refused
	Yes        bool             // what would be asked runs
	YesLevel   *int             // what runs unasked, in place of the setting; nil leaves it
	Log        *slog.Logger
	// KeepLeftovers leaves what a crash left on engines where it is: somebody wants to see it.
	KeepLeftovers bool
}

// Workbench says what the full-screen program opens with.
type Workbench struct {
	Session string // a uid, a unique start of one, a title or "last"; empty for a new session
}

// App is the opened program.
type App struct {
	Bus      *event.Bus
	Sessions Sessions
	Agent    Agent
	Models   Models
	// Backend makes name the back end of a session; nil when there is nothing to choose.
	Backend func(session, name string) error
	// Skill returns a skill of a session's folder as a part of what the person says; nil when there are none.
	Skill func(ctx context.Context, cwd, name string) (chat.Attachment, error)
	// Notices are what was said while the program was being opened: a home that keeps nothing, a repaired database.
	Notices []event.Notice
	Close   func(ctx context.Context) error
	// Pool is the back ends, and Leftovers what engines have of them; nil when there are none.
	Pool      Pool
	Leftovers Leftovers
}

// Agent is what `run` needs of the agent.
type Agent interface {
	Submit(ctx context.Context, session string, in agent.Input) error
	Interrupt(session string) bool
	Wait(ctx context.Context, session string) error
	Answer(approvalID string, d event.Decision) error
	AnswerQuestion(id, text string) error
	SetModel(ctx context.Context, session, ref string) error
}

// Models is what `model` needs.
type Models interface {
	// Resolve says what a reference means: "provider/model", "model", a provider's name, or "" for the default.
	Resolve(ctx context.Context, ref string) (provider.Provider, provider.Model, error)
	// List asks every provider; it uses the network for at most some seconds.
	List(ctx context.Context) []provider.Model
}

// Sessions is what the command line needs of the session service.
type Sessions interface {
	Create(ctx context.Context, n session.NewSession) (event.SessionInfo, error)
	Resolve(ctx context.Context, ref string) (event.SessionInfo, error)
	Open(ctx context.Context, uid, how string) (event.SessionInfo, error)
	SetPlace(ctx context.Context, uid, cwd, project string) error
	List(ctx context.Context, f session.Filter) ([]event.SessionInfo, error)
	Messages(ctx context.Context, uid string, p session.Page) (msgs []chat.Message, more bool, err error)
	Search(ctx context.Context, q session.Query) (session.Results, error)
	Export(ctx context.Context, uid string, w io.Writer, f session.Format) error
	Import(ctx context.Context, r io.Reader) ([]event.SessionInfo, error)
	ImportHermes(ctx context.Context, path string, progress func(done, total int)) (session.ImportReport, error)
	Fork(ctx context.Context, uid string, atMessage int64) (event.SessionInfo, error)
	Rename(ctx context.Context, uid, title string) error
	Delete(ctx context.Context, uid string) error
	Stats(ctx context.Context) (session.Stats, error)
	Check(ctx context.Context) (session.CheckReport, error)
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
	flags   map[string]string
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
	for k, v := range c.flags {
		flags[k] = v
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
	return Start{Config: cfg, Options: o, Problems: problems, Source: "run"}, nil
}
