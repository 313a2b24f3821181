package conversation

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	approvals "hermes/core/approval"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
)

// Catches implements ui.Catcher: while a completion is open, the keys that move in it belong to it.
// Esc leaves what is edited, and does nothing to a line that somebody wrote, before it means
// anything else.
func (p *Pane) Catches(key string) bool {
	switch {
	case p.browsing || p.queue.choosing:
		return false
	case key == "tab": // it completes, or says that it cannot: it never leaves a line that somebody writes
		return !p.composer.Empty() || p.isEditing()
	case key == "esc":
		return p.composer.Completing() || p.isEditing() || !p.running && !p.composer.Empty()
	default:
		return p.composer.Completing() && compose.PopupKey(key)
	}
}

// handleTyped handles what no action took: text, and everything that the composer knows.
func (p *Pane) handleTyped(k tea.KeyMsg) tea.Cmd {
	name := k.String()
	text := k.Paste || k.Type == tea.KeyRunes && !k.Alt
	p.burst.after = true
	switch {
	case name == "ctrl+c":
		return p.interruptTurn()
	case k.Paste:
		p.stopBrowsing()
	case p.browsing:
		return whyIgnored(k, name)
	case name == "esc" && !p.composer.Completing():
		return p.escapeLine()
	case p.isTakenAway(name):
		return keyIgnored(name)
	}
	p.queue.choosing = p.queue.choosing && !text
	if p.queue.choosing {
		return whyIgnored(k, name)
	}
	return p.writeKey(k, name, text)
}

// escapeLine leaves what is edited. A line that somebody wrote stays.
func (p *Pane) escapeLine() tea.Cmd {
	switch {
	case p.isEditing():
		p.leaveEdit()
		return nil
	case p.composer.Empty():
		return keyIgnored("esc")
	default:
		return showToast(event.Info, "What you wrote stays", "ctrl+u clears it")
	}
}

// keyIgnored has the frame say why a key did nothing.
func keyIgnored(name string) tea.Cmd {
	return func() tea.Msg { return ui.KeyIgnored{Key: name} }
}

// writeKey handles a key that is for the line that is written.
func (p *Pane) writeKey(k tea.KeyMsg, name string, text bool) tea.Cmd {
	if name == "enter" && !p.composer.Completing() && p.burst.doubtsEnter(p.deps.Now()) {
		return p.lineEnd()
	}
	if text && !k.Paste || k.Type == tea.KeySpace {
		p.burst.noteText(p.deps.Now(), len(k.Runes))
	}
	if cmd, ok := p.dropFile(k); ok {
		return cmd
	}
	if name == "tab" && !p.composer.Completing() {
		return p.completeNow()
	}
	p.tabbed = false
	switch p.composer.Key(k) {
	case compose.Submit:
		return p.submitLine()
	case compose.Ignored:
		return whyIgnored(k, name)
	case compose.Changed:
	}
	return nil
}

// whyIgnored says what a person would otherwise wonder about. Text that is none, a mouse report
// that a slow terminal let through, is nobody's.
func whyIgnored(k tea.KeyMsg, name string) tea.Cmd {
	switch {
	case k.Paste:
		return showToast(event.Info, "The paste has control characters only: nothing was taken", "")
	case k.Type == tea.KeyRunes && !k.Alt:
		return nil
	default:
		return keyIgnored(name)
	}
}

func (p *Pane) toTop() {
	p.list.Home()
	if p.browsing {
		p.selected = -1
		p.moveSelection(1)
		p.list.Home()
	}
}

func (p *Pane) toEnd() {
	p.list.End()
	p.fresh, p.selected = 0, p.list.Len()-1
	if p.browsing {
		p.selected = p.list.Len()
		p.moveSelection(-1)
		p.list.End()
	}
}

