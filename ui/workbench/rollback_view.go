package workbench

import (
	"fmt"
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

// scope is how much is taken back.
type scope int

const (
	oneFile scope = iota
	wholeTurn
	sinceTurn
)

// conflictMsg is a plan that needs a second look; tookBackMsg that all went well.
type (
	conflictMsg struct{ plan *checkpoint.Plan }
	tookBackMsg struct{ text string }
)

// changes is an overlay: what a turn changed, file by file, with the keys that take it back.
type changes struct {
	title string
	cwd   string
	files []checkpoint.Diff
	notes []string
	later bool // there are turns after it
	plan  func(what scope, files []string) tea.Cmd
	force func(p *checkpoint.Plan) tea.Cmd

	styles *style.Styles
	at     int // the file in view
	from   int // its first line in view
	rows   int
	total  int
	asks   *checkpoint.Plan // conflicts to be confirmed
	busy   bool
}

// only goes to a path; false: the turn did not change it.
func (c *changes) only(path string) bool {
	i := slices.IndexFunc(c.files, func(d checkpoint.Diff) bool { return string(d.Path) == path })
	if i >= 0 {
		c.at = i
	}
	return i >= 0
}

func (c *changes) Title() string           { return text.Truncate(text.Sanitize(c.title), 70, "…") }
func (c *changes) Restyle(s *style.Styles) { c.styles = s }
func (c *changes) Size(w, h int) (int, int) {
	lines := 8
	for _, d := range c.files {
		lines = max(lines, strings.Count(d.Unified, "\n")+1)
	}
	return min(max(w-8, 40), 150), min(min(len(c.files), maxNames)+len(c.notes)+2+lines, h-4)
}

func (c *changes) Hint() string {
	switch {
	case c.busy:
		return "working"
	case c.asks != nil:
		return "F put back all the same  esc leave everything as it is"
	case c.later:
		return "u take back this turn  s this and all later turns  o only this file  tab next file  esc close"
	}
	return "u take back this turn  o only this file  tab next file  esc close"
}

func (c *changes) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return c.key(msg.String())
	case tea.MouseMsg:
		switch msg.Button { //nolint:exhaustive // the others do nothing here
		case tea.MouseButtonWheelUp:
			c.scroll(-3)
		case tea.MouseButtonWheelDown:
			c.scroll(3)
		}
	case conflictMsg:
		c.asks, c.busy, c.from = msg.plan, false, 0
	case tookBackMsg:
		return func() tea.Msg { return toast(event.Info, "%s", msg.text) }, true
	case idleMsg: // it did not go well
		c.busy = false
	}
	return nil, false
}

func (c *changes) key(key string) (tea.Cmd, bool) {
	if key == "esc" || key == "q" {
		if c.asks != nil {
			c.asks, c.from = nil, 0
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
		return c.start(c.force(c.asks))
	}
	switch key {
	case "u":
		return c.start(c.plan(wholeTurn, nil))
	case "s":
		if c.later {
			return c.start(c.plan(sinceTurn, nil))
		}
	case "o":
		if c.at < len(c.files) {
			return c.start(c.plan(oneFile, []string{string(c.files[c.at].Path)}))
		}
	}
	return nil, false
}

// start begins work; what fails comes as a toast over the box, which stays.
func (c *changes) start(work tea.Cmd) (tea.Cmd, bool) {
	c.busy = true
	return func() tea.Msg {
		msg := work()
		if t, failed := msg.(ui.ShowToast); failed {
			return tea.BatchMsg{func() tea.Msg { return t }, func() tea.Msg { return idleMsg{} }}
		}
		return msg
	}, false
}

// idleMsg says that work has ended without a result.
type idleMsg struct{}

func (c *changes) move(key string) bool {
	switch key {
	case "tab", "right", "n":
		c.turn(1)
	case "shift+tab", "left", "p":
		c.turn(-1)
	case "up", "k":
		c.scroll(-1)
	case "down", "j":
		c.scroll(1)
	case "pgup":
		c.scroll(-max(c.rows-1, 1))
	case "pgdown", " ":
		c.scroll(max(c.rows-1, 1))
	case "home":
		c.from = 0
	case "end":
		c.scroll(c.total)
	default:
		return false
	}
	return true
}

func (c *changes) turn(by int) {
	if n := len(c.files); n > 0 && c.asks == nil {
		c.at, c.from = (c.at+by+n)%n, 0
	}
}

func (c *changes) scroll(by int) { c.from = max(min(c.from+by, c.total-c.rows), 0) }

func (c *changes) View(w, h int) string {
	head, body := c.content(w)
	c.total, c.rows = len(body), max(h-len(head), 1)
	c.scroll(0)
	return text.Block(append(head, body[c.from:]...), w, h)
}

// content is what stands and what scrolls.
func (c *changes) content(w int) (head, body []string) {
	if c.asks != nil {
		head = []string{c.styles.Warn.Render(text.Truncate("Changed since by somebody else. Putting these back loses that (an undo of the undo brings it back):", w, "…")), ""}
		for _, st := range c.asks.Conflicts() {
			body = append(body, c.row(relative(c.cwd, string(st.Path)), st.Conflict, w))
		}
		return head, body
	}
	if len(c.files) == 0 {
		return []string{c.styles.Dim.Render("  nothing")}, nil
	}
	from := max(min(c.at-maxNames/2, len(c.files)-maxNames), 0)
	for i := from; i < min(from+maxNames, len(c.files)); i++ {
		head = append(head, c.name(i, w))
	}
	for _, n := range c.notes {
		head = append(head, c.styles.Warn.Render(text.Truncate(oneRow(n), w, "…")))
	}
	return append(head, ""), diff.Render(c.files[c.at].Unified, w, c.styles)
}

// name is one file in the list.
func (c *changes) name(i, w int) string {
	d := c.files[i]
	about := d.Summary
	if d.Unified != "" {
		about += fmt.Sprintf("  +%d -%d", d.Added, d.Removed)
	}
	mark := "  "
	if i == c.at {
		mark = c.styles.Glyphs.Closed + " "
	}
	return c.styles.Accent.Render(mark) + c.row(relative(c.cwd, string(d.Path)), about, w-2)
}

func (c *changes) row(name, about string, w int) string {
	about = oneRow(about)
	name = text.Truncate(oneRow(name), max(w-text.Width(about)-2, 10), "…")
	return c.styles.Text.Render(name) + "  " + c.styles.Dim.Render(text.Truncate(about, max(w-text.Width(name)-2, 0), "…"))
}

func oneRow(s string) string { return strings.Join(strings.Fields(text.Sanitize(s)), " ") }
