package ui_test

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
)

// fake is a pane that shows what it was told.
type fake struct {
	id      ui.ID
	uid     string
	typing  bool
	w, h    int
	styles  *style.Styles
	focused bool
	typed   string
	said    []string
	events  int
}

func (p *fake) ID() ui.ID               { return p.id }
func (p *fake) Title() ui.Title         { return ui.Title{Text: string(p.id), Right: fmt.Sprint(len(p.said))} }
func (p *fake) Resize(w, h int)         { p.w, p.h = w, h }
func (p *fake) Restyle(s *style.Styles) { p.styles = s }
func (p *fake) Focus(on bool)           { p.focused = on }
func (p *fake) Typing() bool            { return p.typing }
func (p *fake) Session() string         { return p.uid }
func (p *fake) Cursor() (int, int, bool) {
	return 2 + text.Width(p.typed), p.h - 1, p.typing
}

func (p *fake) Apply(events []event.Envelope) bool {
	changed := false
	for _, e := range events {
		p.events++
		if d, ok := e.Event.(event.TextDelta); ok && p.typing {
			p.said = append(p.said, d.Text)
			changed = true
		}
	}
	return changed
}

// told is a message of the fake's own command.
type told struct{ text string }

func (p *fake) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ui.SessionFocused:
		p.said = append(p.said, "session "+msg.UID)
	case ui.OpenSession:
		return func() tea.Msg { return told{"opened " + msg.UID} }
	case told:
		p.said = append(p.said, msg.text)
	case tea.MouseMsg:
		p.said = append(p.said, fmt.Sprintf("mouse %d,%d", msg.X, msg.Y))
	case tea.KeyMsg:
		switch msg.Type {
		case tea.KeyRunes:
			p.typed += string(msg.Runes)
		case tea.KeyCtrlC:
			p.said = append(p.said, "interrupted")
		case tea.KeyEnter:
			said := p.typed
			p.typed = ""
			return func() tea.Msg { return told{"you: " + said} }
		default:
		}
	}
	return nil
}

func (p *fake) View() string {
	if p.w <= 0 || p.h <= 0 {
		return ""
	}
	lines := make([]string, p.h)
	said := p.said[max(len(p.said)-(p.h-1), 0):]
	copy(lines, said)
	lines[p.h-1] = p.styles.Prompt.Render("❯") + " " + p.typed
	return text.Block(lines, p.w, p.h)
}

func (p *fake) Actions() []ui.Action {
	name, _, _ := strings.Cut(string(p.id), ":")
	return []ui.Action{
		{ID: name + ".wipe", Keys: []string{"ctrl+x"}, Slash: "wipe", Title: "Wipe everything", Bar: "wipe", InBar: true, Dangerous: true, Run: func(string) tea.Cmd {
			return func() tea.Msg { return told{"wiped"} }
		}},
		{ID: name + ".note", Keys: []string{"n"}, Slash: "note", Arg: "text", Title: "Note something", Bar: "note", InBar: true, Run: func(arg string) tea.Cmd {
			return func() tea.Msg { return told{"note " + arg} }
		}},
		{ID: name + ".never", Keys: []string{"z"}, Title: "Never possible", Why: func() string { return "it never is" }, Run: nil},
	}
}

// options makes a program of fakes. The conversations are typed into; the others are not.
func options(tb testing.TB) (ui.Options, *[]*fake) {
	tb.Helper()
	none := style.None
	convs := &[]*fake{}
	opt := ui.Options{
		Bus: event.NewBus(),
		Conversation: func(uid string) ui.Pane {
			if uid == "" {
				uid = fmt.Sprintf("s%d", len(*convs)+1)
			}
			p := &fake{id: ui.ID("conversation:" + uid), uid: uid, typing: true}
			*convs = append(*convs, p)
			return p
		},
		Side:  []ui.Pane{&fake{id: "sessions"}, &fake{id: "output"}, &fake{id: "backends"}},
		Level: &none,
		Slash: &ui.Slash{},
	}
	return opt, convs
}

// searched is a fake that can be searched: a word of n letters below four has n hits.
type searched struct{ *fake }

func (searched) Search(query string) int { return len(query) % 4 }
