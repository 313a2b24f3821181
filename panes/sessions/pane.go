// Package sessions is the session browser: every past conversation, newest first, with search over all messages while one
// types, a preview, and what one can do with a session. The list is pages of rows; nothing here grows with the history.
package sessions

import (
	"context"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
)

// PaneID is the pane's name in configuration and layout.
const PaneID ui.ID = "sessions"

// pageSize is how many rows are asked for at a time.
const pageSize = 100

// Hit is a found session with its best line.
type Hit struct {
	Info    event.SessionInfo
	Message int64    // 0 when only the title matched
	Snippet string   // plain text
	Marks   [][2]int // byte ranges of the match in Snippet
	Role    string
}

// Found is the answer to a search.
type Found struct {
	Hits       []Hit
	Total      int     // matches; a lower bound when More is set
	More       bool    // there are more than were counted
	Rebuilding float64 // 0..1 while the index is being rebuilt and the search is partial; else 0
}

// Store is what the pane asks of the conversations.
type Store interface {
	List(ctx context.Context, limit, offset int) ([]event.SessionInfo, error)
	// Search understands filter words: tool:terminal backend:analytics since:2w in:project.
	Search(ctx context.Context, query string, limit int) (Found, error)
	// Preview returns messages around one (0: the end), oldest first.
	Preview(ctx context.Context, uid string, at int64, limit int) ([]chat.Message, error)
	Rename(ctx context.Context, uid, title string) error
	Delete(ctx context.Context, uid string) error
	Archive(ctx context.Context, uid string, on bool) error
	Pin(ctx context.Context, uid string, on bool) error
	Fork(ctx context.Context, uid string, at int64) (event.SessionInfo, error)
	// Export writes the session as Markdown into the current directory and returns the file's path.
	Export(ctx context.Context, uid string) (string, error)
}

// activity is what a session does now.
type activity int

const (
	quiet activity = iota
	working
	waiting // for the person
	finished
)

// Pane implements ui.Pane.
type Pane struct {
	store  Store
	now    func() time.Time
	styles *style.Styles
	w, h   int

	rows    []Hit // what is listed
	total   int   // sessions or matches known
	more    bool  // more pages, or more matches than counted
	partial float64
	cursor  int
	top     int
	focused string // session that owns the screen
	active  map[string]activity
	asks    map[string]int // approvals and questions that wait, by session

	query   field
	typing  bool // the search field has the keys
	rename  *field
	request int // newest search or list; older answers are dropped
	cancel  context.CancelFunc
	stale   bool // something changed that a reload would show
	err     string

	preview preview
	memo    string
	memoOK  bool
}

var (
	_ ui.Pane     = (*Pane)(nil)
	_ ui.Typer    = (*Pane)(nil)
	_ ui.Cursorer = (*Pane)(nil)
	_ ui.Copier   = (*Pane)(nil)
	_ ui.Focuser  = (*Pane)(nil)
)

// New returns the pane.
func New(store Store) *Pane {
	return &Pane{store: store, now: time.Now, active: map[string]activity{}, asks: map[string]int{}}
}

// SetClock replaces the clock, for pictures that must not change with the time of day.
func (p *Pane) SetClock(now func() time.Time) { p.now = now }

// ID implements ui.Pane.
func (p *Pane) ID() ui.ID { return PaneID }

// Resize implements ui.Pane.
func (p *Pane) Resize(w, h int) {
	if w != p.w || h != p.h {
		p.w, p.h, p.memoOK = w, h, false
	}
}

// Restyle implements ui.Pane.
func (p *Pane) Restyle(s *style.Styles) { p.styles, p.memoOK = s, false }

// Typing implements ui.Typer.
func (p *Pane) Typing() bool { return p.typing || p.rename != nil }

// Focus implements ui.Focuser: leaving the pane ends what was being typed, but keeps the query.
func (p *Pane) Focus(on bool) {
	if !on {
		p.typing, p.rename = false, nil
	}
	p.memoOK = false
}

// Copy implements ui.Copier.
func (p *Pane) Copy() (content, what string) {
	if r := p.current(); r != nil {
		return r.Info.UID, "session id"
	}
	return "", ""
}

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
	case event.SessionOpened:
		p.upsert(e.Info, e.How != "resume")
	case event.SessionChanged:
		p.upsert(e.Info, false)
	case event.SessionDeleted:
		p.remove(env.Session)
	case event.TurnStarted:
		p.active[env.Session] = working
	case event.TurnEnded:
		p.turnEnded(env.Session)
	case event.ApprovalAsked, event.QuestionAsked:
		p.asks[env.Session]++
	case event.ApprovalSettled, event.QuestionAnswered:
		p.asks[env.Session] = max(0, p.asks[env.Session]-1)
	case event.Resync:
		p.stale = true
	default:
		return false
	}
	return true
}

func (p *Pane) turnEnded(uid string) {
	p.active[uid] = finished
	if uid == p.focused {
		p.active[uid] = quiet
	}
	p.asks[uid] = 0
}

// state is what to show beside a session.
func (p *Pane) state(uid string) activity {
	if p.asks[uid] > 0 {
		return waiting
	}
	return p.active[uid]
}

// upsert replaces a row in place; a new session goes on top of the plain list, below the pinned ones.
func (p *Pane) upsert(info event.SessionInfo, fresh bool) {
	for i := range p.rows {
		if p.rows[i].Info.UID == info.UID {
			p.rows[i].Info = info
			return
		}
	}
	if !fresh || p.query.String() != "" {
		return
	}
	at := 0
	for at < len(p.rows) && p.rows[at].Info.Pinned {
		at++
	}
	p.rows = append(p.rows[:at:at], append([]Hit{{Info: info}}, p.rows[at:]...)...)
	p.total++
	if p.cursor >= at && len(p.rows) > 1 {
		p.cursor++ // the selection stays on its session
	}
}

func (p *Pane) remove(uid string) {
	for i := range p.rows {
		if p.rows[i].Info.UID == uid {
			p.rows = append(p.rows[:i:i], p.rows[i+1:]...)
			p.total = max(0, p.total-1)
			break
		}
	}
	p.cursor = max(0, min(p.cursor, len(p.rows)-1))
	delete(p.active, uid)
	delete(p.asks, uid)
}

// current is the row under the cursor.
func (p *Pane) current() *Hit {
	if p.cursor < 0 || p.cursor >= len(p.rows) {
		return nil
	}
	return &p.rows[p.cursor]
}
