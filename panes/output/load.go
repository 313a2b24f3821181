package output

import (
	"context"
	"encoding/json"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/text"
)

// What is asked of a resumed session.
const (
	loadMessages = 40
	loadTimeout  = 5 * time.Second
)

// loadedMsg brings the calls of a resumed session.
type loadedMsg struct {
	session  string
	messages []chat.Message
	err      error
}

// focusSession shows another session.
func (p *Pane) focusSession(uid string) tea.Cmd {
	if uid == p.session {
		return nil
	}
	p.session, p.memoOK = uid, false
	p.view.reset()
	return tea.Batch(p.loadPast(), p.loadOverview())
}

// Wake implements ui.Waker: after a loss of events it asks what became of the calls.
func (p *Pane) Wake() tea.Cmd {
	if !p.stale {
		return p.loadOverview()
	}
	p.stale = false
	return tea.Batch(p.loadPast(), p.loadOverview())
}

// loadPast asks, once a session, what its tools did before.
func (p *Pane) loadPast() tea.Cmd {
	uid, history := p.session, p.history
	if uid == "" || history == nil || p.loaded[uid] {
		return nil
	}
	p.loaded[uid] = true
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
		defer cancel()
		msgs, err := history.Recent(ctx, uid, loadMessages)
		return loadedMsg{session: uid, messages: msgs, err: err}
	}
}

// takeLoaded puts past calls before the live ones, and ends those whose end was lost.
func (p *Pane) takeLoaded(m loadedMsg) {
	if m.err != nil {
		delete(p.loaded, m.session) // the conversation pane says that the store cannot be read; the next visit asks again
		return
	}
	before := p.currentCall()
	gists := map[string]string{}
	var old []*call
	for _, msg := range m.messages {
		for _, tc := range msg.Calls {
			gists[tc.ID] = argumentSummary(tc.Name, tc.Args)
		}
		r := msg.Result
		if r == nil {
			continue
		}
		if live := p.byID[callKey{m.session, r.CallID}]; live != nil {
			if live.isRunning() {
				live.finish(msg.At, *r)
			}
			continue
		}
		gist := gists[r.CallID]
		if len(r.Ran) > 0 { // not what the model asked for
			gist = argumentSummary(r.Name, r.Ran)
		}
		c := &call{id: r.CallID, session: m.session, name: text.Inline(r.Name), gist: gist, started: msg.At.Add(-r.Took), offset: map[event.Stream]int64{}}
		c.finish(msg.At, *r)
		old = append(old, c)
		p.byID[c.key()] = c
	}
	p.calls = append(old, p.calls...)
	p.turnTo(before)
	p.dropOldest()
	p.memoOK = false
}

// argumentSummary guesses the one line that tells what a past call did, from its arguments.
func argumentSummary(name string, args json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(args, &fields) != nil {
		return text.Inline(name)
	}
	for _, key := range []string{"command", "path", "pattern", "query", "question", "action"} {
		if s, ok := fields[key].(string); ok && s != "" {
			return text.Inline(s)
		}
	}
	return text.Inline(name)
}
