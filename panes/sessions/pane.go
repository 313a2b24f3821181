// Package sessions is the session browser: every past conversation, newest first, with search over
// all messages while one types, a preview, and what one can do with a session. The list is pages of
// rows; nothing here grows with the history.
package sessions

import (
	"context"
	"os"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/field"
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
}

// Found is the answer to a search.
type Found struct {
	Hits       []Hit
	Total      int     // matches; a lower bound when More is set
	More       bool    // there are more than were counted
	Rebuilding float64 // 0..1 while the index is being rebuilt and the search is partial; else 0
}

// ArchiveMode is whether a list has archived sessions.
type ArchiveMode int

// Lists without archived sessions, with them too, and of nothing else.
const (
	HideArchived ArchiveMode = iota
	IncludeArchived
	OnlyArchived
)

// Store is what the pane asks of the conversations.
type Store interface {
	// List gives pinned sessions first, then the newest.
	List(ctx context.Context, which ArchiveMode, limit, offset int) ([]event.SessionInfo, error)
	// Search understands filter words: tool:terminal backend:analytics since:2w in:project. Each
	// session's best hit comes first.
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
	// Unexport removes a file that Export wrote, unless somebody has changed it.
	Unexport(path string) error
	// Holds names what was made for the session and goes when it ends: back ends with their files,
	// commands in the background.
	Holds(ctx context.Context, uid string) ([]string, error)
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
	home   string // the person's folder, shown as ~
	now    func() time.Time
	styles *style.Styles
	w, h   int

	listed   []Hit // what was read
	rows     []Hit // what of it is shown, in the order of the screen
	lineRow  []int // which row stands on a line of the list, as drawn last
	filter   filter
	total    int  // sessions known
	more     bool // more pages, or more sessions than counted
	partial  float64
	cursor   int
	top      int
	archived bool   // archived sessions are listed too
	focused  string // session that owns the screen
	focus    bool   // the pane has the keys
	active   map[string]activity
	asks     map[string]map[string]bool // ids of approvals and questions that wait, by session

	query       field.Field
	typing      bool         // the search field has the keys
	rename      *field.Field // new title of the session below; nil when none is being renamed
	renames     string
	renamedFrom string
	request     int  // newest search or list; older answers are dropped
	pending     bool // the newest request has not been answered
	opening     bool // enter was pressed while it was pending: open what it finds
	cancel      context.CancelFunc
	stale       bool // something changed that a reload would show
	err         string

	preview   preview
	memo      string
	memoOK    bool
	memoUntil time.Time // ages change then
}

var (
	_ ui.Pane     = (*Pane)(nil)
	_ ui.Typer    = (*Pane)(nil)
	_ ui.Cursorer = (*Pane)(nil)
	_ ui.Copier   = (*Pane)(nil)
	_ ui.Focuser  = (*Pane)(nil)
	_ ui.Catcher  = (*Pane)(nil)
	_ ui.Waker    = (*Pane)(nil)

	_ ui.Refresher = (*Pane)(nil)
)

