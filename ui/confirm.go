package ui

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/style"
	"hermes/ui/text"
)

// confirmPause is how long a confirmation hears no yes: what was typed for something else must not
// decide.
const confirmPause = 500 * time.Millisecond

// confirm asks before something dangerous. No is selected; only y, or moving to Yes first, does it,
// and only once all that it says was in sight.
type confirm struct {
	title, help string
	yes         func() tea.Cmd
	onYes       bool
	styles      *style.Styles
	now         func() time.Time

	wide  int      // what lines was made for
	lines []string // the question and what it is about, styled
	top   int      // the first line in sight
	room  int      // how many lines are in sight
	seen  int      // how many lines were in sight, from the first on
	shown time.Time
	// answersAt is the row of the answers in the last picture.
	answersAt int

	early bool   // a yes came too soon
	words string // what was typed instead of an answer
}

// NewConfirm returns an overlay that asks before something that cannot be taken back. No is
// selected. Title and help may come from outside; each line of help is a fact of its own.
func NewConfirm(title, help string, yes func() tea.Cmd) Overlay {
	return &confirm{title: text.OneLine(title), help: text.ExpandTabs(text.Sanitize(help), cardTab), yes: yes, now: time.Now}
}

func (c *confirm) Title() string           { return "Really?" }
func (c *confirm) Hint() string            { return "y yes  n no  ←→ enter choose  esc no" }
func (c *confirm) Restyle(s *style.Styles) { c.styles, c.wide = s, 0 }
func (c *confirm) Size(w, _ int) (int, int) {
	wide := max(1, min(64, w-4))
	c.wrapLines(wide)
	return wide, 2 + len(c.lines)
}

// wrapLines makes the lines for a width. Lines of another width were not seen.
func (c *confirm) wrapLines(w int) {
	if w == c.wide {
		return
	}
	c.wide, c.lines, c.top, c.seen = w, nil, 0, 0
	for _, l := range text.Wrap(c.title, max(w-2, 1)) {
		c.lines = append(c.lines, c.styles.Strong.Render(" "+l))
	}
	hang := 0 // of several facts, only a new one begins at the edge
	if strings.Contains(c.help, "\n") {
		hang = 2
	}
	for _, fact := range strings.Split(c.help, "\n") {
		for i, l := range text.Wrap(fact, max(w-2-hang, 1)) {
			if i > 0 {
				l = text.Blank(hang) + l
			}
			c.lines = append(c.lines, c.styles.Dim.Render(" "+l))
		}
	}
}

func (c *confirm) Update(msg tea.Msg) (tea.Cmd, bool) {
	if m, ok := msg.(tea.MouseMsg); ok {
		return c.handleMouse(m)
	}
	key, ok := msg.(tea.KeyMsg)
	if !ok || c.scrollBy(key.String()) {
		return nil, false
	}
	switch key.String() {
	case "n", "N", "esc", "q":
		return nil, true
	case "left", "right", "up", "down", "tab", "shift+tab":
		c.onYes = !c.onYes
	case "enter":
		if c.onYes {
			return c.acceptIfRead()
		}
		return nil, true
	default:
		return c.takeLetters(key)
	}
	return nil, false
}

// takeLetters takes letters that are no no. Who types a word answers nothing: it is a no, and the
// word goes into the line. A held y is one that comes too soon.
func (c *confirm) takeLetters(key tea.KeyMsg) (tea.Cmd, bool) {
	if key.Type != tea.KeyRunes || key.Alt || key.Paste {
		return nil, false
	}
	typed := string(key.Runes)
	if strings.Trim(typed, "yY") == "" {
		return c.acceptIfRead()
	}
	c.words = typed
	return nil, true
}

// handleMouse takes a click on an answer, a yes under the terms of the y key, and the wheel.
func (c *confirm) handleMouse(m tea.MouseMsg) (tea.Cmd, bool) {
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		c.scrollBy("up")
	case m.Button == tea.MouseButtonWheelDown:
		c.scrollBy("down")
	case m.Button != tea.MouseButtonLeft || m.Action != tea.MouseActionPress || m.Y != c.answersAt:
	case m.X >= noAt && m.X < noAt+text.Width(noAnswer):
		return nil, true
	case m.X >= yesAt && m.X < yesAt+text.Width(yesAnswer):
		return c.acceptIfRead()
	}
	return nil, false
}

// The answers as they are drawn when chosen, and the columns that they begin at.
const (
	noAnswer, yesAnswer = "[ No ]", "[ Yes ]"
	noAt, yesAt         = 1, 1 + len(noAnswer) + 2
)

// scrollBy moves through lines that do not all fit, never past what was not in sight yet.
func (c *confirm) scrollBy(key string) bool {
	if len(c.lines) <= c.room {
		return false
	}
	step, ok := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -c.room, "pgdown": c.room, " ": c.room}[key]
	c.top = max(0, min(c.top+step, c.seen, len(c.lines)-c.room))
	return ok
}

// acceptIfRead does it, unless nobody can have read what it is. A key that is held down begins the
// pause anew.
func (c *confirm) acceptIfRead() (tea.Cmd, bool) {
	now := c.now()
	switch {
	case c.shown.IsZero() || c.seen < len(c.lines):
		return nil, false
	case now.Sub(c.shown) < confirmPause:
		c.shown, c.early = now, true
		return nil, false
	default:
		return c.yes(), true
	}
}

func (c *confirm) View(w, h int) string {
	c.wrapLines(w)
	if c.shown.IsZero() {
		c.shown = c.now()
	}
	c.room = max(h-2, 1)
	c.top = max(0, min(c.top, len(c.lines)-c.room))
	end := min(c.top+c.room, len(c.lines))
	c.seen = max(c.seen, end)
	no, yes := c.styles.Selection.Render(noAnswer), c.styles.Dim.Render("  Yes  ")
	if c.onYes {
		no, yes = c.styles.Dim.Render("  No  "), c.styles.Selection.Render(yesAnswer)
	}
	rows := append([]string{}, c.lines[c.top:end]...)
	c.answersAt = len(rows) + 1
	return text.Block(append(rows, c.styles.Warn.Render(" "+c.whyNotYet(len(c.lines)-end)), " "+no+"  "+yes), w, h)
}

// whyNotYet says what keeps a yes from being heard; below is how many lines are further down.
func (c *confirm) whyNotYet(below int) string {
	switch {
	case c.seen < len(c.lines):
		return fmt.Sprintf("%d more lines: ↑↓, then y", below)
	case c.early:
		return "That was too soon: read it, then y"
	case len(c.lines) > c.room:
		return fmt.Sprintf("%d more lines below, ↑↓ scrolls", below)
	default:
		return ""
	}
}
