package markdown

import (
	"strings"

	"hermes/ui/text"
)

// code draws a code block behind a gutter. Long lines are broken, not lost.
func (d *draw) code(src, lang string, w int) []string {
	gutter, inner := d.bar+" ", w-2
	if inner < minWidth {
		gutter, inner = "", w
	}
	gutter = styled(gutter, d.pens.faint)
	hl := highlighter{lang: languageOf(lang), pens: &d.pens}
	var out []string
	for _, line := range strings.Split(strings.TrimSuffix(text.ExpandTabs(src, TabWidth), "\n"), "\n") {
		c := coder{w: inner}
		for _, r := range hl.line(line) {
			c.add(r)
		}
		for _, l := range c.end() {
			out = append(out, gutter+l)
		}
	}
	return out
}

// coder lays out code: every blank counts, lines break at the edge.
type coder struct {
	w, used int
	out     []string
	line    []byte
	pen     text.Pen
}

func (c *coder) add(r run) {
	if r.pen != c.pen {
		c.line, c.pen = r.pen.Append(c.line), r.pen
	}
	if n := text.Width(r.s); c.used+n <= c.w {
		c.line, c.used = append(c.line, r.s...), c.used+n
		return
	}
	for s := r.s; s != ""; {
		g, cells := text.Cluster(s)
		s = s[len(g):]
		if cells > c.w {
			g, cells = "?", 1
		}
		if c.used+cells > c.w {
			c.emit()
			c.line, c.pen = r.pen.Append(c.line), r.pen
		}
		c.line, c.used = append(c.line, g...), c.used+cells
	}
}

func (c *coder) emit() {
	if c.pen != (text.Pen{}) {
		c.line = append(c.line, reset...)
	}
	c.out = append(c.out, string(c.line))
	c.line, c.used, c.pen = c.line[:0], 0, text.Pen{}
}

func (c *coder) end() []string {
	if c.used > 0 || len(c.out) == 0 {
		c.emit()
	}
	return c.out
}
