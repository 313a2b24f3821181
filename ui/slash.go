package ui

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/core/nearest"
	"hermes/ui/text"
)

// Slash gives conversation panes the slash commands of the action table. Make one, hand it to
// Options.Slash and to the panes; it is empty until the program starts. Use it from the event loop
// only.
type Slash struct{ frame *frame }

// SlashCommand is a slash command as the completion shows it.
type SlashCommand struct {
	Name  string // without the slash
	Also  []string
	Arg   string // usage of its argument
	Title string
	Why   string // reason why it cannot run now; empty when it can
}

// List returns every slash command that exists now, those that are used most first.
func (s *Slash) List() []SlashCommand {
	var first, rest []SlashCommand
	seen := map[string]bool{}
	for _, e := range s.entries() {
		if e.Slash == "" || e.Hidden || seen[e.Slash] {
			continue
		}
		seen[e.Slash] = true
		c := SlashCommand{Name: e.Slash, Also: e.Also, Arg: e.Arg, Title: e.Title, Why: e.disabledReason()}
		if e.First {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	return append(first, rest...)
}

// Run runs a line such as "/theme fjord"; the slash may be missing. ok is false when there is no
// such command.
func (s *Slash) Run(line string) (cmd tea.Cmd, ok bool) {
	name, arg, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "/"), " ")
	e, ok := s.find(name)
	if !ok {
		return nil, false
	}
	s.frame.rememberRun(e.ID)
	return s.frame.runAction(e, strings.TrimSpace(arg)), true
}

// Complete returns what finds the values for a command's argument, nil when it has none.
func (s *Slash) Complete(name string) func(context.Context) []string {
	e, _ := s.find(name)
	return e.Complete
}

// find returns the action of a slash command. Whatever is called so, a skill too, goes before what
// has it as another name.
func (s *Slash) find(name string) (entry, bool) {
	all := s.entries()
	at := slices.IndexFunc(all, func(e entry) bool { return name != "" && e.Slash == name })
	if at < 0 {
		at = slices.IndexFunc(all, func(e entry) bool { return slices.Contains(e.Also, name) })
	}
	if at < 0 {
		return entry{}, false
	}
	return all[at], true
}

// Key returns the first key that an action has now: usual, unless the configuration changed it; ""
// when it has none.
func (s *Slash) Key(id, usual string) string {
	if s == nil || s.frame == nil {
		return usual
	}
	return s.frame.keys.firstKey(id, usual)
}

// Nearest suggests the command that a mistyped name may have meant, or "".
func (s *Slash) Nearest(name string) string {
	var names []string
	for _, e := range s.entries() {
		if e.Slash != "" && !e.Hidden {
			names = append(append(names, e.Slash), e.Also...)
		}
	}
	near, _ := nearest.Name(name, names)
	return near
}

func (s *Slash) entries() []entry {
	if s == nil || s.frame == nil {
		return nil
	}
	return s.frame.reachableActions()
}

// Unknown returns the message that tells what a mistyped command may have meant.
func (s *Slash) Unknown(name string) FrameMsg {
	hint := "type / to see all of them; a leading blank sends it as text"
	if n := s.Nearest(name); n != "" {
		hint = "did you mean /" + n + "? a leading blank sends it as text"
	}
	if s != nil && s.frame != nil && slices.Contains(s.frame.opt.CommandLine, name) {
		return ShowToast{Level: event.Info, Text: "/" + name + " is a command of the command line", Hint: "in a shell: hermes " + name}
	}
	if s != nil && s.frame != nil && s.frame.opt.MoreComes != nil && s.frame.opt.MoreComes() {
		return ShowToast{Level: event.Info, Text: "Skills are still read: /" + oneLine(text.Sanitize(name)) + " is not known yet", Hint: "enter again in a moment; " + hint}
	}
	return ShowToast{Level: event.Warn, Text: "There is no command /" + oneLine(text.Sanitize(name)), Hint: hint}
}

// didYouMean is closest as the end of a sentence.
func didYouMean(got string, names []string) string {
	if n, ok := nearest.Name(got, names); ok {
		return ", did you mean \"" + n + "\"?"
	}
	return ""
}
