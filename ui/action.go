package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// Action is something a person can do. One table of actions feeds key dispatch, the bottom bar, the
// help overlay, the command palette, slash commands and docs/keys.md.
type Action struct {
	ID    string   // "session.fork"; the name in the keys: section of config.yaml
	Keys  []string // default keys as bubbletea names them: "ctrl+p", "alt+1", "g"
	Slash string   // slash command without the slash; empty for none
	Also  []string // other names of the slash command, those of other programs too
	Arg   string   // what the slash command takes, for its usage line: "[name]"; empty for nothing
	Title string   // "Fork this session"
	Help  string   // one more sentence for the help overlay; may be empty
	Group string   // heading in help and docs; the frame fills it with the pane's id when empty

	Bar       string // one or two words for the bottom row; Title when empty
	InBar     bool   // one of the two or three that the pane's bottom row shows
	Card      bool   // one of the keys that matter most: help begins with them
	First     bool   // one of the commands that are used most: / and the palette begin with them
	Dangerous bool   // asks before it runs
	Hidden    bool   // dispatched but not listed (variants of a listed one)

	// Why returns the reason why it cannot run now, or "". nil means always possible.
	Why func() string
	// Run does it. arg is what stood behind the slash command, or "".
	Run func(arg string) tea.Cmd
	// Complete returns what the argument of the slash command can be, best first. It runs beside the
	// event loop and may wait. nil means that nothing is offered.
	Complete func(ctx context.Context) []string
}
