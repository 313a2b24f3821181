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

func (p painter) unified(lines []line, w int) []string {
	var out []string
	for _, l := range lines {
		n := l.new
		if l.kind == '-' {
			n = l.old
		}
		out = append(out, p.wrap(l, n, w)...)
	}
	return out
}

// wrap draws a line, broken where it is too long, behind its number and sign.
func (p painter) wrap(l line, number, w int) []string {
	if l.kind == '@' || l.kind == '\\' {
		return []string{text.Fit(p.s.DiffHunk.Render(text.Truncate(l.text, w, "")), w)}
	}
	gutter := p.digits + 3
	if w < gutter+8 {
		gutter = 2
	}
	var out []string
	for i, part := range text.Wrap(p.body(l), max(1, w-gutter)) {
		head := text.Blank(gutter)
		if i == 0 {
			sign := string(l.kind) + " "
			if gutter > 2 {
				sign = p.s.Faint.Render(text.FitLeft(label(number), p.digits)) + " " + sign
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

func label(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// body colours the text of a line and marks what changed in it.
func (p painter) body(l line) string {
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

// split draws old lines at the left and new ones at the right.
func (p painter) split(lines []line, w int) []string {
	half := (w - 3) / 2
	sep := " " + p.s.Faint.Render(p.bar()) + " "
	var out []string
	for i := 0; i < len(lines); {
		l := lines[i]
		if l.kind == '@' || l.kind == '\\' {
			out = append(out, p.wrap(l, 0, w)...)
			i++
			continue
		}
		if l.kind == ' ' {
			out = append(out, p.beside(p.wrap(l, l.old, half), p.wrap(l, l.new, half), half, w, sep)...)
			i++
			continue
		}
		i, out = p.change(lines, i, half, w, sep, out)
	}
	return out
}

// change draws a run of removed and added lines, each pair on one row.
func (p painter) change(lines []line, i, half, w int, sep string, out []string) (int, []string) {
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
			left = p.wrap(lines[dels+k], lines[dels+k].old, half)
		}
		if adds+k < i {
			right = p.wrap(lines[adds+k], lines[adds+k].new, half)
		}
		out = append(out, p.beside(left, right, half, w, sep)...)
	}
	return i, out
}

func (p painter) beside(left, right []string, half, w int, sep string) []string {
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

func (p painter) bar() string {
	if p.s.Glyphs.Bar != "" {
		return p.s.Glyphs.Bar
	}
	return "│"
}
