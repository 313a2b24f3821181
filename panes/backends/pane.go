// Package backends is the pane that shows the pool: every named back end with its state as a glyph and a word, what runs in
// it, and the time left until it is stopped for idleness. It shows what events say; the list is asked for once at
// the start and after a Resync.
package backends

import (
	"errors"
	"os/exec"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
)

// PaneID is the pane's name in configuration and layout.
const PaneID ui.ID = "backends"

// Row is a back end as the pane shows it.
type Row struct {
	Name      string
	Kind      string
	Image     string // image, or host
	State     event.BackendState
	Cause     string
	Refs      int
	Command   string
	Since     time.Time // of the state
	IdleSince time.Time // zero while in use
	IdleTTL   time.Duration
	Retry     time.Time
	Selected  bool
	Default   bool
	Progress  event.Progress // of a pull; zero when none
	Stats     event.BackendStats
}

// Pool is what the pane asks of the pool.
type Pool interface {
	// List says what back ends exist, for the session.
	List(session string) []Row
	// Select makes name the session's back end for calls that name none.
	Select(session, name string) error
	// Shell makes the command of a shell for the person in the back end, where the session's last command ended.
	Shell(session, name string) (*exec.Cmd, error)
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
	top     int
	focus   bool

	memo      string
	memoOK    bool
	memoUntil time.Time // a countdown changes then; zero for never
}

var (
	_ ui.Pane      = (*Pane)(nil)
	_ ui.Copier    = (*Pane)(nil)
	_ ui.Refresher = (*Pane)(nil)
	_ ui.Focuser   = (*Pane)(nil)
)

// New returns the pane.
func New(pool Pool) *Pane { return &Pane{pool: pool, now: time.Now} }

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
	return ui.Title{Text: "Back ends", Right: count(up, len(p.rows))}
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
	if env.Session != "" && env.Session != p.session {
		return false // another session's own back end, or its choice
	}
	switch e := env.Event.(type) {
	case event.BackendChanged:
		p.changed(env.At, e)
	case event.BackendActivity:
		r := p.row(e.Name)
		r.Refs, r.Command, r.IdleSince, r.IdleTTL = e.Refs, e.Command, e.IdleSince, e.IdleTTL
	case event.BackendStats:
		p.row(e.Name).Stats = e
	case event.Progress:
		return p.progress(e)
	case event.BackendSelected:
		return p.selected(e.Name)
	case event.Resync:
		p.list()
	default:
		return false
	}
	return true
}

func (p *Pane) changed(at time.Time, e event.BackendChanged) {
	if e.From == e.To || !p.knows(e.Name) {
		p.list() // an announcement: the pool has been opened, or its configuration changed
	}
	r := p.row(e.Name)
	if e.From != e.To {
		r.Since = at
	}
	r.Kind, r.State, r.Cause, r.Retry = e.Kind, e.To, e.Cause, e.Retry
	if e.Image != "" {
		r.Image = e.Image
	}
	if e.To != event.BackendPulling {
		r.Progress = event.Progress{}
	}
	if e.To != event.BackendReady {
		r.Refs, r.Command, r.IdleSince, r.Stats = 0, "", time.Time{}, event.BackendStats{}
	}
}

func (p *Pane) knows(name string) bool {
	return slices.ContainsFunc(p.rows, func(r Row) bool { return r.Name == name })
}

// progress belongs to a back end when its id is "pull:NAME".
func (p *Pane) progress(e event.Progress) bool {
	const prefix = "pull:"
	if len(e.ID) <= len(prefix) || e.ID[:len(prefix)] != prefix {
		return false
	}
	p.row(e.ID[len(prefix):]).Progress = e
	return true
}

func (p *Pane) selected(name string) bool {
	for i := range p.rows {
		p.rows[i].Selected = p.rows[i].Name == name
	}
	return true
}

// row returns the named row, making it when an event is the first to tell of it. Names stay sorted behind the default,
// and the cursor stays on its row.
func (p *Pane) row(name string) *Row {
	for i := range p.rows {
		if p.rows[i].Name == name {
			return &p.rows[i]
		}
	}
	at := 0
	for at < len(p.rows) && (p.rows[at].Default || p.rows[at].Name < name) {
		at++
	}
	p.rows = slices.Insert(p.rows, at, Row{Name: name, State: event.BackendAbsent})
	if at <= p.cursor && len(p.rows) > 1 {
		p.cursor++
	}
	return &p.rows[at]
}

