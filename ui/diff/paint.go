package diff

import (
	"strconv"
	"strings"

	"hermes/ui/highlight"
	"hermes/ui/style"
	"hermes/ui/text"
)

// painter draws lines: the code in the colours of its language, on bands as wide as the place.
type painter struct {
	s      *style.Styles
	digits int

	text, add, del, addMark, delMark text.Pen
}

func newPainter(s *style.Styles, digits int) painter {
	return painter{
		s: s, digits: digits, text: style.PenOf(s.Text), add: style.PenOf(s.DiffAdd), del: style.PenOf(s.DiffDel),
		addMark: style.PenOf(s.DiffAddMark), delMark: style.PenOf(s.DiffDelMark),
	}
}

// colour gives the lines of each hunk the colours of their language: old and new side are a text
// each, because a lexer reads on from line to line.
func (p painter) colour(lines []line, language string) {
	if language == "" || p.s.Plain || p.s.Chroma == "" {
		return
	}
	h := highlight.New(p.s, text.Pen{})
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && lines[to].kind != '@' {
			to++
		}
		for _, other := range []byte{'+', '-'} {
			colourSide(h, lines[from:to], other, language)
		}
		from = to
	}
}

// colourSide colours the lines of a hunk without those of the other kind.
func colourSide(h *highlight.Highlighter, lines []line, other byte, language string) {
	var src []string
	var at []int
	for i, l := range lines {
		if l.kind == ' ' || l.kind == '+' && other == '-' || l.kind == '-' && other == '+' {
			src, at = append(src, l.text), append(at, i)
		}
	}
	if len(src) == 0 {
		return
	}
	for i, runs := range h.Lines(strings.Join(src, "\n"), language) {
		lines[at[i]].runs = runs
	}
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
	band, bare := p.band(l.kind)
	for i, part := range highlight.Layout(p.lineRuns(l), max(1, w-gutter)) {
		head := p.continued(gutter)
		if i == 0 {
			sign := string(l.kind) + " "
			if gutter > 2 {
				sign = text.FitLeft(numberLabel(number), p.digits) + " " + sign
			}
			head = sign
		}
		if bare {
			out = append(out, text.Fit(p.s.Faint.Render(head)+part, w))
			continue
		}
		if band != (text.Pen{}) {
			head = band.SGR() + head + text.Reset
		}
		out = append(out, text.Fit(highlight.Band(head+part, w, band), w))
	}
	return out
}

// continued stands before what of a long line goes on below.
func (p painter) continued(gutter int) string {
	return text.FitLeft(highlight.Continued(p.s.ASCII)+" ", gutter)
}

// band is how a whole line looks; bare, that it has no look of its own.
func (p painter) band(kind byte) (pen text.Pen, bare bool) {
	switch kind {
	case '+':
		return p.add, false
	case '-':
		return p.del, false
	default:
		return p.text, true
	}
}

func numberLabel(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// lineRuns are the text of a line in the colours of its language, over its band, with what changed
// in it marked.
func (p painter) lineRuns(l line) []highlight.Run {
	base, _ := p.band(l.kind)
	mark := map[byte]text.Pen{'+': p.addMark, '-': p.delMark}[l.kind]
	runs := l.runs
	if runs == nil {
		runs = []highlight.Run{{Text: l.text}}
	}
	var out []highlight.Run
	at := 0
	for _, r := range runs {
		end := at + len(r.Text)
		from, to := min(max(l.from, at), end), min(max(l.to, at), end)
		for _, part := range [...]struct {
			text string
			over text.Pen
		}{{r.Text[:from-at], base}, {r.Text[from-at : to-at], mark}, {r.Text[to-at:], base}} {
			if part.text != "" {
				out = append(out, highlight.Run{Text: part.text, Pen: style.Over(part.over, r.Pen)})
			}
		}
		at = end
	}
	return out
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
