// Package changes is the overlay of what a turn changed in files, and of taking it back.
package changes

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/checkpoint"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/diff"
	"hermes/ui/style"
	"hermes/ui/text"
)

// maxNames is how many files the list above the diff shows at once.
const maxNames = 8

// Scope is how much is taken back.
type Scope int

// The scopes.
const (
	OneFile   Scope = iota // of one turn
	WholeTurn              // and no other
	SinceTurn              // this turn and all later ones
)

// What the actions of the overlay bring back to it.
type (
	// Conflict is a plan that needs a second look.
	Conflict struct{ Plan *checkpoint.Plan }
	// TookBack says that all went well.
	TookBack struct{ Text string }
)

// Turn is what the overlay shows.
type Turn struct {
	Title string
	Cwd   string // paths are shown from here
	Files []checkpoint.Diff
	Notes []string
	Later bool // there are turns after it
}

// Actions are what the overlay asks of the program. They bring back a Conflict, a TookBack or a
// toast.
type Actions struct {
	Plan  func(what Scope, files []string) tea.Cmd
	Force func(p *checkpoint.Plan) tea.Cmd
}

// Overlay is what a turn changed, file by file, with the keys that take it back.
type Overlay struct {
	turn   Turn
	do     Actions
	styles *style.Styles
	at     int              // the file in view
	asks   *checkpoint.Plan // conflicts to be confirmed
	busy   bool
	drawn  ui.DrawnRows
	ui.ScrolledText
}

// New shows a turn.
func New(turn Turn, do Actions) *Overlay { return &Overlay{turn: turn, do: do} }

// Select goes to a path; false: the turn did not change it.
func (c *Overlay) Select(path string) bool {
	i := slices.IndexFunc(c.turn.Files, func(d checkpoint.Diff) bool { return string(d.Path) == path })
	if i >= 0 {
		c.at = i
	}
	return i >= 0
}

// Title is that of the turn.
func (c *Overlay) Title() string { return text.Truncate(text.Sanitize(c.turn.Title), 70, "…") }

// Restyle takes another theme.
func (c *Overlay) Restyle(s *style.Styles) { c.styles = s }

// Size is as much as the longest diff wants, within w and h.
func (c *Overlay) Size(w, h int) (int, int) {
	lines := 8
	for _, d := range c.turn.Files {
		lines = max(lines, strings.Count(d.Unified, "\n")+1)
	}
	return min(max(w-8, 40), 150), min(min(len(c.turn.Files), maxNames)+len(c.turn.Notes)+2+lines, h-4)
}

// Hint names the keys of this moment.
func (c *Overlay) Hint() string {
	switch {
	case c.busy:
		return "working"
	case c.asks != nil:
		return "F put back all the same  esc leave everything as it is"
	case c.turn.Later:
		return "u take back this turn  s this and all later turns  o only this file  tab next file  esc close"
	}
	return "u take back this turn  o only this file  tab next file  esc close"
}

// Update implements ui.Overlay.
func (c *Overlay) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return c.key(msg.String())
	case Conflict:
		c.asks, c.busy, c.From = msg.Plan, false, 0
	case TookBack:
		return func() tea.Msg { return ui.Toast(event.Info, "%s", msg.Text) }, true
	case failedMsg: // it did not go well
		c.busy = false
	}
	return nil, false
}

// RowAt implements ui.Lister.
func (c *Overlay) RowAt(x, y int) (row int, chosen, ok bool) {
	row, ok = c.drawn.At(x, y)
	return row, row == c.at, ok
}

// ChooseRow implements ui.Lister.
func (c *Overlay) ChooseRow(row int) tea.Cmd {
	c.nextFile(row - c.at)
	return nil
}