// list asks the pool anew. What only events tell (progress, retries, load) is kept.
func (p *Pane) list() {
	if p.pool == nil {
		return
	}
	selected, old := "", map[string]Row{}
	for i, r := range p.rows {
		old[r.Name] = r
		if i == p.cursor {
			selected = r.Name
		}
	}
	p.rows = p.pool.List(p.session)
	for i := range p.rows {
		r := &p.rows[i]
		r.Progress, r.Stats = old[r.Name].Progress, old[r.Name].Stats
		if r.Retry.IsZero() && r.State == event.BackendFailed {
			r.Retry = old[r.Name].Retry
		}
		if r.Name == selected {
			p.cursor = i
		}
	}
	p.cursor = max(0, min(p.cursor, len(p.rows)-1))
	p.memoOK = false
}

// Focus implements ui.Focuser.
func (p *Pane) Focus(on bool) { p.focus, p.memoOK = on, false }

// Update implements ui.Pane.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case ui.SessionFocused:
		p.session = m.UID
		p.list()
	case tea.MouseMsg:
		p.mouse(m)
	}
	return nil
}

func (p *Pane) mouse(m tea.MouseMsg) {
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		p.move(-1)
	case m.Button == tea.MouseButtonWheelDown:
		p.move(1)
	case m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress:
		if i := p.top + m.Y; i >= 0 && i < len(p.rows) {
			p.cursor, p.memoOK = i, false
		}
	}
}

func (p *Pane) move(delta int) {
	p.cursor = max(0, min(p.cursor+delta, len(p.rows)-1))
	p.memoOK = false
}

// Actions implements ui.Pane.
func (p *Pane) Actions() []ui.Action {
	move := func(delta int) func(string) tea.Cmd {
		return func(string) tea.Cmd { p.move(delta); return nil }
	}
	return []ui.Action{
		{ID: "backends.up", Keys: []string{"up", "k"}, Title: "Up", Hidden: true, Run: move(-1)},
		{ID: "backends.down", Keys: []string{"down", "j"}, Title: "Down", Hidden: true, Run: move(1)},
		{ID: "backends.use", Keys: []string{"u"}, Title: "Use for this session", Bar: "use", Help: "Commands that name no back end run here from now on.", InBar: true, Why: p.whyNotUse, Run: p.use},
		{ID: "backends.shell", Keys: []string{"enter"}, Title: "Open a shell there", Bar: "shell", Help: "For you, not for the agent; exit comes back.", InBar: true, Why: p.whyNoShell, Run: p.shell},
	}
}

func (p *Pane) whyNotUse() string {
	switch {
	case len(p.rows) == 0:
		return "there is no back end"
	case p.session == "":
		return "no session is open"
	case p.rows[p.cursor].Selected:
		return p.rows[p.cursor].Name + " is in use already"
	default:
		return ""
	}
}

// whyNoShell lets a shell be opened on this machine. Those in containers and on other hosts need the runner inside.
func (p *Pane) whyNoShell() string {
	switch {
	case len(p.rows) == 0:
		return "there is no back end"
	case p.rows[p.cursor].Kind != "local":
		return "only back ends on this machine can be entered"
	default:
		return ""
	}
}

func (p *Pane) shell(string) tea.Cmd {
	session, name, pool := p.session, p.rows[p.cursor].Name, p.pool
	return func() tea.Msg {
		cmd, err := pool.Shell(session, name)
		if err != nil {
			return ui.ShowToast{Level: event.Error, Text: err.Error()}
		}
		return ui.RunProcess{Cmd: cmd, Done: func(err error) tea.Msg {
			var exit *exec.ExitError
			if err == nil || errors.As(err, &exit) { // the exit code of a shell is that of its last command
				return nil
			}
			return ui.ShowToast{Level: event.Error, Text: "shell: " + err.Error(), Hint: "set SHELL to a shell that is installed"}
		}}
	}
}

// use selects the row under the cursor, or the one named.
func (p *Pane) use(name string) tea.Cmd {
	if name == "" {
		if len(p.rows) == 0 {
			return nil
		}
		name = p.rows[p.cursor].Name
	}
	session, pool := p.session, p.pool
	return func() tea.Msg {
		if err := pool.Select(session, name); err != nil {
			return ui.ShowToast{Level: event.Error, Text: err.Error(), Hint: "the session stays where it was"}
		}
		return ui.ShowToast{Level: event.Info, Text: "commands of this session run in " + name}
	}
}

// Copy implements ui.Copier.
func (p *Pane) Copy() (content, what string) {
	if len(p.rows) == 0 {
		return "", ""
	}
	return p.rows[p.cursor].Name, "back end's name"
}

// RefreshAt implements ui.Refresher: when a countdown shows something else.
func (p *Pane) RefreshAt(time.Time) time.Time {
	if p.w <= 0 {
		return time.Time{}
	}
	return p.memoUntil
}
