package sessions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"hermes/ui"
	"hermes/ui/text"
)

const (
	headRows   = 2  // the search field, and what it found
	rowHeight  = 2  // title, then what there is to say
	splitWidth = 70 // from here on the preview stands beside the list
)

// Title implements ui.Pane.
func (p *Pane) Title() ui.Title {
	t := ui.Title{Text: "Sessions"}
	switch {
	case p.partial > 0:
		t.Right = fmt.Sprintf("index %d%%", int(100*p.partial))
	case p.more:
		t.Right = fmt.Sprintf("%d+", p.total)
	case p.total > 0:
		t.Right = fmt.Sprint(p.total)
	}
	return t
}

// previewWidth is how many columns the preview takes; 0 when there is no room for one.
func (p *Pane) previewWidth() int {
	if p.w < splitWidth {
		return 0
	}
	return p.w * 3 / 5
}

// Cursor implements ui.Cursorer.
func (p *Pane) Cursor() (x, y int, ok bool) {
	w := p.w - p.previewWidth()
	switch {
	case p.rename != nil:
		if r := p.currentHit(); r == nil || r.Info.UID != p.renames {
			return 0, 0, false
		}
		_, x = p.rename.View(p.styles, p.styles.Glyphs.Closed, "", w)
		p.View()
		return x, headRows + max(0, slices.Index(p.lineRow, p.cursor)+min(1, len(p.headingOver(p.cursor, p.top, w)))), true
	case p.typing:
		_, x = p.query.View(p.styles, "/", "", w)
		return x, 0, true
	default:
		return 0, 0, false
	}
}

// View implements ui.Pane.
func (p *Pane) View() string {
	now := p.now()
	if !p.memoOK || !p.memoUntil.IsZero() && !now.Before(p.memoUntil) {
		p.memoUntil = time.Time{}
		p.memo, p.memoOK = p.render(now), true
	}
	return p.memo
}

func (p *Pane) render(now time.Time) string {
	if p.w <= 0 || p.h <= 0 {
		return ""
	}
	pw := p.previewWidth()
	lw := p.w - pw
	var lines, side []string
	if pw == 0 {
		lines = p.drawList(lw, now)
	} else {
		lines = p.drawList(lw-1, now)
		side = p.previewSide(pw-2, p.h)
	}
	out := make([]string, p.h)
	for i := range out {
		out[i] = text.Fit(lineAt(lines, i), lw)
		if pw > 0 {
			out[i] += p.styles.Border.Render(p.styles.Glyphs.Bar) + " " + text.Fit(lineAt(side, i), pw-2)
		}
	}
	return strings.Join(out, "\n")
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// drawList is the field, what it found, and the rows that fit.
func (p *Pane) drawList(w int, now time.Time) []string {
	head, _ := p.query.View(p.styles, "/", p.placeholder(), w)
	lines := []string{head, p.styles.Dim.Render(text.Truncate(p.countLine(), w, p.styles.Glyphs.Ellipsis))}
	if p.err != "" {
		return append(lines, p.wrapProse(p.styles.Bad, w, text.Sanitize(p.err), "ctrl+r tries again.")...)
	}
	if len(p.rows) == 0 {
		return append(lines, p.emptyText(w)...)
	}
	room := max(rowHeight, p.h-headRows)
	p.top = max(0, min(p.top, p.cursor, len(p.rows)-max(1, room/(rowHeight+1))))
	again := func(i int) bool { // found more than once
		return slices.ContainsFunc(p.rows[:i], func(r Hit) bool { return r.Info.UID == p.rows[i].Info.UID })
	}
	draw := func(i int) []string { return p.drawRow(i, w, again(i), now) }
	rows, last := p.rowsFrom(p.top, room, draw, w)
	for last < p.cursor {
		p.top++
		rows, last = p.rowsFrom(p.top, room, draw, w)
	}
	return append(lines, rows...)
}

func (p *Pane) placeholder() string {
	if p.typing {
		return "words, tool: since: in:"
	}
	return "search all sessions"
}

// countLine says how much was found, under the field.
func (p *Pane) countLine() string {
	switch {
	case !p.isSearching():
		return p.filterLine()
	case p.pending:
		return "  searching" + p.styles.Glyphs.Ellipsis
	case p.err != "", len(p.rows) == 0:
		return ""
	}
	s := fmt.Sprintf("  %d sessions", p.total)
	switch {
	case p.more:
		s = fmt.Sprintf("  more than %d sessions", p.total)
	case p.total == 1:
		s = "  1 session"
	}
	if n := len(p.listed); n > p.total {
		s += fmt.Sprintf(", %d places", n)
	}
	if p.partial > 0 {
		s += ", index incomplete"
	}
	return s
}

// emptyText says why the list is empty and what to do.
func (p *Pane) emptyText(w int) []string {
	switch {
	case p.pending || p.request == 0:
		return nil
	case p.isSearching():
		return p.wrapProse(p.styles.Dim, w, "Nothing found.", "Fewer words find more. Filters need a word beside them, since: and in: apart.", "esc, esc shows all sessions.")
	case p.filter != showAll:
		return p.wrapProse(p.styles.Dim, w, "No session here: "+p.filter.filterWord()+".",
			"s shows others.")
	default:
		return p.wrapProse(p.styles.Dim, w, "Your conversations will be listed here.", "ctrl+n starts a new one.")
	}
}

func (p *Pane) wrapProse(s lipgloss.Style, w int, sentences ...string) []string {
	var out []string
	for _, line := range sentences {
		for _, part := range text.Wrap(line, max(1, w-2)) {
			out = append(out, "  "+s.Render(part))
		}
	}
	return out
}
