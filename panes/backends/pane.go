// Package backends is the pane that shows the pool: every named back end with its state as a glyph
// and a word, what runs in it, and the time left until it is stopped for idleness. It shows what
// events say; the list is asked for once at the start and after a Resync.
package backends

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/progress"
	"hermes/ui/style"
)

// PaneID is the pane's name in configuration and layout.
const PaneID ui.ID = "backends"

// Row is a back end as the pane shows it.
type Row struct {
	Name      string
	Kind      string
	Traits    event.Traits
	Image     string // image, or host
	State     event.BackendState
	Cause     string
	Refs      int
	Command   string
	User      string    // session that Command runs for
	Since     time.Time // of the state
	IdleSince time.Time // zero while in use
	IdleTTL   time.Duration
	Retry     time.Time
	Selected  bool
	Default   bool
	Pull      progress.Meter // of an image; zero when none
	Stats     event.BackendStats
}

// Pool is what the pane asks of the pool. What takes a context may take minutes.
type Pool interface {
	// List says what back ends exist, for the session.
	List(session string) []Row
	// Select makes name the session's back end for calls that name none.
	Select(session, name string) error
	// Can says why a person cannot start, stop and measure back ends here, or "".
	Can() string
	// Up makes a back end ready now.
	Up(ctx context.Context, session, name string) error
	// Stop takes it down; its files stay. In use it is refused, unless force ends what runs there.
	Stop(ctx context.Context, session, name string, force bool) error
	// Restart is Stop and Up; it also ends the wait after a failure.
	Restart(ctx context.Context, session, name string, force bool) error
	// Remove destroys it with its files.
	Remove(ctx context.Context, session, name string, force bool) error
	// Pull fetches its image.
	Pull(ctx context.Context, session, name string) error
	// Sample measures what it uses, once.
	Sample(ctx context.Context, session, name string) (event.BackendStats, error)
}

// Pane implements ui.Pane.
type Pane struct {
	pool    Pool
	now     func() time.Time
	styles  *style.Styles
	w, h    int
	session string
	rows    []Row
	cursor  int
	moved   bool // the person chose a row: the cursor stays with it
	chosen  bool // a back end was chosen for the session: the cursor is on it
	top     int
	focus   bool

	others  []other            // back ends of other sessions that are up
	titles  map[string]string  // of sessions
	log     []change           // transitions since the start, oldest first
	calls   map[string]string  // back end that a running call asked for, by call
	strayed *stray             // the newest call that did not run where it was asked to
	doing   map[string]*errand // what the person asked for and is not done, by back end
	sample  sampler

	memo      string
	memoOK    bool
	memoUntil time.Time // a countdown changes then; zero for never
}

var (
	_ ui.Pane      = (*Pane)(nil)
	_ ui.Copier    = (*Pane)(nil)
	_ ui.Refresher = (*Pane)(nil)
	_ ui.Focuser   = (*Pane)(nil)
	_ ui.Waker     = (*Pane)(nil)
)

// New returns the pane.
func New(pool Pool) *Pane {
	return &Pane{pool: pool, now: time.Now, calls: map[string]string{}, doing: map[string]*errand{}, titles: map[string]string{}}
}

// SetClock replaces the clock, for pictures that must not change with the time of day.
func (p *Pane) SetClock(now func() time.Time) { p.now = now }

// ID implements ui.Pane.
func (p *Pane) ID() ui.ID { return PaneID }

// Title implements ui.Pane.
func (p *Pane) Title() ui.Title {
	up := 0
	for _, r := range p.rows {
		if r.State == event.BackendReady {
			up++
		}
	}
	return ui.Title{Text: "Back ends", Right: countUp(up, len(p.rows))}
}

// Resize implements ui.Pane.
func (p *Pane) Resize(w, h int) {
	if w != p.w || h != p.h {
		p.w, p.h, p.memoOK = w, h, false
	}
}

// Restyle implements ui.Pane.
func (p *Pane) Restyle(s *style.Styles) { p.styles, p.memoOK = s, false }

// Focus implements ui.Focuser.
func (p *Pane) Focus(on bool) { p.focus, p.memoOK = on, false }

// Update implements ui.Pane.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case ui.SessionFocused:
		p.session = m.UID
		p.reloadList()
	case sampledMsg:
		p.takeSample(m)
	case doneMsg:
		return p.actionDone(m)
	case tea.MouseMsg:
		p.handleMouse(m)
	}
	return nil
}

func (p *Pane) handleMouse(m tea.MouseMsg) {
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		p.moveCursor(-1)
	case m.Button == tea.MouseButtonWheelDown:
		p.moveCursor(1)
	case m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress:
		if i := p.top + m.Y; i >= 0 && i < len(p.rows) {
			p.moveCursor(i - p.cursor)
		}
	}
}

func (p *Pane) moveCursor(delta int) {
	if r := p.currentRow(); r != nil {
		r.Stats = event.BackendStats{} // only the selected one is measured, and old numbers are wrong ones
	}
	p.cursor = max(0, min(p.cursor+delta, len(p.rows)-1))
	p.moved, p.memoOK = true, false
}

// Copy implements ui.Copier.
func (p *Pane) Copy() (content, what string) {
	if len(p.rows) == 0 {
		return "", ""
	}
	return p.rows[p.cursor].Name, "back end's name"
}

// RefreshAt implements ui.Refresher: when a countdown shows something else, or the next measurement
// is due.
func (p *Pane) RefreshAt(now time.Time) time.Time {
	if p.w <= 0 {
		return time.Time{}
	}
	at := p.sampleAt(now)
	if at.IsZero() || !p.memoUntil.IsZero() && p.memoUntil.Before(at) {
		return p.memoUntil
	}
	return at
}

// currentRow is the row under the cursor; nil when there is none.
func (p *Pane) currentRow() *Row {
	if len(p.rows) == 0 {
		return nil
	}
	return &p.rows[p.cursor]
}
