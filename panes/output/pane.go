// Package output is the pane that shows what tools print, live: the newest running call of the focused session, or the
// one that the person selected. It folds ToolStarted, ToolOutput and ToolEnded; it never reads the disk while it draws.
package output

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
)

// PaneID is the pane's name in configuration and layout.
const PaneID ui.ID = "output"

// maxCalls bounds the calls remembered over all sessions.
const maxCalls = 64

// History gives the tool results of a session that was resumed.
type History interface {
	// Recent returns up to limit of the newest messages, oldest first.
	Recent(ctx context.Context, session string, limit int) ([]chat.Message, error)
}

// Pane implements ui.Pane.
type Pane struct {
	history History
	now     func() time.Time
	styles  *style.Styles
	w, h    int

	session string
	calls   []*call          // oldest first, over all sessions
	byID    map[string]*call //
	pinned  *call            // selected by the person; nil follows the newest
	loaded  map[string]bool  // sessions whose history was asked for

	view   view
	memo   string
	memoOK bool
}

var (
	_ ui.Pane        = (*Pane)(nil)
	_ ui.Copier      = (*Pane)(nil)
	_ ui.Searcher    = (*Pane)(nil)
	_ ui.SearchMover = (*Pane)(nil)
)

// New returns the pane. history may be nil.
func New(history History) *Pane {
	return &Pane{history: history, now: time.Now, byID: map[string]*call{}, loaded: map[string]bool{}, view: view{follow: true, wrap: true}}
}

// SetClock replaces the clock, for pictures that must not change with the time of day.
func (p *Pane) SetClock(now func() time.Time) { p.now = now }

// ID implements ui.Pane.
func (p *Pane) ID() ui.ID { return PaneID }

// Title implements ui.Pane: the call's gist, where it runs and for how long.
func (p *Pane) Title() ui.Title {
	c := p.current()
	if c == nil {
		return ui.Title{Text: "Output"}
	}
	t := ui.Title{Text: "Output ── " + c.name}
	if c.gist != "" {
		t.Text = "Output ── " + c.gist
	}
	t.Right = c.backend
	if t.Right != "" {
		t.Right += " "
	}
	t.Right += clock(c.took(p.now()))
	if !c.running() {
		t.Right = c.outcome() + " " + t.Right
	}
	return t
}

// Resize implements ui.Pane.
func (p *Pane) Resize(w, h int) {
	if w != p.w || h != p.h {
		p.w, p.h, p.memoOK = w, h, false
	}
}

// Restyle implements ui.Pane.
func (p *Pane) Restyle(s *style.Styles) { p.styles, p.memoOK = s, false }

// Apply implements ui.Pane.
func (p *Pane) Apply(events []event.Envelope) bool {
	changed := false
	for _, env := range events {
		changed = p.apply(env) || changed
	}
	if changed {
		p.memoOK = false
	}
	return changed
}

func (p *Pane) apply(env event.Envelope) bool {
	switch e := env.Event.(type) {
	case event.ToolStarted:
		p.add(newCall(env.Header, e))
	case event.ToolOutput:
		c := p.byID[e.CallID]
		if c == nil {
			return false
		}
		c.output(e)
		return c == p.current()
	case event.ToolEnded:
		c := p.byID[e.Result.CallID]
		if c == nil {
			return false
		}
		c.end(env.At, e.Result)
		return c == p.current()
	case event.SessionDeleted:
		p.forget(env.Session)
	case event.Resync:
		p.loaded = map[string]bool{}
	default:
		return false
	}
	return true
}

// add remembers a call and forgets the oldest finished one beyond the bound.
func (p *Pane) add(c *call) {
	if p.byID[c.id] != nil {
		return
	}
	p.calls, p.byID[c.id] = append(p.calls, c), c
	if c.session == p.session && p.pinned != nil && !p.pinned.running() {
		p.pinned = nil // a new call takes over from a selected one that is over
	}
	if p.current() == c {
		p.view.reset()
	}
	for i := 0; len(p.calls) > maxCalls && i < len(p.calls); i++ {
		if old := p.calls[i]; !old.running() && old != p.pinned {
			delete(p.byID, old.id)
			p.calls = append(p.calls[:i:i], p.calls[i+1:]...)
			i--
		}
	}
}

func (p *Pane) forget(session string) {
	keep := p.calls[:0]
	for _, c := range p.calls {
		if c.session == session {
			delete(p.byID, c.id)
			if p.pinned == c {
				p.pinned = nil
			}
			continue
		}
		keep = append(keep, c)
	}
	p.calls = keep
}

// current is the call that is shown: the selected one, else the newest running, else the newest.
func (p *Pane) current() *call {
	if p.pinned != nil && p.pinned.session == p.session {
		return p.pinned
	}
	var newest *call
	for i := len(p.calls) - 1; i >= 0; i-- {
		c := p.calls[i]
		if c.session != p.session {
			continue
		}
		if c.running() {
			return c
		}
		if newest == nil {
			newest = c
		}
	}
	return newest
}

// mine lists the focused session's calls, oldest first.
func (p *Pane) mine() []*call {
	var out []*call
	for _, c := range p.calls {
		if c.session == p.session {
			out = append(out, c)
		}
	}
	return out
}

// loadedMsg brings the calls of a resumed session.
type loadedMsg struct {
	session  string
	messages []chat.Message
	err      error
}

// focusSession shows another session and asks once for what its tools did before.
func (p *Pane) focusSession(uid string) tea.Cmd {
	if uid == p.session {
		return nil
	}
	p.session, p.memoOK = uid, false
	p.view.reset()
	if uid == "" || p.history == nil || p.loaded[uid] {
		return nil
	}
	p.loaded[uid] = true
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		msgs, err := p.history.Recent(ctx, uid, 40)
		return loadedMsg{session: uid, messages: msgs, err: err}
	}
}

// restore puts past calls before the live ones.
func (p *Pane) restore(m loadedMsg) {
	if m.err != nil {
		return // the conversation pane reports a store that cannot be read
	}
	gists := map[string]string{}
	var old []*call
	for _, msg := range m.messages {
		for _, tc := range msg.Calls {
			gists[tc.ID] = string(tc.Args)
		}
		r := msg.Result
		if r == nil || p.byID[r.CallID] != nil {
			continue
		}
		c := &call{id: r.CallID, session: m.session, name: r.Name, gist: gist(r.Name, gists[r.CallID]), started: msg.At.Add(-r.Took), offset: map[event.Stream]int64{}}
		c.end(msg.At, *r)
		old = append(old, c)
		p.byID[c.id] = c
	}
	p.calls = append(old, p.calls...)
	p.memoOK = false
}
