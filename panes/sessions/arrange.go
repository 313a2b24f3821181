package sessions

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/text"
)

// filter is which sessions are shown.
type filter int

const (
	showAll filter = iota
	showWaiting
	showWorking
	showDone
	showArchived
	filters // how many there are
)

// filterWord is how a filter is called on one line.
func (f filter) filterWord() string {
	return [...]string{"all", "waits for you", "works", "done", "archived"}[f]
}

// isShown reports whether a session is one of those that the filter asks for. A search looks among
// all of them.
func (p *Pane) isShown(r Hit) bool {
	if p.isSearching() {
		return true
	}
	now := p.activityOf(r)
	switch p.filter {
	case showWaiting:
		return now == waiting
	case showWorking:
		return now == working
	case showDone:
		return now != waiting && now != working && !r.Info.Archived
	case showArchived:
		return r.Info.Archived
	default:
		return true
	}
}

// countShown counts how many of the sessions that were read a filter shows.
func (p *Pane) countShown(f filter) (n int) {
	now := p.filter
	p.filter = f
	seen := map[string]bool{}
	for _, r := range p.listed {
		if p.isShown(r) && !seen[r.Info.UID] {
			seen[r.Info.UID] = true
			n++
		}
	}
	p.filter = now
	return n
}

// nextFilter goes to the next filter that would show something. Nobody knows that of archived ones:
// they are read only then.
func (p *Pane) nextFilter(string) tea.Cmd {
	was := p.filter
	for range filters {
		p.filter = (p.filter + 1) % filters
		if p.filter == showAll || p.filter == showArchived || p.countShown(p.filter) > 0 {
			break
		}
	}
	p.cursor, p.top, p.memoOK = 0, 0, false
	if (p.filter == showArchived) != (was == showArchived) {
		return p.reloadList()
	}
	p.arrangeRows()
	return p.loadPreview()
}

// arrangeRows makes the rows of what was read: those that the filter shows, one project after the
// other, the pinned ones before them. What a search found keeps its order. The cursor stays on its
// session.
func (p *Pane) arrangeRows() {
	selected := p.selectedPlace()
	p.rows = p.rows[:0]
	for _, r := range p.listed {
		if p.isShown(r) {
			p.rows = append(p.rows, r)
		}
	}
	if p.isGrouped() {
		first := map[string]int{}
		for i, r := range p.rows {
			if _, known := first[groupOf(r)]; !known {
				first[groupOf(r)] = i
			}
		}
		slices.SortStableFunc(p.rows, func(a, b Hit) int { return first[groupOf(a)] - first[groupOf(b)] })
	}
	p.selectAgain(selected)
}

// isGrouped reports whether the list has headings: it is the plain one, of several projects.
func (p *Pane) isGrouped() bool {
	if p.isSearching() {
		return false
	}
	for _, r := range p.rows {
		if groupOf(r) != groupOf(p.rows[0]) {
			return true
		}
	}
	return false
}

// groupOf names the group of a session: its project, or that it is pinned.
func groupOf(r Hit) string {
	if r.Info.Pinned {
		return "pinned"
	}
	return r.Info.Project
}

// headingOver is the heading that stands over row i when it is drawn below row i-1; "" for none.
// The first row on the screen always has one.
func (p *Pane) headingOver(i, top, w int) string {
	if !p.isGrouped() || i > top && groupOf(p.rows[i]) == groupOf(p.rows[i-1]) {
		return ""
	}
	name := p.shortPath(groupOf(p.rows[i]))
	if name == "" {
		name = "no folder"
	}
	for text.Width(text.Inline(name)) > w-1 {
		_, rest, ok := strings.Cut(strings.TrimPrefix(name, p.styles.Glyphs.Ellipsis+"/"), "/")
		if !ok {
			break
		}
		name = p.styles.Glyphs.Ellipsis + "/" + rest
	}
	return p.styles.Faint.Render(text.Truncate(text.Inline(name), w, p.styles.Glyphs.Ellipsis))
}

// rowsFrom draws rows from top on, as many as fit into h lines, and notes which line shows which.
func (p *Pane) rowsFrom(top, h int, draw func(i int) []string, w int) (lines []string, last int) {
	p.lineRow = p.lineRow[:0]
	last = top - 1
	for i := top; i < len(p.rows); i++ {
		head := p.headingOver(i, top, w)
		if need := rowHeight; len(lines)+need+min(1, len(head)) > h && i > top {
			break
		}
		if head != "" {
			lines, p.lineRow = append(lines, head), append(p.lineRow, i)
		}
		lines = append(lines, draw(i)...)
		for range rowHeight {
			p.lineRow = append(p.lineRow, i)
		}
		last = i
	}
	return lines, last
}

// filterLine says which sessions are shown, and how many others there are; nothing where all are
// shown and none of them does anything.
func (p *Pane) filterLine() string {
	var parts []string
	if p.filter != showAll || p.countShown(showWaiting)+p.countShown(showWorking) > 0 {
		parts = p.filterParts()
	}
	if p.archived && p.filter != showArchived {
		parts = append(parts, "with archived ones")
	}
	if parts == nil {
		return ""
	}
	return "  " + strings.Join(parts, "  ")
}

// filterParts are the filter that is on, and how many sessions the others would show.
func (p *Pane) filterParts() (parts []string) {
	for f := range filters {
		switch n := p.countShown(f); {
		case f == p.filter:
			parts = append(parts, "["+f.filterWord()+"]")
		case f == showDone && n > 0 && p.more:
			parts = append(parts, fmt.Sprintf("%d+ %s", n, f.filterWord()))
		case f != showAll && f != showArchived && n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, f.filterWord()))
		}
	}
	return parts
}

// countDistinct counts sessions among hits.
func countDistinct(hits []Hit) int {
	seen := map[string]bool{}
	for _, h := range hits {
		seen[h.Info.UID] = true
	}
	return len(seen)
}

// sessionFacts are what a session was held with and what it took, the most important first.
func sessionFacts(r Hit) []string {
	var out []string
	if r.Info.Model != "" {
		out = append(out, text.Inline(r.Info.Model))
	}
	if n := r.Info.Usage.Input + r.Info.Usage.Output; n > 0 {
		out = append(out, text.Thousands(n)+" tokens")
	}
	if u := r.Info.Usage; u.CostKnown && u.Cost > 0 {
		out = append(out, fmt.Sprintf("$%.3f", float64(u.Cost)/1e6))
	}
	return out
}