// interruptTurn stops the running turn, else clears what was written.
func (p *Pane) interruptTurn() tea.Cmd {
	if !p.running {
		if p.isEditing() {
			p.leaveEdit()
			return nil
		}
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

// submitLine sends what was written, runs it as a command, or saves what was edited.
func (p *Pane) submitLine() tea.Cmd {
	body := strings.TrimSpace(p.composer.Text())
	switch {
	case p.queue.edits != "":
		return p.saveQueued(body)
	case p.instead != nil:
		return p.sendInstead(body)
	}
	s := sending{text: body, parts: p.composer.Parts()}
	command := strings.HasPrefix(p.composer.Text(), "/") && p.deps.Commands != nil
	if command && len(s.parts) > 0 && !isAttachCommand(body) {
		return showToast(event.Warn, "A command takes no parts: nothing was done", "a leading blank sends the line as text, with them")
	}
	var keep tea.Cmd
	sent := compose.Prompt{Text: body, Parts: s.parts}
	if p.composer.Remember(sent) && p.deps.History != nil {
		keep = withTimeout(func(ctx context.Context) tea.Msg {
			return doneMsg{"The prompt history was not saved", p.deps.History.Append(ctx, sent)}
		})
	}
	p.composer.Clear()
	if command {
		for _, part := range s.parts {
			p.composer.Attach(part)
		}
		return tea.Batch(keep, p.runSlash(body))
	}
	s.text = approvals.ExpandCommand(body)
	return tea.Batch(keep, p.sendPrompt(s))
}

// isAttachCommand reports a command that adds to what is attached.
func isAttachCommand(line string) bool {
	name, _, _ := strings.Cut(line, " ")
	return name == "/attach" || name == "/paste"
}

func (p *Pane) runSlash(line string) tea.Cmd {
	cmd, ok := p.deps.Commands.Run(line)
	if ok {
		return cmd
	}
	p.composer.SetText(line)
	name, _, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	unknown := p.deps.Commands.Unknown(name)
	return func() tea.Msg { return unknown }
}

// sendPrompt hands a prompt to the agent; the first one of an empty pane makes the session.
func (p *Pane) sendPrompt(s sending) tea.Cmd {
	p.list.End()
	p.stopBrowsing()
	if p.running && s.mode == "" {
		s.mode = p.mode
	}
	if p.session == "" {
		return withTimeout(func(ctx context.Context) tea.Msg {
			uid, err := p.deps.NewSession(ctx)
			return createdMsg{uid, err, s}
		})
	}
	session := p.session
	return withTimeout(func(ctx context.Context) tea.Msg {
		return sentMsg{s, p.deps.Agent.Submit(ctx, session, s.text, s.parts, s.mode)}
	})
}

// sendIn sends in a mode, whatever enter does.
func (p *Pane) sendIn(s sending, mode event.InputMode) tea.Cmd {
	s.mode = mode
	return p.sendPrompt(s)
}

func (p *Pane) sessionCreated(m createdMsg) tea.Cmd {
	if m.err != nil {
		return p.giveBack(m.send, m.err)
	}
	if p.session == "" {
		p.session, p.loaded = m.uid, true
		p.script.reset()
	}
	return p.sendPrompt(m.send)
}

func (p *Pane) openEditor() tea.Cmd {
	written := p.composer.Text()
	return func() tea.Msg {
		return ui.EditText{Text: written, Suffix: ".md", Done: func(s string, err error) tea.Msg { return editedMsg{s, err} }}
	}
}

// handleMouse scrolls by the wheel and opens what is clicked.
func (p *Pane) handleMouse(m tea.MouseMsg) tea.Cmd {
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		p.list.Scroll(-3)
		return p.loadOlder()
	case m.Button == tea.MouseButtonWheelDown:
		p.list.Scroll(3)
	case m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress:
		pos, ok := p.list.Hit(m.Y)
		if !ok {
			return nil
		}
		switch it := p.itemAt(pos.Item).(type) {
		case *call, *thought, *prompt:
			it.toggleOpen()
		}
	}
	return nil
}
