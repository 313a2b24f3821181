package conversation

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
)

// pageSize is how many messages are read at a time.
const pageSize = 200

// maxItems is how many items a conversation that goes on for days holds: beyond it the end of a
// turn brings back the newest page, and what is older is read again when somebody goes there.
const maxItems = 4000

// patience is how long a command may take before it says so.
const patience = 15 * time.Second

// Messages of the pane's own commands.
type (
	pageMsg struct {
		session  string
		before   int
		messages []chat.Message
		more     bool
		err      error
	}
	historyMsg struct{ prompts []compose.Prompt }
	createdMsg struct {
		uid  string
		err  error
		send sending
	}
	sentMsg struct {
		send sending
		err  error
	}
	doneMsg struct {
		what string
		err  error
	}
	undoneMsg struct {
		session string
		prompt  compose.Prompt
		err     error
	}
	filesMsg struct {
		prefix string
		paths  []string
	}
	editedMsg struct {
		text string
		err  error
	}
)

// sending is a prompt on its way.
type sending struct {
	text  string
	parts []chat.Part
	mode  event.InputMode
}

func withTimeout(f func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return f(ctx)
	}
}

// handleOpen handles the first message the pane gets.
func (p *Pane) handleOpen(m ui.OpenSession) tea.Cmd {
	if m.At != 0 && p.loaded {
		if p.showMessage(m.At) {
			return nil
		}
		p.loaded = false
	}
	p.goTo = m.At
	return p.beginLoading()
}

// beginLoading reads what is needed to show the session, once.
func (p *Pane) beginLoading() tea.Cmd {
	var cmds []tea.Cmd
	if !p.remembers && p.deps.History != nil {
		p.remembers, p.recalling = true, true
		cmds = append(cmds, withTimeout(func(ctx context.Context) tea.Msg {
			prompts, _ := p.deps.History.Load(ctx) // a history that cannot be read is an empty one
			return historyMsg{prompts}
		}))
	}
	if p.session != "" && !p.loaded && !p.loading {
		cmds = append(cmds, p.loadPage())
	}
	return tea.Batch(cmds...)
}

func (p *Pane) loadPage() tea.Cmd {
	p.loading, p.reload = true, false
	session, at := p.session, p.goTo
	return withTimeout(func(ctx context.Context) tea.Msg {
		m := pageMsg{session: session}
		if at != 0 {
			m.messages, m.more, m.err = p.deps.Transcript.Around(ctx, session, at, pageSize)
		} else {
			m.messages, m.more, m.err = p.deps.Transcript.Page(ctx, session, 0, pageSize)
		}
		return m
	})
}

// loadOlder reads the page before what is there, when the reader comes near the top.
func (p *Pane) loadOlder() tea.Cmd {
	if p.loading || !p.more || !p.loaded || p.list.Top().Item > 20 {
		return nil
	}
	p.loading = true
	session, before := p.session, p.oldest
	return withTimeout(func(ctx context.Context) tea.Msg {
		m := pageMsg{session: session, before: before}
		m.messages, m.more, m.err = p.deps.Transcript.Page(ctx, session, before, pageSize)
		return m
	})
}

func (p *Pane) takePage(m pageMsg) tea.Cmd {
	if m.session != p.session {
		return nil
	}
	p.loading = false
	held := p.held
	p.held = nil
	if m.err != nil {
		p.failed = "The conversation could not be read: " + oneLine(m.err.Error()) + ". " + p.keyOf("conversation.reload", "f5") + " tries again."
	} else {
		p.failed, p.more = "", m.more
		if len(m.messages) > 0 {
			p.oldest = m.messages[0].Seq
		}
		if m.before > 0 {
			p.script.prependMessages(m.messages)
		} else {
			p.fillTranscript(m.messages)
		}
	}
	for _, e := range held {
		p.foldEvent(e)
	}
	return p.Wake() // what was said may have changed meanwhile
}

// fillTranscript replaces the transcript.
func (p *Pane) fillTranscript(messages []chat.Message) {
	p.loaded = true
	p.script.reset()
	p.list.Clear()
	for i, m := range messages {
		if m.Status == chat.StatusPartial && i == len(messages)-1 { // still streaming: go on from here
			p.script.beginMessage(m.ID, m.Model, m.From, m.At)
			p.script.textDelta(event.TextDelta{MessageID: m.ID, Text: m.Text})
			p.script.reasoningDelta(event.ReasoningDelta{MessageID: m.ID, Text: m.Reasoning})
			continue
		}
		p.script.addMessage(m)
	}
	p.catchUp()
	p.fresh = 0
	if p.goTo != 0 {
		p.showMessage(p.goTo)
		p.goTo = 0
	}
}

// catchUp takes over how the session stands now: nobody may have been here when it came to that.
func (p *Pane) catchUp() {
	agent := p.deps.Agent
	p.queue.setItems(agent.Queue(p.session))
	p.running = agent.Busy(p.session)
	p.asks, p.question = agent.Waiting(p.session)
	for _, a := range p.asks {
		p.markWaiting(a.Call.ID, true)
	}
	for _, q := range p.question {
		p.markWaiting(q.CallID, true)
	}
}

// showMessage brings a message to the top of the window.
func (p *Pane) showMessage(id int64) bool {
	for i := range p.list.Len() {
		if p.list.At(i).(item).messageID() == id {
			p.list.Show(i)
			p.browsing, p.selected = true, i
			return true
		}
	}
	return false
}

// handleOwn handles the messages of the pane's own commands.
func (p *Pane) handleOwn(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case pageMsg:
		return p.takePage(m)
	case historyMsg:
		return p.takeHistory(m.prompts)
	case createdMsg:
		return p.sessionCreated(m)
	case sentMsg:
		if m.err != nil {
			return p.giveBack(m.send, m.err)
		}
	case doneMsg:
		if m.err != nil {
			return showToast(event.Error, m.what+": "+oneLine(m.err.Error()), "")
		}
	case undoneMsg:
		return p.applyUndo(m)
	case queuedMsg:
		return p.takeQueue(m)
	case insteadMsg:
		return p.takeInstead(m)
	case recallMsg:
		p.composer.Recall(m.prompt)
		return p.completeWord()
	case filesMsg, valuesMsg, describedMsg:
		return p.takeOffered(m)
	case attachedMsg:
		return p.takeAttached(m)
	case droppedMsg:
		return p.takeDropped(m)
	case burstMsg:
		return p.burstOver(m)
	case editedMsg:
		if m.err != nil {
			return showToast(event.Error, "The editor failed: "+oneLine(m.err.Error()), "")
		}
		p.composer.SetText(m.text)
	}
	return nil
}

// takeOffered takes what is offered for the line as it stands, or said about it.
func (p *Pane) takeOffered(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case filesMsg:
		p.offerFiles(m)
	case valuesMsg:
		return p.takeValues(m)
	case describedMsg:
		if m.words == p.mentions {
			p.composer.Name(m.what)
		}
	}
	return nil
}

// giveBack puts a prompt that could not be sent back where it was written.
func (p *Pane) giveBack(s sending, err error) tea.Cmd {
	if p.composer.Empty() {
		p.composer.SetText(s.text)
		for _, a := range s.parts {
			p.composer.Attach(a)
		}
	}
	return showToast(event.Error, "Not sent: "+oneLine(err.Error()), "the prompt is back in the line; enter tries again")
}
