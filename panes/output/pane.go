// Package output is the pane that shows what tools print, live: the newest running call of the
// focused session, or the one that the person selected. It folds ToolStarted, ToolOutput and
// ToolEnded; it never reads the disk while it draws.
package output

import (
	"context"
	"slices"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/progress"
	"hermes/ui/style"
)

// PaneID is the pane's name in configuration and layout.
const PaneID ui.ID = "output"

// Bounds of what is remembered over all sessions: calls, and the bytes that they printed.
const (
	maxCalls = 64
	maxKept  = 16 << 20
)

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
	calls   []*call // oldest first, over all sessions
	byID    map[callKey]*call
	pinned  *call           // selected by the person; nil follows the newest
	loaded  map[string]bool // sessions whose history was asked for
	stale   bool            // events were lost: ask again

	pulls map[string]*progress.Meter // images that are being pulled, by back end

	over   overview
	busy   map[string]bool // sessions with a running turn
	view   view
	memo   string
	memoOK bool
}

var (
	_ ui.Pane     = (*Pane)(nil)
	_ ui.Copier   = (*Pane)(nil)
	_ ui.Searcher = (*Pane)(nil)

	_ ui.TextSelector = (*Pane)(nil)
	_ ui.SearchMover  = (*Pane)(nil)
	_ ui.Waker        = (*Pane)(nil)
	_ ui.Refresher    = (*Pane)(nil)
)

// New returns the pane. history may be nil.
func New(history History) *Pane {
	return &Pane{history: history, now: time.Now, byID: map[callKey]*call{}, loaded: map[string]bool{}, pulls: map[string]*progress.Meter{}, busy: map[string]bool{}, view: view{follow: true, wrap: true}}
}

// SetClock replaces the clock, for pictures that must not change with the time of day.
func (p *Pane) SetClock(now func() time.Time) { p.now = now }

// ID implements ui.Pane.
func (p *Pane) ID() ui.ID { return PaneID }

// Title implements ui.Pane: the call's gist, where it runs and for how long.
func (p *Pane) Title() ui.Title {
	c := p.currentCall()
	if c == nil {
		if p.over.session == p.session && p.session != "" {
			return ui.Title{Text: "Overview"}
		}
		return ui.Title{Text: "Output"}
	}
	t := ui.Title{Text: "Output ── " + c.name}
	if c.gist != "" {
		t.Text = "Output ── " + c.gist
	}
	if !c.isRunning() || c.waits != "" {
		t.Right = c.outcomeText() + " "
	}
	if c.backend != "" && c.isRunning() {
		t.Right += c.backend + " "
	}
	if c.hasClock() {
		t.Right += c.clockText(p.now())
	}
	t.Right = strings.TrimRight(t.Right, " ")
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

// RefreshAt implements ui.Refresher: the title shows how long the call runs.
func (p *Pane) RefreshAt(now time.Time) time.Time {
	c := p.currentCall()
	if c == nil || !c.isRunning() || p.w <= 0 {
		return time.Time{}
	}
	return now.Add(time.Second - max(0, c.elapsedAt(now))%time.Second)
}

// Apply implements ui.Pane.
func (p *Pane) Apply(events []event.Envelope) bool {
	changed, before := false, p.currentCall()
	for _, env := range events {
		p.noteOverview(env)
		changed = p.applyEvent(env) || changed
	}
	changed = p.turnTo(before) || changed
	if changed {
		p.memoOK = false
	}
	return changed
}

// turnTo begins a new view when another call has become the one to show. Nobody who reads is taken
// away from it, though: the call stays until the person goes back to the end, or selects.
func (p *Pane) turnTo(before *call) bool {
	if p.currentCall() == before {
		return false
	}
	if before != nil && !p.view.follow && p.byID[before.key()] == before {
		p.pinned = before
		return true // it may have ended just now, which the events did not find worth a picture: another was current then
	}
	p.view.reset()
	return true
}

func (p *Pane) applyEvent(env event.Envelope) bool {
	var c *call
	if up := p.byID[callKey{env.Session, env.Parent}]; up != nil && env.Parent != "" {
		return p.foldNestedCall(up, env)
	}
	switch e := env.Event.(type) {
	case event.ToolStarted:
		return p.addCall(newCall(env.Header, e))
	case event.ToolOutput:
		if c = p.byID[callKey{env.Session, e.CallID}]; c != nil {
			c.addOutput(e) // what the call left running in the background goes on after its end
		}
	case event.ToolEnded:
		if c = p.byID[callKey{env.Session, e.Result.CallID}]; c != nil {
			c.finish(env.At, e.Result)
		}
	case event.ApprovalAsked:
		if c = p.byID[callKey{env.Session, e.Call.ID}]; c != nil {
			c.waits = e.ID
		}
	case event.ApprovalSettled:
		if c = p.byID[callKey{env.Session, e.CallID}]; c != nil {
			c.waits, c.started = "", env.At // what it takes is counted without the wait
		}
	case event.Progress, event.BackendChanged:
		return p.followPull(env)
	case event.SessionDeleted:
		p.dropSession(env.Session)
		return true
	case event.Resync:
		p.loaded, p.stale = map[string]bool{}, true
	}
	return c != nil && c == p.currentCall()
}

// addCall remembers a call and forgets the oldest finished one beyond the bound.
func (p *Pane) addCall(c *call) bool {
	if known := p.byID[c.key()]; known != nil { // a person, or a hook, changed what runs as this call
		known.gist, known.backend = c.gist, c.backend
		return known == p.currentCall()
	}
	p.calls, p.byID[c.key()] = append(p.calls, c), c
	if c.session == p.session && p.pinned != nil && !p.pinned.isRunning() && p.view.follow {
		p.pinned = nil // a new call takes over from a selected one that is over
	}
	p.dropOldest()
	return true
}

func (p *Pane) dropOldest() {
	current, kept := p.currentCall(), 0
	for _, c := range p.calls {
		kept += c.buf.size
	}
	for i := 0; (len(p.calls) > maxCalls || kept > maxKept) && i < len(p.calls); i++ {
		if old := p.calls[i]; !old.isRunning() && old != current && old != p.pinned {
			delete(p.byID, old.key())
			p.calls = slices.Delete(p.calls, i, i+1)
			kept -= old.buf.size
			i--
		}
	}
}

func (p *Pane) dropSession(session string) {
	p.calls = slices.DeleteFunc(p.calls, func(c *call) bool {
		if c.session == session {
			delete(p.byID, c.key())
		}
		return c.session == session
	})
	if p.pinned != nil && p.pinned.session == session {
		p.pinned = nil
	}
	delete(p.loaded, session)
}

// currentCall is the call that is shown: the selected one, else the newest running, else the
// newest.
func (p *Pane) currentCall() *call {
	if p.pinned != nil && p.pinned.session == p.session {
		return p.pinned
	}
	var newest *call
	for i := len(p.calls) - 1; i >= 0; i-- {
		c := p.calls[i]
		if c.session != p.session {
			continue
		}
		if c.isRunning() {
			return c
		}
		if newest == nil {
			newest = c
		}
	}
	return newest
}

// sessionCalls lists the focused session's calls, oldest first.
func (p *Pane) sessionCalls() []*call {
	var out []*call
	for _, c := range p.calls {
		if c.session == p.session {
			out = append(out, c)
		}
	}
	return out
}
