package conversation

import (
	"context"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
	"hermes/ui/text"
)

// queueView is the choice among what waits, under the composer.
type queueView struct {
	items    []event.QueuedInput
	choosing bool
	at       int    // chosen; kept in range by set
	edits    string // id of the one whose text stands in the composer; empty for none
}

// setItems takes a new queue and keeps the choice on the prompt that was chosen.
func (q *queueView) setItems(items []event.QueuedInput) {
	id := ""
	if q.choosing && q.at < len(q.items) {
		id = q.items[q.at].ID
	}
	q.items = items
	if i := slices.IndexFunc(items, func(x event.QueuedInput) bool { return x.ID == id }); i >= 0 {
		q.at = i
	}
	q.at = max(0, min(q.at, len(items)-1))
	q.choosing = q.choosing && len(items) > 0
}

// chosenInput is what an action is about: the one chosen, else the newest.
func (q *queueView) chosenInput() (event.QueuedInput, bool) {
	if len(q.items) == 0 {
		return event.QueuedInput{}, false
	}
	if q.choosing {
		return q.items[q.at], true
	}
	return q.items[len(q.items)-1], true
}

func (p *Pane) queueActions() []ui.Action {
	some := func() string {
		if len(p.queue.items) == 0 {
			return "nothing is queued"
		}
		return ""
	}
	inside := func() string {
		if !p.queue.choosing {
			return "nothing is chosen in the queue"
		}
		return ""
	}
	held := func() string {
		if p.queue.choosing {
			return "the key sends the chosen one now"
		}
		if p.running {
			return "a turn runs; what is queued follows by itself"
		}
		return some()
	}
	up := func() string { // of an empty line, where it means nothing else
		if !p.composer.Empty() || p.browsing || p.queue.choosing || p.composer.Recalling() {
			return "the line is not empty"
		}
		return some()
	}
	on := p.queue.choosing
	list := []ui.Action{
		{ID: "conversation.queue.choose", Keys: []string{"alt+e"}, Title: "Choose among what is queued", Help: "Then enter edits, alt+s sends now, alt+t steers, delete drops.", Why: some, Run: p.runPlain(p.chooseQueued)},
		{ID: "conversation.queue.up", Keys: []string{"up"}, Title: "Choose among what is queued", Hidden: true, Why: up, Run: p.runPlain(p.chooseQueued)},
		{ID: "conversation.queue.resume", Keys: []string{"alt+s"}, Title: "Send on what is queued", Help: "After a turn that did not end by itself the queue waits for this.", Bar: "send the queue", Why: held, InBar: !p.running && len(p.queue.items) > 0, Run: p.runCmd(p.resumeQueue)},
		{ID: "conversation.queue.edit", Keys: []string{"enter"}, Title: "Edit the queued prompt", Bar: "edit", Why: inside, InBar: on, Run: p.runPlain(p.editQueued)},
		{ID: "conversation.queue.send", Keys: []string{"alt+s"}, Title: "Send the queued prompt now", Help: "A running turn is stopped for it.", Bar: "send now", Why: inside, InBar: on, Run: p.promoteQueued(event.InputInterrupt)},
		{ID: "conversation.queue.steer", Keys: []string{"alt+t"}, Title: "Show the queued prompt to the model in this turn", Bar: "steer", Why: inside, InBar: on && p.running, Run: p.promoteQueued(event.InputSteer)},
		{ID: "conversation.queue.drop", Keys: []string{"delete", "ctrl+x"}, Title: "Drop the queued prompt", Bar: "drop", Why: inside, InBar: on, Run: p.runCmd(p.dropQueued)},
		{ID: "conversation.queue.previous", Keys: []string{"up", "k"}, Title: "Queued before", Why: inside, Run: p.runPlain(func() { p.queue.at = max(0, p.queue.at-1) })},
		{ID: "conversation.queue.next", Keys: []string{"down", "j"}, Title: "Queued after", Help: "After the last one it goes back to the line.", Why: inside, Run: p.runPlain(p.nextQueued)},
		{ID: "conversation.queue.leave", Keys: []string{"esc"}, Title: "Go back to the line", Bar: "back", Why: inside, InBar: on, Run: p.runPlain(func() { p.queue.choosing = false })},
	}
	for i := range list[3:] {
		list[3+i].Group = "queue"
	}
	return list
}

// chooseQueued begins at the newest one, which is what a person most likely thinks of.
func (p *Pane) chooseQueued() {
	if !p.queue.choosing && len(p.queue.items) > 0 {
		p.browsing, p.queue.choosing, p.queue.at = false, true, len(p.queue.items)-1
	}
}

func (p *Pane) nextQueued() {
	if p.queue.at++; p.queue.at >= len(p.queue.items) {
		p.queue.at, p.queue.choosing = len(p.queue.items)-1, false
	}
}

// editQueued puts the text of the chosen prompt into the composer; what was written there comes
// back after.
func (p *Pane) editQueued() {
	q, ok := p.queue.chosenInput()
	if !ok {
		return
	}
	p.stashLine()
	p.queue.choosing, p.queue.edits = false, q.ID
	p.composer.SetText(q.Text)
}