func (c *Overlay) key(key string) (tea.Cmd, bool) {
	if key == "esc" || key == "q" {
		if c.asks != nil {
			c.asks, c.From = nil, 0
			return nil, false
		}
		return nil, true
	}
	if c.move(key) || c.busy {
		return nil, false
	}
	if c.asks != nil {
		if key != "F" {
			return nil, false
		}
		return c.start(c.do.Force(c.asks))
	}
	switch key {
	case "u":
		return c.start(c.do.Plan(WholeTurn, nil))
	case "s":
		if c.turn.Later {
			return c.start(c.do.Plan(SinceTurn, nil))
		}
	case "o":
		if c.at < len(c.turn.Files) {
			return c.start(c.do.Plan(OneFile, []string{string(c.turn.Files[c.at].Path)}))
		}
	}
	return nil, false
}

// start begins work; what fails comes as a toast over the box, which stays.
func (c *Overlay) start(work tea.Cmd) (tea.Cmd, bool) {
	c.busy = true
	return func() tea.Msg {
		msg := work()
		if t, failed := msg.(ui.ShowToast); failed {
			return tea.BatchMsg{func() tea.Msg { return t }, func() tea.Msg { return failedMsg{} }}
		}
		return msg
	}, false
}

// failedMsg says that work has ended without a result.
type failedMsg struct{}

func (c *Overlay) move(key string) bool {
	switch key {
	case "tab", "right", "n":
		c.nextFile(1)
	case "shift+tab", "left", "p":
		c.nextFile(-1)
	default:
		return c.TakeScrollKey(key)
	}
	return true
}

func (c *Overlay) nextFile(by int) {
	if n := len(c.turn.Files); n > 0 && c.asks == nil {
		c.at, c.From = (c.at+by+n)%n, 0
	}
}

// View draws the files and a diff.
func (c *Overlay) View(w, h int) string {
	head, body := c.content(w)
	return text.Block(append(head, c.InSight(body, max(h-len(head), 1))...), w, h)
}

// content is what stands and what scrolls.
func (c *Overlay) content(w int) (head, body []string) {
	c.drawn = ui.DrawnRows{}
	if c.asks != nil {
		head = []string{c.styles.Warn.Render(text.Truncate("Changed since by somebody else. Putting these back loses that (an undo of the undo brings it back):", w, "…")), ""}
		for _, st := range c.asks.Conflicts() {
			body = append(body, c.row(Relative(c.turn.Cwd, string(st.Path)), st.Conflict, w))
		}
		return head, body
	}
	if len(c.turn.Files) == 0 {
		return []string{c.styles.Dim.Render("  nothing")}, nil
	}
	from, to := ui.RowsAround(c.at, len(c.turn.Files), maxNames)
	c.drawn.PlaceFrom(0, 0, w, from, to-from)
	for i := from; i < to; i++ {
		head = append(head, c.name(i, w))
	}
	for _, n := range c.turn.Notes {
		head = append(head, c.styles.Warn.Render(text.Truncate(text.OneLine(n), w, "…")))
	}
	return append(head, ""), diff.Render(c.turn.Files[c.at].Unified, w, c.styles)
}

// name is one file in the list.
func (c *Overlay) name(i, w int) string {
	d := c.turn.Files[i]
	about := d.Summary
	if d.Unified != "" {
		about += fmt.Sprintf("  +%d -%d", d.Added, d.Removed)
	}
	mark := "  "
	if i == c.at {
		mark = c.styles.Glyphs.Closed + " "
	}
	return c.styles.Accent.Render(mark) + c.row(Relative(c.turn.Cwd, string(d.Path)), about, w-2)
}

func (c *Overlay) row(name, about string, w int) string {
	about = text.OneLine(about)
	name = text.Truncate(text.OneLine(name), max(w-text.Width(about)-2, 10), "…")
	return c.styles.Text.Render(name) + "  " + c.styles.Dim.Render(text.Truncate(about, max(w-text.Width(name)-2, 0), "…"))
}

// Relative is a path as it is shown from a folder: below it relative, elsewhere whole.
func Relative(cwd, path string) string {
	rel, err := filepath.Rel(cwd, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	return rel
}
