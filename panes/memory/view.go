package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"hermes/ui"
	"hermes/ui/text"
)

// Title implements ui.Pane.
func (p *Pane) Title() ui.Title {
	blocked := 0
	for _, f := range p.files {
		for _, e := range f.Entries {
			if e.Blocked != "" {
				blocked++
			}
		}
	}
	t := ui.Title{Text: "Memory"}
	if blocked > 0 {
		t.Right = fmt.Sprintf("%d blocked", blocked)
	}
	return t
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
	if p.err != "" {
		return text.Block(p.wrapIndented("! "+p.err, p.styles.Bad, 0), p.w, p.h)
	}
	var all []string
	var rowOf []int
	from, to := 0, 0
	for i, r := range p.rows {
		at := len(all)
		if r.entry < 0 {
			all = append(all, p.fileRows(i, r)...)
		} else {
			all = append(all, p.entryRows(i, p.files[r.file].Entries[r.entry])...)
		}
		if i == p.cursor {
			from, to = at, len(all)
		}
		rowOf = append(rowOf, slices.Repeat([]int{i}, len(all)-at)...)
	}
	p.top = max(min(p.top, from), min(to-p.h, from), 0)
	p.top = max(min(p.top, len(all)-p.h), 0)
	if to-from < p.h && to > p.top+p.h {
		p.top = to - p.h
	}
	p.drawn.Place(0, 0, p.w, rowOf[p.top:]...)
	return text.Block(all[p.top:], p.w, p.h)
}

// fileRows are the head of a file: its name, how full it is in words and as a bar, and what is
// wrong with it.
func (p *Pane) fileRows(i int, r row) []string {
	f, s := p.files[r.file], p.styles
	percent := 0
	if f.Limit > 0 {
		percent = f.Used * 100 / f.Limit
	}
	state, look := "", s.Dim
	switch {
	case f.Used > f.Limit:
		state, look = " OVER THE LIMIT", s.Bad
	case percent >= 90:
		state, look = " nearly full", s.Warn
	}
	var out []string
	if r.file > 0 {
		out = append(out, "")
	}
	usage := fmt.Sprintf("%d%% %d/%d%s", percent, f.Used, f.Limit, state)
	name := p.cursorMark(i) + p.nameStyle(i, f.Name)
	if f.Target == UserModel {
		out = append(out, text.Truncate(name+"  "+s.Dim.Render("what your messages tell of you"), p.w, "…"))
		if f.Problem != "" {
			out = append(out, p.wrapIndented("! "+f.Problem, s.Bad, 2)...)
		}
		return out
	}
	bar := p.shareBar(percent, min(max(p.w-text.Width(name)-text.Width(usage)-4, 0), 24))
	out = append(out, text.Truncate(name+"  "+look.Render(bar)+" "+look.Render(usage), p.w, "…"))
	switch {
	case f.Problem != "":
		out = append(out, p.wrapIndented("! "+f.Problem, s.Bad, 2)...)
	case len(f.Entries) == 0:
		out = append(out, "  "+s.Dim.Render(text.Truncate(emptyText(f.Target), p.w-2, "…")))
	}
	return out
}

func emptyText(target string) string {
	if target == "user" {
		return "nothing is known of you yet; a adds something"
	}
	return "nothing is remembered yet; a adds something"
}

func (p *Pane) cursorMark(i int) string {
	if i == p.cursor {
		return p.styles.Accent.Render(p.styles.Glyphs.Closed) + " "
	}
	return "  "
}

func (p *Pane) nameStyle(i int, name string) string {
	look := p.styles.Strong
	if i == p.cursor && p.focus {
		look = p.styles.Selection
	}
	return look.Render(name)
}

// shareBar shows a share; what is full and what is not differ without colour.
func (p *Pane) shareBar(percent, w int) string {
	if w < 6 {
		return ""
	}
	full, rest := "█", "░"
	if p.styles.ASCII {
		full, rest = "#", "."
	}
	n := min(max((w*percent+50)/100, 0), w)
	return strings.Repeat(full, n) + strings.Repeat(rest, w-n)
}

// entryRows are an entry, wrapped, and why it is blocked.
func (p *Pane) entryRows(i int, e Entry) []string {
	s := p.styles
	look := s.Text
	if i == p.cursor && p.focus {
		look = s.Selection
	}
	if e.Blocked == "" {
		return p.markRows(i, p.wrapIndented(e.Text, look, 4))
	}
	out := p.markRows(i, p.wrapIndented(markedText(e), look, 4))
	return append(out, p.wrapIndented("! BLOCKED, kept out of the prompt: it "+e.Blocked, s.Warn, 4)...)
}

// markRows puts the cursor's mark, or a bullet, before the first row.
func (p *Pane) markRows(i int, rows []string) []string {
	if len(rows) > 0 {
		mark := p.styles.Dim.Render(p.styles.Glyphs.Bullet) + " "
		if i == p.cursor {
			mark = p.cursorMark(i)
		}
		rows[0] = "  " + mark + strings.TrimPrefix(rows[0], "    ")
	}
	return rows
}

// markedText is the text with marks around what gives orders, so that it can be seen without
// colour.
func markedText(e Entry) string {
	a, b := max(e.Span[0], 0), min(e.Span[1], len(e.Text))
	if a >= b {
		return e.Text
	}
	return e.Text[:a] + "»" + e.Text[a:b] + "«" + e.Text[b:]
}

// wrapIndented wraps foreign text at an indent.
func (p *Pane) wrapIndented(s string, look lipgloss.Style, indent int) []string {
	const most = 4000
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	var out []string
	for _, line := range text.Wrap(text.Sanitize(s), max(p.w-indent, 4)) {
		out = append(out, strings.Repeat(" ", indent)+look.Render(line))
	}
	return out
}