// New returns the pane.
func New(store Store) *Pane {
	home, _ := os.UserHomeDir() // without one, paths are shown whole
	return &Pane{store: store, home: home, now: time.Now, active: map[string]activity{}, asks: map[string]map[string]bool{}}
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

// Catches implements ui.Catcher: what edits the open field is no action of the list.
func (p *Pane) Catches(key string) bool {
	switch {
	case p.rename != nil:
		return field.Takes(key) || key == "enter" || key == "esc" || key == "up" || key == "down"
	case p.typing:
		return field.Takes(key) || key == "enter" || key == "esc"
	default:
		return false
	}
}

// Focus implements ui.Focuser: leaving the pane ends what was being typed, but keeps the query.
func (p *Pane) Focus(on bool) {
	if !on {
		p.typing, p.rename = false, nil
	}
	if on && !p.focus && len(p.listed) <= pageSize {
		p.stale = true // another hermes may have done something
	}
	p.focus, p.memoOK = on, false
}

// followScreen puts the cursor on the session that owns the screen, while the list is not being
// used.
func (p *Pane) followScreen() {
	if p.focus || p.query.String() != "" {
		return
	}
	for i := range p.rows {
		if p.rows[i].Info.UID == p.focused {
			p.cursor = i
			return
		}
	}
}

// Wake implements ui.Waker: it reads again what has changed, and the preview once there is room for
// it.
func (p *Pane) Wake() tea.Cmd {
	if p.stale && p.request > 0 {
		return p.reloadList()
	}
	return p.loadPreview()
}

// RefreshAt implements ui.Refresher: the next time that an age in the list changes. At most once a
// minute.
func (p *Pane) RefreshAt(time.Time) time.Time {
	if p.w <= 0 {
		return time.Time{}
	}
	return p.memoUntil
}

// Copy implements ui.Copier.
func (p *Pane) Copy() (content, what string) {
	if r := p.currentHit(); r != nil {
		return r.Info.UID, "session id"
	}
	return "", ""
}

// Apply implements ui.Pane.
func (p *Pane) Apply(events []event.Envelope) bool {
	changed := false
	for _, env := range events {
		changed = p.applyEvent(env) || changed
	}
	if changed {
		p.memoOK = false
		if p.filter != showAll {
			p.arrangeRows()
		}
	}
	return changed
}

func (p *Pane) applyEvent(env event.Envelope) bool {
	switch e := env.Event.(type) {
	case event.SessionOpened:
		p.updateRow(e.Info, e.How != event.OpeningResume)
	case event.SessionChanged:
		p.updateRow(e.Info, false)
	case event.SessionDeleted:
		p.removeSession(env.Session)
	case event.TurnStarted:
		p.active[env.Session] = working
	case event.TurnPhase: // says so too, after a loss of events
		if e.Kind == event.PhaseOver {
			delete(p.active, env.Session)
			return true
		}
		if p.active[env.Session] == working {
			return false
		}
		p.active[env.Session] = working
	case event.TurnEnded:
		p.turnEnded(env.Session)
	case event.ApprovalAsked:
		p.noteQuestion(env.Session, e.ID)
	case event.QuestionAsked:
		p.noteQuestion(env.Session, e.ID)
	case event.ApprovalSettled:
		delete(p.asks[env.Session], e.ID)
	case event.QuestionAnswered:
		delete(p.asks[env.Session], e.ID)
	case event.Resync:
		p.stale = true
		clear(p.active) // their ends may be among what was lost
		clear(p.asks)
	default:
		return false
	}
	return true
}

func (p *Pane) noteQuestion(uid, id string) {
	if p.asks[uid] == nil {
		p.asks[uid] = map[string]bool{}
	}
	p.asks[uid][id] = true
}

func (p *Pane) turnEnded(uid string) {
	p.active[uid] = finished
	if uid == p.focused {
		delete(p.active, uid)
	}
	delete(p.asks, uid)
	if p.preview.uid == uid {
		p.preview = preview{} // it has grown
	}
}

// activityOf is what to show beside a session. Of another hermes it is only known that it works.
func (p *Pane) activityOf(r Hit) activity {
	switch now := p.active[r.Info.UID]; {
	case len(p.asks[r.Info.UID]) > 0:
		return waiting
	case r.Info.Elsewhere:
		return working
	default:
		return now
	}
}

// updateRow replaces a session's rows in place; a new session goes on top of the plain list, below
// the pinned ones. What changes the order of the list is left to a reload.
func (p *Pane) updateRow(info event.SessionInfo, fresh bool) {
	known := false
	for i := range p.listed {
		if old := &p.listed[i].Info; old.UID == info.UID {
			p.stale = p.stale || old.Pinned != info.Pinned || old.Archived != info.Archived
			known, *old = true, info
		}
	}
	if known {
		p.arrangeRows()
	}
	if known || !fresh || p.query.String() != "" {
		return
	}
	at := 0
	for at < len(p.listed) && p.listed[at].Info.Pinned {
		at++
	}
	selected, had := place{}, p.currentHit()
	if had != nil {
		selected = place{had.Info.UID, had.Message}
	}
	p.listed = slices.Insert(p.listed, at, Hit{Info: info})
	p.total++
	p.arrangeRows()
	if had != nil {
		p.selectAgain(selected) // the selection stays on its session
	}
	p.followScreen()
}

// removeSession takes a session and all its hits away.
func (p *Pane) removeSession(uid string) {
	keep := slices.DeleteFunc(slices.Clone(p.listed), func(h Hit) bool { return h.Info.UID == uid })
	if len(keep) < len(p.listed) {
		p.total = max(0, p.total-1)
	}
	p.listed = keep
	p.arrangeRows()
	p.rename = nil // it was, or may have been, of this one
	delete(p.active, uid)
	delete(p.asks, uid)
}

// currentHit is the row under the cursor.
func (p *Pane) currentHit() *Hit {
	if p.cursor < 0 || p.cursor >= len(p.rows) {
		return nil
	}
	return &p.rows[p.cursor]
}
