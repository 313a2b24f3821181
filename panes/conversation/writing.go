package conversation

import (
	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
)

var (
	_ ui.Writer   = (*Pane)(nil)
	_ ui.Beginner = (*Pane)(nil)
)

// Write implements ui.Writer.
func (p *Pane) Write(s string) tea.Cmd {
	p.stopBrowsing()
	p.queue.choosing, p.memoOK = false, false
	if s == "" {
		return nil
	}
	return tea.Batch(p.handleTyped(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)}), p.completeWord())
}

// Begin implements ui.Beginner.
func (p *Pane) Begin(s string) tea.Cmd {
	p.stopBrowsing()
	p.queue.choosing, p.memoOK = false, false
	p.composer.SetText(s + p.composer.Text())
	return p.completeWord()
}

// completeNow is tab in a line that is not empty: it completes what stands at the cursor, or shows
// what it could become. It never leaves the line.
func (p *Pane) completeNow() tea.Cmd {
	if p.composer.Token().Kind == 0 {
		return showToast(event.Info, "Nothing to complete here", "@ names a file; "+p.keyOf("focus.sessions", "alt+1")+" and its like go to other panes")
	}
	p.composer.Unmute()
	p.last, p.tabbed = p.composer.Token(), true
	p.last.Kind = 0 // asked for: offered again
	cmd := p.completeWord()
	p.takeOnly()
	return cmd
}

// takeOnly takes the only offer after a tab.
func (p *Pane) takeOnly() {
	if p.tabbed && p.composer.Completing() {
		p.tabbed = false
		p.composer.TakeOnly()
	}
}

// leave asks the frame to end the program: of an empty line, as in a shell.
func (p *Pane) leaveAction() ui.Action {
	empty := func() string {
		switch {
		case p.composer.Text() != "":
			return "the line is not empty; ctrl+u clears it"
		case !p.composer.Empty():
			return "something is attached to the line; ctrl+u clears it"
		default:
			return ""
		}
	}
	return ui.Action{
		ID: "conversation.leave", Keys: []string{"ctrl+d"}, Title: "Leave Hermes", Card: true, Help: "From an empty line; the first time asks.", Why: empty,
		Run: p.runCmd(func() tea.Cmd {
			key := p.keyOf("conversation.leave", "ctrl+d")
			return func() tea.Msg { return ui.Leave{Key: key} }
		}),
	}
}

// lineActions are the keys of the line itself that a person may change.
func (p *Pane) lineActions() []ui.Action {
	elsewhere := func() string {
		if !p.Typing() {
			return "esc goes back to the line first"
		}
		return ""
	}
	press := func(k tea.KeyMsg) func(string) tea.Cmd {
		return p.runCmd(func() tea.Cmd {
			p.burst.after = true
			return tea.Batch(p.writeKey(k, k.String(), false), p.completeWord(), p.describeMentions())
		})
	}
	return []ui.Action{
		{ID: "conversation.line.send", Keys: []string{"enter"}, Title: "Send", Card: true, Help: "While a turn runs it queues, steers or interrupts.", Why: elsewhere, Run: press(tea.KeyMsg{Type: tea.KeyEnter})},
		{ID: "conversation.line.break", Keys: []string{"alt+enter", "ctrl+j"}, Title: "Break the line", Card: true, Why: elsewhere, Run: press(tea.KeyMsg{Type: tea.KeyCtrlJ})},
		p.historyAction(),
	}
}

// isTakenAway reports a key of the line that the settings gave to something else, or to nothing.
func (p *Pane) isTakenAway(name string) bool {
	switch name {
	case "enter":
		return !p.composer.Completing() && p.keyOf("conversation.line.send", name) != name
	case "alt+enter", "ctrl+j":
		return p.keyOf("conversation.line.break", "alt+enter") != "alt+enter"
	default:
		return false
	}
}
