package conversation

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
)

// key handles what no action took: text, and everything that the composer knows.
func (p *Pane) key(k tea.KeyMsg) tea.Cmd {
	name := k.String()
	if cmd, ok := p.common(name); ok {
		return cmd
	}
	if p.browsing && !k.Paste {
		return p.browse(name)
	}
	if name == "esc" && !p.composer.Completing() {
		return p.escape()
	}
	switch p.composer.Key(k) {
	case compose.Submit:
		return p.submit()
	case compose.Changed, compose.Ignored:
	}
	return nil
}

// common are the keys that work while writing and while browsing.
func (p *Pane) common(name string) (tea.Cmd, bool) {
	switch name {
	case "pgup":
		p.list.Page(-1)
		return p.older(), true
	case "pgdown":
		p.list.Page(1)
	case "ctrl+home":
		p.list.Home()
		return p.older(), true
	case "ctrl+end":
		p.toEnd()
	case "ctrl+up":
		p.startBrowsing()
	case "ctrl+c":
		return p.interrupt(), true
	case "ctrl+y":
		return p.openWaiting(), true
	case "ctrl+g":
		return p.editor(), true
	case "ctrl+r":
		p.loaded = false
		return p.begin(), true
	case "alt+q":
		p.cycleMode()
	case "alt+e":
		p.editQueued()
	case "alt+x":
		return p.dropQueued(), true
	case "end":
		if p.composer.Text() != "" && !p.browsing {
			return nil, false
		}
		p.toEnd()
	default:
		return nil, false
	}
	return nil, true
}

func (p *Pane) toEnd() {
	p.list.End()
	p.fresh, p.selected = 0, p.list.Len()-1
}

// escape stops the turn; with nothing to stop and nothing written it browses.
func (p *Pane) escape() tea.Cmd {
	if p.running {
		return p.interrupt()
	}
	if p.composer.Empty() && p.list.Len() > 0 {
		p.startBrowsing()
	}
	return nil
}

// interrupt stops the running turn, else clears what was written.
func (p *Pane) interrupt() tea.Cmd {
	if !p.running {
		p.composer.Clear()
		return nil
	}
	agent, session := p.deps.Agent, p.session
	return func() tea.Msg {
		agent.Interrupt(session)
		return nil
	}
}

func (p *Pane) cycleMode() {
	next := map[event.InputMode]event.InputMode{event.InputQueue: event.InputSteer, event.InputSteer: event.InputInterrupt}
	if p.mode = next[p.mode]; p.mode == "" {
		p.mode = event.InputQueue
	}
}

// submit sends what was written, or runs it as a command.
func (p *Pane) submit() tea.Cmd {
	body := strings.TrimSpace(p.composer.Text())
	s := sending{text: body, attachments: p.composer.Attachments()}
	var keep tea.Cmd
	if p.composer.Remember(body) && p.deps.History != nil {
		keep = within(func(ctx context.Context) tea.Msg {
			return doneMsg{"The prompt history was not saved", p.deps.History.Append(ctx, body)}
		})
	}
	p.composer.Clear()
	if strings.HasPrefix(body, "/") && p.deps.Commands != nil {
		return tea.Batch(keep, p.slash(body))
	}
	if rest, ok := strings.CutPrefix(body, "!"); ok {
		s.text = "$ " + strings.TrimSpace(rest)
	}
	return tea.Batch(keep, p.send(s))
}

func (p *Pane) slash(line string) tea.Cmd {
	cmd, ok := p.deps.Commands.Run(line)
	if ok {
		return cmd
	}
	p.composer.SetText(line)
	name, _, _ := strings.Cut(line, " ")
	return toast(event.Warn, "There is no command "+oneLine(name), "type / to see all of them; a leading blank sends it as text")
}

// send hands a prompt to the agent; the first one of an empty pane makes the session.
func (p *Pane) send(s sending) tea.Cmd {
	p.list.End()
	p.browsing = false
	if p.running {
		s.mode = p.mode
	}
	if p.session == "" {
		return within(func(ctx context.Context) tea.Msg {
			uid, err := p.deps.NewSession(ctx)
			return createdMsg{uid, err, s}
		})
	}
	session := p.session
	return within(func(ctx context.Context) tea.Msg {
		return sentMsg{s, p.deps.Agent.Submit(ctx, session, s.text, s.attachments, s.mode)}
	})
}

func (p *Pane) created(m createdMsg) tea.Cmd {
	if m.err != nil {
		return p.giveBack(m.send, m.err)
	}
	if p.session == "" {
		p.session, p.loaded = m.uid, true
		p.script.reset()
	}
	return p.send(m.send)
}

func (p *Pane) editor() tea.Cmd {
	written := p.composer.Text()
	return func() tea.Msg {
		return ui.EditText{Text: written, Suffix: ".md", Done: func(s string, err error) tea.Msg { return editedMsg{s, err} }}
	}
}

// editQueued takes the newest waiting prompt back into the composer.
func (p *Pane) editQueued() {
	if len(p.queue) == 0 || !p.composer.Empty() {
		return
	}
	q := p.queue[len(p.queue)-1]
	if p.deps.Agent.DropQueued(p.session, q.ID) {
		p.composer.SetText(q.Text)
		p.queue = p.deps.Agent.Queue(p.session)
	}
}

func (p *Pane) dropQueued() tea.Cmd {
	if len(p.queue) == 0 {
		return nil
	}
	q := p.queue[len(p.queue)-1]
	if !p.deps.Agent.DropQueued(p.session, q.ID) {
		return toast(event.Info, "Too late: it was taken up already", "")
	}
	p.queue = p.deps.Agent.Queue(p.session)
	return toast(event.Info, "Dropped: "+oneLine(q.Text), "up brings it back")
}

// mouse scrolls by the wheel and opens what is clicked.
func (p *Pane) mouse(m tea.MouseMsg) tea.Cmd {
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		p.list.Scroll(-3)
		return p.older()
	case m.Button == tea.MouseButtonWheelDown:
		p.list.Scroll(3)
	case m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress:
		pos, ok := p.list.Hit(m.Y)
		if !ok {
			return nil
		}
		switch it := p.at(pos.Item).(type) {
		case *call, *thought, *prompt:
			it.toggle()
		}
	}
	return nil
}
