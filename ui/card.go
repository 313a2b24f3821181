package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/style"
	"hermes/ui/text"
)

// Fact is a row of a card.
type Fact struct {
	Name, Text string
	Wrong      bool // it keeps the person from working
}

// NewCard returns an overlay that shows facts, each whole: what is too long goes on below.
func NewCard(title string, facts []Fact) Overlay {
	return &card{title: text.OneLine(title), facts: cleanFacts(facts)}
}

// cleanFacts are facts whose names, which others may have given, are words in one line.
func cleanFacts(facts []Fact) []Fact {
	out := slices.Clone(facts)
	for i := range out {
		out[i].Name = text.OneLine(out[i].Name)
	}
	return out
}

// NewCards returns an overlay of n cards, the newest first, of which at is shown; facts makes one.
func NewCards(title string, n, at int, facts func(i int) []Fact) Overlay {
	return &card{title: text.OneLine(title), facts: cleanFacts(facts(at)), n: n, at: at, make: facts}
}

type card struct {
	title  string
	facts  []Fact
	n, at  int // of several cards
	make   func(i int) []Fact
	styles *style.Styles
	top    int
	rows   int // of the last drawing
	shown  int
}

const (
	cardWidth = 92
	cardTab   = 4
)

// Title says which of several cards it is, counted from the oldest.
func (c *card) Title() string {
	if c.n < 2 {
		return c.title
	}
	return fmt.Sprintf("%s %d of %d", c.title, c.n-c.at, c.n)
}

// Hint names the keys.
func (c *card) Hint() string {
	if c.n < 2 {
		return "up, down scroll  esc close"
	}
	return "left older  right newer  up, down scroll  esc close"
}

// turnTo shows another card, if there is one.
func (c *card) turnTo(at int) {
	if at >= 0 && at < c.n && at != c.at {
		c.at, c.top, c.facts = at, 0, cleanFacts(c.make(at))
	}
}

func (c *card) Restyle(s *style.Styles) { c.styles = s }

func (c *card) Size(w, _ int) (int, int) {
	wide := max(1, min(cardWidth, w-4))
	return wide, len(c.lines(wide))
}

// nameWidth is the column of the names.
func (c *card) nameWidth() (n int) {
	for _, f := range c.facts {
		n = max(n, text.Width(f.Name))
	}
	return n
}

func (c *card) lines(w int) []string {
	names := c.nameWidth()
	var out []string
	for _, f := range c.facts {
		st := c.styles.Text
		if f.Wrong {
			st = c.styles.Warn
		}
		name := f.Name
		body := text.ExpandTabs(strings.TrimSpace(text.Sanitize(f.Text)), cardTab)
		for _, l := range text.Wrap(body, max(8, w-names-4)) {
			out = append(out, " "+c.styles.Dim.Render(text.Fit(name, names))+"  "+st.Render(l))
			name = ""
		}
	}
	return out
}

func (c *card) Update(msg tea.Msg) (tea.Cmd, bool) {
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil, false
	}
	switch key.String() {
	case "esc", "enter", "q":
		return nil, true
	case "up", "k":
		c.top--
	case "down", "j":
		c.top++
	case "left", "h":
		c.turnTo(c.at + 1)
	case "right", "l":
		c.turnTo(c.at - 1)
	case "pgup":
		c.top -= c.shown
	case "pgdown", " ":
		c.top += c.shown
	}
	c.top = max(0, min(c.top, c.rows-c.shown))
	return nil, false
}

func (c *card) View(w, h int) string {
	lines := c.lines(w)
	c.rows, c.shown = len(lines), h
	c.top = max(0, min(c.top, len(lines)-h))
	return text.Block(lines[c.top:], w, h)
}
