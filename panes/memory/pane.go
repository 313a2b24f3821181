// Package memory is the pane of what the agent remembers: both files, an entry a row, how full they
// are, and what is kept out of the prompt and why. A person adds, changes and removes entries here
// and takes changes back; what the agent or an editor changes shows at once.
package memory

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
)

// PaneID is the pane's name in configuration and layout.
const PaneID ui.ID = "memory"

// Entry is one thing that is remembered.
type Entry struct {
	Text    string
	Line    int    // of the file
	Blocked string // why it is kept out of the prompt; "" when it is not
	Span    [2]int // bytes of Text that are the reason
}

// File is one of the two files as it is now.
type File struct {
	Target      string // "memory", "user"
	Name, Path  string
	Used, Limit int    // characters
	Problem     string // why it cannot be used
	Entries     []Entry
}

// UserModel is the target of what was counted of the person. Its file has no limit.
const UserModel = "model"

// Refused says why a change was not made.
type Refused struct {
	Reason string
	// Doubtful is text that looks like orders to the agent: the person may keep it all the same.
	Doubtful bool
}

// Change is one change by the person: Old "" adds, New "" removes.
type Change struct {
	Target, Old, New string
	Anyway           bool // although it is doubtful
}

// Store is what the pane asks of memory. Errors are for people.
type Store interface {
	Load(ctx context.Context) ([]File, error)
	// Do makes a change; refused is nil when it was made.
	Do(ctx context.Context, c Change) (said string, refused *Refused, err error)
	// Undo takes the last change back and says what that was.
	Undo(ctx context.Context) (said string, err error)
	// Open is the message that opens a file in the person's editor, at a line.
	Open(target string, line int) tea.Msg
}

// changeTimeout bounds one change.
const changeTimeout = 20 * time.Second

// row is a line that the cursor can stand on: a file, or one of its entries.
type row struct{ file, entry int } // entry -1: the file itself

// Pane implements ui.Pane.
type Pane struct {
	store  Store
	styles *style.Styles
	w, h   int
	focus  bool

	files  []File
	err    string
	rows   []row
	cursor int
	top    int // first line in sight
	stale  bool
	memo   string
	memoOK bool
	drawn  ui.DrawnRows
}

var (
	_ ui.Pane    = (*Pane)(nil)
	_ ui.Waker   = (*Pane)(nil)
	_ ui.Focuser = (*Pane)(nil)
	_ ui.Copier  = (*Pane)(nil)
)

// New returns the pane. It reads at its first Wake.
func New(s Store) *Pane { return &Pane{store: s, stale: true} }

// ID implements ui.Pane.
func (p *Pane) ID() ui.ID { return PaneID }

// Resize implements ui.Pane.
func (p *Pane) Resize(w, h int) { p.w, p.h, p.memoOK = w, h, false }

// Restyle implements ui.Pane.
func (p *Pane) Restyle(s *style.Styles) { p.styles, p.memoOK = s, false }

// Focus implements ui.Focuser.
func (p *Pane) Focus(on bool) { p.focus, p.memoOK = on, false }

// Apply implements ui.Pane.
func (p *Pane) Apply(events []event.Envelope) bool {
	for _, env := range events {
		switch env.Event.(type) {
		case event.MemoryChanged, event.ConfigReloaded, event.Resync:
			p.stale = true
		default:
		}
	}
	return false // the picture changes when it has been read again
}

// Wake implements ui.Waker.
func (p *Pane) Wake() tea.Cmd {
	if !p.stale {
		return nil
	}
	p.stale = false
	return p.loadEntries
}

// loadedMsg is both files as they are.
type loadedMsg struct {
	files []File
	err   error
}

// retryMsg is text that could not be kept, for another try.
type retryMsg struct {
	change  Change
	refused Refused
}

// changedMsg tells of a change that no event tells of.
type changedMsg struct{ said string }

func (p *Pane) loadEntries() tea.Msg {
	ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
	defer cancel()
	files, err := p.store.Load(ctx)
	return loadedMsg{files, err}
}

// Update implements ui.Pane.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case loadedMsg:
		p.takeLoaded(m)
	case retryMsg:
		return p.retryPrompt(m)
	case changedMsg:
		return tea.Batch(showToast(event.Info, m.said), p.loadEntries)
	case editedMsg:
		return p.handleEdited(m)
	}
	return nil
}

// ScrollLines implements ui.Scroller: it goes to other entries, one at a time.
func (p *Pane) ScrollLines(lines int) { p.moveCursor(max(min(lines, 1), -1)) }

// RowAt implements ui.Lister.
func (p *Pane) RowAt(x, y int) (row int, chosen, ok bool) {
	row, ok = p.drawn.At(x, y)
	return row, row == p.cursor, ok
}

// ChooseRow implements ui.Lister.
func (p *Pane) ChooseRow(row int) tea.Cmd {
	p.moveCursor(row - p.cursor)
	return nil
}

// takeLoaded keeps the cursor on the entry that it was on, or near it.
func (p *Pane) takeLoaded(m loadedMsg) {
	was, file := p.currentEntry()
	p.memoOK = false
	if p.err = ""; m.err != nil {
		p.err = m.err.Error()
		return
	}
	p.files, p.rows = m.files, nil
	for i, f := range p.files {
		p.rows = append(p.rows, row{i, -1})
		for j, e := range f.Entries {
			if was.Text != "" && e.Text == was.Text {
				p.cursor = len(p.rows)
			}
			p.rows = append(p.rows, row{i, j})
		}
	}
	p.moveCursor(0)
	if _, now := p.currentEntry(); was.Text != "" && now.Target != file.Target {
		p.moveCursor(-1) // the last entry of its file is gone
	}
}

// currentEntry is the entry under the cursor; its text is "" on a file's own row.
func (p *Pane) currentEntry() (Entry, File) {
	if p.cursor >= len(p.rows) {
		return Entry{}, File{Target: "memory"}
	}
	r := p.rows[p.cursor]
	f := p.files[r.file]
	if r.entry < 0 {
		return Entry{}, f
	}
	return f.Entries[r.entry], f
}

func (p *Pane) moveCursor(by int) {
	p.cursor = max(min(p.cursor+by, len(p.rows)-1), 0)
	p.memoOK = false
}

// Copy implements ui.Copier.
func (p *Pane) Copy() (content, what string) {
	e, _ := p.currentEntry()
	return e.Text, "entry"
}
