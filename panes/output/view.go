package output

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"hermes/ui/text"
)

// view is the scroll state: a position in absolute lines, so that new output moves nothing while a person reads.
type view struct {
	follow bool
	wrap   bool
	top    int // absolute line at the top when not following
	row    int // wrapped row within it
	seen   int // end of the buffer when the view was locked
	query  string
	hits   []int // absolute lines
	hit    int
}

func (v *view) reset() {
	v.follow, v.top, v.row, v.hits, v.hit, v.query = true, 0, 0, nil, 0, ""
}

// View implements ui.Pane.
func (p *Pane) View() string {
	if p.memoOK {
		return p.memo
	}
	p.memo, p.memoOK = p.render(), true
	return p.memo
}

func (p *Pane) render() string {
	if p.w <= 0 || p.h <= 0 {
		return ""
	}
	c := p.current()
	if c == nil {
		return p.fill(p.empty())
	}
	rows := p.rows(c)
	if !p.view.follow {
		if n := c.buf.end() - p.view.seen; n > 0 && len(rows) > 0 {
			rows = p.withChip(rows, fmt.Sprintf("%s %d new", p.styles.Glyphs.Down, n))
		}
	}
	return p.fill(rows)
}

func (p *Pane) empty() []string {
	return []string{
		"",
		p.styles.Dim.Render("What tools print appears here, live."),
		p.styles.Dim.Render("Try it: type  $ uname -a  in the conversation."),
	}
}

// rows are the screen rows from the view's position on: never more than fit.
func (p *Pane) rows(c *call) []string {
	if p.view.follow {
		return p.lastRows(c)
	}
	var rows []string
	for n := max(p.view.top, c.buf.first); n < c.buf.end() && len(rows) < p.h; n++ {
		wrapped := p.lineRows(c, n)
		if n == p.view.top {
			wrapped = wrapped[min(p.view.row, len(wrapped)-1):]
		}
		rows = append(rows, wrapped...)
	}
	return rows[:min(len(rows), p.h)]
}

// lastRows are the rows that end the buffer.
func (p *Pane) lastRows(c *call) []string {
	var groups [][]string
	count := 0
	for n := c.buf.end() - 1; n >= c.buf.first && count < p.h; n-- {
		g := p.lineRows(c, n)
		groups = append(groups, g)
		count += len(g)
	}
	rows := make([]string, 0, count)
	for i := len(groups) - 1; i >= 0; i-- {
		rows = append(rows, groups[i]...)
	}
	return rows[max(0, len(rows)-p.h):]
}

// lineRows wraps or cuts one line to the pane's width.
func (p *Pane) lineRows(c *call, n int) []string {
	line := p.paint(c, n)
	if !p.view.wrap || text.Width(line) <= p.w {
		return []string{text.Truncate(line, p.w, p.styles.Glyphs.Ellipsis)}
	}
	rows := text.Wrap(line, p.w)
	if len(rows) == 0 {
		return []string{""}
	}
	return rows
}

// paint colours diffs and search hits; everything else keeps its own colours.
func (p *Pane) paint(c *call, n int) string {
	line := c.buf.line(n)
	if q := p.view.query; q != "" {
		if marked, ok := mark(line, q, p.styles.Match); ok {
			return marked
		}
	}
	if c.result == nil || len(c.result.Diffs) == 0 {
		return line
	}
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return p.styles.Dim.Render(line)
	case strings.HasPrefix(line, "@@"):
		return p.styles.DiffHunk.Render(line)
	case strings.HasPrefix(line, "+"):
		return p.styles.DiffAdd.Render(line)
	case strings.HasPrefix(line, "-"):
		return p.styles.DiffDel.Render(line)
	default:
		return line
	}
}

// mark shows every occurrence of query in the plain form of line.
func mark(line, query string, s lipgloss.Style) (string, bool) {
	plain := text.Sanitize(line)
	low, q := strings.ToLower(plain), strings.ToLower(query)
	if len(low) != len(plain) || !strings.Contains(low, q) {
		return line, false
	}
	var b strings.Builder
	for {
		i := strings.Index(low, q)
		if i < 0 {
			b.WriteString(plain)
			return b.String(), true
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

// fill makes exactly h rows of exactly w cells.
func (p *Pane) fill(rows []string) string {
	rows = text.CloseSGR(rows)
	out := make([]string, p.h)
	for i := range out {
		if i < len(rows) {
			out[i] = text.Fit(rows[i], p.w)
		} else {
			out[i] = strings.Repeat(" ", p.w)
		}
	}
	return strings.Join(out, "\n")
}

// clock shows a duration as screens do: 6.2 s, 00:41, 1:02:03.
func clock(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
}

// gist guesses the one line that tells what a past call did, from its arguments.
func gist(name, args string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(args), &fields) != nil {
		return name
	}
	for _, key := range []string{"command", "path", "pattern", "query", "question", "action"} {
		if s, ok := fields[key].(string); ok && s != "" {
			line, _, _ := strings.Cut(s, "\n")
			return text.Sanitize(line)
		}
	}
	return name
}
