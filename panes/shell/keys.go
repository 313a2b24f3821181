package shell

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/text"
)

// escape is the one action that works while the shell has the keys.
const escape = "shell.escape"

// Grabs implements ui.Grabber.
func (p *Pane) Grabs() string {
	if p.isTyping() {
		return escape
	}
	return ""
}

// Typing implements ui.Typer.
func (p *Pane) Typing() bool { return p.isTyping() }

func (p *Pane) isTyping() bool { return !p.commands && p.failed == nil && !p.hasEnded() }

// Update implements ui.Pane.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case startedMsg:
		p.proc, p.failed, p.memoOK = m.proc, m.err, false
		if p.proc != nil {
			p.started = time.Now()
			return p.Wake()
		}
	case tea.KeyMsg:
		if p.isTyping() && p.link != nil {
			return p.sendKeys(p.link.term.Key(m))
		}
	case tea.MouseMsg:
		return p.handleMouse(m)
	}
	return nil
}

// sendKeys types into the shell, and goes back to where that shows.
func (p *Pane) sendKeys(data []byte) tea.Cmd {
	if len(data) == 0 {
		return nil
	}
	if p.back > 0 {
		p.back, p.memoOK = 0, false
	}
	if !p.link.typeInput(data) {
		return func() tea.Msg {
			return ui.ShowToast{Level: event.Warn, Text: "the shell does not read what is typed", Hint: "ctrl+] and w close it"}
		}
	}
	return nil
}

// handleMouse is the program's when it wants it; the wheel looks at the history, or moves in
// programs that have none.
func (p *Pane) handleMouse(m tea.MouseMsg) tea.Cmd {
	if p.link == nil || p.hasEnded() {
		return nil
	}
	if data := p.link.term.Mouse(m); data != nil && p.isTyping() {
		return p.sendKeys(data)
	}
	step := map[tea.MouseButton]int{tea.MouseButtonWheelUp: 3, tea.MouseButtonWheelDown: -3}[m.Button]
	switch {
	case step == 0:
		return nil
	case p.link.term.Alternate():
		key := tea.KeyMsg{Type: tea.KeyUp}
		if step < 0 {
			key.Type = tea.KeyDown
		}
		one := p.link.term.Key(key)
		return p.sendKeys(append(append(one, one...), one...))
	}
	p.scrollLines(step)
	return nil
}

func (p *Pane) scrollLines(lines int) {
	if p.link == nil {
		return
	}
	p.back = min(max(p.back+lines, 0), p.link.term.History())
	p.memoOK = false
}

// Actions implements ui.Pane.
func (p *Pane) Actions() []ui.Action {
	typing := p.isTyping()
	scroll := func(lines int) func(string) tea.Cmd {
		return func(string) tea.Cmd { p.scrollLines(lines); return nil }
	}
	return []ui.Action{
		{
			ID: escape, Keys: []string{"ctrl+]"}, Title: "Stop typing into the shell", Bar: "leave the shell", InBar: typing, Group: "shell",
			Help: "All other keys are the shell's. Again: sends ctrl+] itself.", Run: p.leaveKeys,
		},
		{ID: "shell.type", Keys: []string{"enter", "i"}, Title: "Type into the shell again", Bar: "type", InBar: !typing, Group: "shell", Why: p.whyNotType, Run: func(string) tea.Cmd {
			p.commands, p.back, p.memoOK = false, 0, false
			return nil
		}},
		{ID: "shell.up", Keys: []string{"up", "k"}, Title: "Look at what scrolled away", Bar: "scroll", InBar: !typing, Group: "shell", Why: p.whyNoHistory, Run: scroll(1)},
		{ID: "shell.down", Keys: []string{"down", "j"}, Title: "Down again", Hidden: true, Group: "shell", Run: scroll(-1)},
		{ID: "shell.pageup", Keys: []string{"pgup"}, Title: "A page of history up", Group: "shell", Why: p.whyNoHistory, Run: scroll(max(1, p.h-1))},
		{ID: "shell.pagedown", Keys: []string{"pgdown"}, Title: "A page of history down", Group: "shell", Run: scroll(-max(1, p.h-1))},
		{ID: "shell.top", Keys: []string{"home", "g"}, Title: "Begin of the history", Hidden: true, Group: "shell", Why: p.whyNoHistory, Run: scroll(1 << 30)},
		{ID: "shell.end", Keys: []string{"end", "G"}, Title: "End of the history", Hidden: true, Group: "shell", Run: scroll(-1 << 30)},
		{
			ID: "shell.close", Keys: []string{"w", "q"}, Title: "Close this shell", Bar: "close", InBar: !typing, Group: "shell", Dangerous: p.isRunning(),
			Help: p.closeWarning(), Run: func(string) tea.Cmd { return p.closePane() },
		},
	}
}

func (p *Pane) isRunning() bool { return p.proc != nil && !p.hasEnded() }

// closeWarning says what closing ends.
func (p *Pane) closeWarning() string {
	switch {
	case !p.isRunning():
		return "It has ended."
	case p.link.term.Alternate():
		return "It ends, and with it the full-screen program in it."
	default:
		return "It ends, and with it whatever runs in it."
	}
}

// leaveKeys gives the keys back to Hermes; pressed again, it is a key like the others.
func (p *Pane) leaveKeys(string) tea.Cmd {
	p.memoOK = false
	if p.commands && p.link != nil && !p.hasEnded() {
		p.commands = false
		return p.sendKeys([]byte{0x1d})
	}
	p.commands = true
	return nil
}

func (p *Pane) whyNotType() string {
	switch {
	case p.failed != nil:
		return "the shell could not be started"
	case p.hasEnded():
		return "the shell has ended"
	default:
		return ""
	}
}

func (p *Pane) whyNoHistory() string {
	switch {
	case p.link == nil || p.link.term.History() == 0 && !p.link.term.Alternate():
		return "nothing has scrolled away"
	case p.link.term.Alternate():
		return "a full-screen program has no history"
	default:
		return ""
	}
}

// Copy implements ui.Copier: what the terminal shows.
func (p *Pane) Copy() (content, what string) {
	if p.link == nil {
		return "", ""
	}
	var b []byte
	for _, row := range p.link.term.Rows(0, p.back) {
		b = append(append(b, strings.TrimRight(text.Sanitize(row), " ")...), '\n')
	}
	return string(b), "terminal"
}
