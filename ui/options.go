package ui

import (
	"context"
	"io"
	"os/exec"
	"time"

	"hermes/core/event"
	"hermes/themes"
	"hermes/ui/style"
)

// Options are what the frame is made of. Bus and Conversation are required.
type Options struct {
	Bus *event.Bus
	// Conversation makes the pane of a session; an empty uid means a new one.
	Conversation func(uid string) Pane
	// Side are the other panes: sessions, output and back ends, in this order. Fewer are fine.
	Side []Pane
	// Session is the uid to open first; empty for a new one.
	Session string
	// Actions are what the rest of the program offers everywhere. Their messages must be FrameMsgs.
	Actions []Action
	// More are actions that come and go, each a slash command; asked for whenever they are listed.
	// It must not block. May be nil.
	More func() []Action
	// MoreComes says that More is not whole yet. May be nil.
	MoreComes func() bool
	// CommandLine are the names of the commands of the command line: one of them that is no slash
	// command is said to be there.
	CommandLine []string
	// Keys changes keys by action id; an empty list takes all keys away. See Program.KeyProblems.
	Keys map[string][]string
	// Slash, when set, is bound to the action table: the conversation panes complete and run slash
	// commands through it.
	Slash *Slash

	Theme    string                  // name; empty or "default" means the one that fits the terminal
	ThemeDir string                  // the user's own themes, watched; may be empty
	SetTheme func(name string) error // remembers a picked theme; may be nil
	Level    *style.Level            // nil means by the environment
	ASCII    *bool                   // nil means by the environment
	NoMouse  bool
	Notify   string // "always", "unfocused" (also when empty) or "never"
	// Defaults is how sessions work that say nothing else; asked while the row is drawn, so it must
	// not block. ok is false until it is known. May be nil.
	Defaults func() (d Defaults, ok bool)
	// Around is what Session stands in as far as it is known before Look: the first frame shows it.
	Around Surroundings
	// Look reads what a session stands in. It is called off the event loop; may be nil.
	Look func(ctx context.Context, session string) Surroundings
	// NoModel is the name of the provider that is no language model: what stands in for one while
	// none is connected.
	NoModel string
	State   StateStore // remembers the layout; may be nil
	// Standing tells whether a turn of a session runs, and the ids of what waits for the person
	// there. It is asked after a loss of events, and must not block. Nil means that nothing runs
	// and nothing waits.
	Standing func(session string) (busy bool, waits []string)
	// Hurry ends a session's wait for its model, if it has one. It must not block; nil does nothing.
	Hurry func(session string)

	Output io.Writer           // nil means standard output
	Input  io.Reader           // nil means standard input
	Getenv func(string) string // nil means os.Getenv
	Now    func() time.Time    // nil means time.Now
	// Command makes the process for an editor or a clipboard tool; nil means exec.CommandContext.
	// For tests.
	Command func(ctx context.Context, name string, args ...string) *exec.Cmd
	// W and H are the size when Output is no terminal.
	W, H int

	light bool // the terminal said that its background is light
}

// Defaults are what the settings say about every session.
type Defaults struct {
	Level  string // of approval: "plan", "read", ..., "all", "smart"
	Effort string // of reasoning; "" leaves it to the model
}

// StateStore keeps a few hundred bytes between starts. Load returns nil when there are none.
type StateStore interface {
	Load() ([]byte, error)
	Save(data []byte) error
}

// loadTheme loads the wanted theme, or the default with the reason why not.
func (o Options) loadTheme(name string) (themes.Theme, error) {
	var dirs []string
	if o.ThemeDir != "" {
		dirs = append(dirs, o.ThemeDir)
	}
	def := themes.DefaultDark
	if o.light || !style.DarkBackground(o.Getenv) {
		def = themes.DefaultLight
	}
	if name == "" || name == "default" {
		name = def
	}
	t, err := themes.Load(name, dirs...)
	if err == nil {
		return t, nil
	}
	t, bad := themes.Load(def)
	if bad != nil {
		return t, bad // cannot be: built in and tested
	}
	return t, err
}

func (o Options) newStyles(t themes.Theme) *style.Styles {
	level, ascii := style.Detect(o.Getenv), style.DetectASCII(o.Getenv)
	if o.Level != nil {
		level = *o.Level
	}
	if o.ASCII != nil {
		ascii = *o.ASCII
	}
	return style.New(t, level, ascii)
}
