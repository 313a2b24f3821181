package output

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"hermes/ui/progress"
	"hermes/ui/text"
)

// view is the scroll state: a position in absolute lines, so that new output moves nothing while a
// person reads.
type view struct {
	follow bool
	wrap   bool
	top    int // absolute line at the top when not following
	row    int // wrapped row within it
	seen   int // end of the lines when the view was locked
	query  string
	hits   []int // absolute lines
	hit    int
}

func (v *view) reset() {
	v.follow, v.top, v.row, v.hits, v.hit, v.query = true, 0, 0, nil, -1, ""
}

// View implements ui.Pane.
func (p *Pane) View() string {
	if !p.memoOK {
		p.memo, p.memoOK = p.render(), true
	}
	return p.memo
}

func (p *Pane) render() string {
	if p.w <= 0 || p.h <= 0 {
		return ""
	}
	return text.Block(p.withOverview(p.outputRows), p.w, p.h)
}

// outputRows are what the current call printed, or why that is nothing.
func (p *Pane) outputRows() []string {
	c := p.currentCall()
	name, pulls := "", (*progress.Meter)(nil)
	if c != nil {
		name, pulls = p.waitsFor(c)
	}
	switch {
	case c == nil:
		return p.emptyText("What tools print appears here, live.", "Try it: type  $ uname -a  in the conversation.")
	case c.waits != "":
		return p.emptyText("It waits for your answer.", "ctrl+y in the conversation shows what is asked.")
	case p.endLine(c) == 0 && pulls != nil:
		return p.pullRows(name, pulls)
	case p.endLine(c) == 0:
		return p.emptyText("Nothing was printed yet.")
	}
	rows := p.visibleRows(c)
	if pulls != nil {
		rows = p.overlayBottom(rows, p.pullRows(name, pulls))
	}
	if n := p.endLine(c) - p.view.seen; !p.view.follow && n > 0 {
		rows = p.withChip(rows, fmt.Sprintf("%s %d new", p.styles.Glyphs.Down, n))
	}
	return rows
}

// overlayBottom puts rows under others, over the last of them where there is no room.
func (p *Pane) overlayBottom(rows, more []string) []string {
	room := max(0, p.h-len(more))
	return append(rows[:min(len(rows), room):min(len(rows), room)], more[:min(len(more), p.h)]...)
}

// emptyText are sentences in an empty pane.
func (p *Pane) emptyText(sentences ...string) []string {
	var out []string
	if p.h > 4 {
		out = append(out, "")
	}
	for _, s := range sentences {
		for _, line := range text.Wrap(s, max(1, p.w-2)) {
			out = append(out, " "+p.styles.Dim.Render(line))
		}
	}
	return out
}

// endLine is the number behind the last line of a call: of its output, and of what stands below it.
func (p *Pane) endLine(c *call) int { return c.buf.endNumber() + len(c.tailRows(p.w, p.styles)) }

// styledLine is one line with its colours.
func (p *Pane) styledLine(c *call, n int) string {
	if i := n - c.buf.endNumber(); i >= 0 {
		return c.tailRows(p.w, p.styles)[i]
	}
	if p.styles.Plain {
		return text.Sanitize(c.buf.line(n))
	}
	return c.buf.line(n)
}

// visibleRows are the screen rows from the view's position on: never more than fit.
func (p *Pane) visibleRows(c *call) []string {
	line, row := p.view.top, p.view.row
	if p.view.follow {
		line, row = p.topOfEnd(c)
	}
	if line < c.buf.first { // what was read has been dropped
		line, row = c.buf.first, 0
	}
	var rows []string
	for n := line; n < p.endLine(c) && len(rows) < p.h; n++ {
		wrapped := p.lineRows(c, n)
		if n == line {
			wrapped = wrapped[min(row, len(wrapped)-1):]
		}
		rows = append(rows, wrapped...)
	}
	return rows[:min(len(rows), p.h)]
}

// lineRows wraps or cuts one line to the pane's width. There is always one row at least.
func (p *Pane) lineRows(c *call, n int) []string {
	line := p.markSearch(c, n)
	if !p.view.wrap || text.Width(line) <= p.w {
		return []string{text.Truncate(line, p.w, p.styles.Glyphs.Ellipsis)}
	}
	if rows := text.Wrap(line, p.w); len(rows) > 0 {
		return rows
	}
	return []string{""}
}

// markSearch marks search hits; everything else keeps its own colours.
func (p *Pane) markSearch(c *call, n int) string {
	line := p.styledLine(c, n)
	if p.view.query == "" {
		return line
	}
	style := p.styles.Match
	if v := p.view; v.hit >= 0 && v.hit < len(v.hits) && v.hits[v.hit] == n {
		style = p.styles.Selection.Underline(true)
	}
	return markMatches(line, p.view.query, style)
}

// markMatches shows every occurrence of query in the plain form of line.
func markMatches(line, query string, s lipgloss.Style) string {
	plain := text.Sanitize(line)
	low, q := strings.ToLower(plain), strings.ToLower(query)
	if len(low) != len(plain) || !strings.Contains(low, q) {
		return line
	}
	var b strings.Builder
	for {
		i := strings.Index(low, q)
		if i < 0 {
			b.WriteString(plain)
			return b.String()
		}
		b.WriteString(plain[:i])
		b.WriteString(s.Render(plain[i : i+len(q)]))
		plain, low = plain[i+len(q):], low[i+len(q):]
	}
}

// withChip writes a short text over the right end of the last row.
func (p *Pane) withChip(rows []string, chip string) []string {
	chip = " " + chip + " "
	w := text.Width(chip)
	if w >= p.w {
		return rows
	}
	for len(rows) < p.h {
		rows = append(rows, "")
	}
	last := len(rows) - 1
	rows[last] = text.Fit(rows[last], p.w-w) + p.styles.Chip.Render(chip)
	return rows
}
