package diff

import (
	"strconv"

	"github.com/charmbracelet/lipgloss"

	"hermes/ui/style"
	"hermes/ui/text"
)

type painter struct {
	s      *style.Styles
	digits int
}

func (p painter) drawUnified(lines []line, w int) []string {
	var out []string
	for _, l := range lines {
		n := l.new
		if l.kind == '-' {
			n = l.old
		}
		out = append(out, p.wrapLine(l, n, w)...)
	}
	return out
}

// wrapLine draws a line, broken where it is too long, behind its number and sign.
func (p painter) wrapLine(l line, number, w int) []string {
	if l.kind == '@' || l.kind == '\\' {
		return []string{text.Fit(p.s.DiffHunk.Render(text.Truncate(l.text, w, "")), w)}
	}
	gutter := p.digits + 3
	if w < gutter+8 {
		gutter = 2
	}
	var out []string
	for i, part := range text.Wrap(p.lineBody(l), max(1, w-gutter)) {
		head := text.Blank(gutter)
		if i == 0 {
			sign := string(l.kind) + " "
			if gutter > 2 {
				sign = p.s.Faint.Render(text.FitLeft(numberLabel(number), p.digits)) + " " + sign
			}
			head = sign
		}
		out = append(out, text.Fit(head+part, w))
	}
	if len(out) == 0 {
		out = []string{text.Blank(w)}
	}
	return out
}

func numberLabel(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// lineBody colours the text of a line and marks what changed in it.
func (p painter) lineBody(l line) string {
	base, mark := p.s.Text, p.s.Text
	switch l.kind {
	case '+':
		base, mark = p.s.DiffAdd, p.s.DiffAddMark
	case '-':
		base, mark = p.s.DiffDel, p.s.DiffDelMark
	}
	if l.from >= l.to {
		return paint(base, l.text)
	}
	return paint(base, l.text[:l.from]) + paint(mark, l.text[l.from:l.to]) + paint(base, l.text[l.to:])
}

func paint(s lipgloss.Style, t string) string {
	if t == "" {
		return ""
	}
	return s.Inline(true).Render(t)
}

// drawSplit draws old lines at the left and new ones at the right.
func (p painter) drawSplit(lines []line, w int) []string {
	half := (w - 3) / 2
	sep := " " + p.s.Faint.Render(p.gutterBar()) + " "
	var out []string
	for i := 0; i < len(lines); {
		l := lines[i]
		if l.kind == '@' || l.kind == '\\' {
			out = append(out, p.wrapLine(l, 0, w)...)
			i++
			continue
		}
		if l.kind == ' ' {
			out = append(out, p.joinHalves(p.wrapLine(l, l.old, half), p.wrapLine(l, l.new, half), half, w, sep)...)
			i++
			continue
		}
		i, out = p.drawChange(lines, i, half, w, sep, out)
	}
	return out
}

// drawChange draws a run of removed and added lines, each pair on one row.
func (p painter) drawChange(lines []line, i, half, w int, sep string, out []string) (int, []string) {
	dels := i
	for i < len(lines) && lines[i].kind == '-' {
		i++
	}
	adds := i
	for i < len(lines) && lines[i].kind == '+' {
		i++
	}
	for k := range max(adds-dels, i-adds) {
		var left, right []string
		if dels+k < adds {
			left = p.wrapLine(lines[dels+k], lines[dels+k].old, half)
		}
		if adds+k < i {
			right = p.wrapLine(lines[adds+k], lines[adds+k].new, half)
		}
		out = append(out, p.joinHalves(left, right, half, w, sep)...)
	}
	return i, out
}

func (p painter) joinHalves(left, right []string, half, w int, sep string) []string {
	out := make([]string, max(len(left), len(right)))
	for y := range out {
		l, r := text.Blank(half), ""
		if y < len(left) {
			l = left[y]
		}
		if y < len(right) {
			r = right[y]
		}
		out[y] = text.Fit(l+sep+r, w)
	}
	return out
}

func (p painter) gutterBar() string {
	if p.s.Glyphs.Bar != "" {
		return p.s.Glyphs.Bar
	}
	return "│"
}