// queuedMsg is how a change of the queue ended.
type queuedMsg struct {
	what  string
	err   error
	items []event.QueuedInput
	edit  string // the text that an edit would have put there
}

// changeQueue does something to the queue outside of the event loop: it is stored.
func (p *Pane) changeQueue(what string, f func(ctx context.Context, session string) error) tea.Cmd {
	session, agent := p.session, p.deps.Agent
	return withTimeout(func(ctx context.Context) tea.Msg {
		err := f(ctx, session)
		return queuedMsg{what: what, err: err, items: agent.Queue(session)}
	})
}

func (p *Pane) takeQueue(m queuedMsg) tea.Cmd {
	p.queue.setItems(m.items)
	switch {
	case m.err != nil && m.edit != "" && p.composer.Empty():
		p.composer.SetText(m.edit)
		return showToast(event.Warn, "Not changed: "+oneLine(m.err.Error()),
			"the text is back in the line")
	case m.err != nil:
		return showToast(event.Warn, m.what+" did not work: "+oneLine(m.err.Error()), "")
	case strings.HasPrefix(m.what, "Dropped"):
		return showToast(event.Info, m.what, "")
	}
	return nil
}

// saveQueued keeps what was edited.
func (p *Pane) saveQueued(body string) tea.Cmd {
	id, session, agent := p.queue.edits, p.session, p.deps.Agent
	p.leaveEdit()
	return withTimeout(func(ctx context.Context) tea.Msg {
		err := agent.EditQueued(ctx, session, id, body)
		return queuedMsg{err: err, items: agent.Queue(session), edit: body, what: "Editing the queued prompt"}
	})
}

func (p *Pane) dropQueued() tea.Cmd {
	q, ok := p.queue.chosenInput()
	if !ok {
		return nil
	}
	return p.changeQueue("Dropped: "+text.Truncate(oneLine(q.Text), 40, p.env.s.Glyphs.Ellipsis), func(ctx context.Context, session string) error {
		return p.deps.Agent.DropQueued(ctx, session, q.ID)
	})
}

func (p *Pane) promoteQueued(mode event.InputMode) func(string) tea.Cmd {
	return p.runCmd(func() tea.Cmd {
		q, ok := p.queue.chosenInput()
		if !ok {
			return nil
		}
		p.queue.choosing = false
		p.list.End()
		return p.changeQueue("Sending it now", func(ctx context.Context, session string) error {
			return p.deps.Agent.PromoteQueued(ctx, session, q.ID, mode)
		})
	})
}

func (p *Pane) resumeQueue() tea.Cmd {
	p.queue.choosing = false
	p.list.End()
	return p.changeQueue("Sending the queue", p.deps.Agent.Resume)
}

// stashLine puts what was written aside while something else stands in the composer.
func (p *Pane) stashLine() {
	if p.queue.edits == "" && p.instead == nil {
		p.stash = p.composer.Stash()
	}
}

// leaveEdit brings back what was written before something was edited.
func (p *Pane) leaveEdit() {
	p.queue.edits, p.instead = "", nil
	p.composer.Restore(p.stash)
	p.stash = compose.Draft{}
}

// isEditing reports that enter saves a text that stood elsewhere, instead of sending a prompt.
func (p *Pane) isEditing() bool { return p.queue.edits != "" || p.instead != nil }

// drawQueue lists what is queued, under the composer: at most limit lines, the chosen one among
// them.
func (p *Pane) drawQueue(limit int) []string {
	q := &p.queue
	n := min(len(q.items), limit)
	from := 0
	if q.choosing {
		from = max(0, q.at-n+1)
	}
	var out []string
	for i := from; i < from+n; i++ {
		hint := ""
		switch {
		case q.choosing && i == q.at: // the bottom row names the keys
		case i == from+n-1:
			hint = p.queueHint(len(q.items) - from - n)
		}
		out = append(out, p.queueLine(i, hint))
	}
	return out
}

func (p *Pane) queueLine(i int, hint string) string {
	s, q := p.env.s, p.queue.items[i]
	word := "queued"
	switch {
	case q.ID == p.queue.edits:
		word = "edited"
	case q.Mode == event.InputSteer && p.running:
		word = "steers"
	case !p.running:
		word = "held"
	}
	head := "  " + strconv.Itoa(i+1) + " " + word + ": "
	if q.From.Other() {
		head += oneLine(q.From.Words()) + ": "
	}
	if text.Width(hint)+text.Width(head)+12 > p.w {
		hint = ""
	}
	line := head + text.Truncate(oneLine(q.Text), max(4, p.w-text.Width(head)-text.Width(hint)-1), s.Glyphs.Ellipsis)
	if p.queue.choosing && i == p.queue.at {
		return s.Selection.Inline(true).Render(text.Fit(s.Glyphs.Closed+line[1:], p.w))
	}
	return joinSides(s.Dim.Render(line), s.Hint.Render(hint), p.w)
}

// queueHint says how to get at the queue, and how much of it is not shown.
func (p *Pane) queueHint(more int) string {
	hint := ""
	if more > 0 {
		hint = "+" + strconv.Itoa(more) + "  "
	}
	return hint + p.keyOf("conversation.queue.choose", "alt+e") + " changes "
}
