package markdown

import (
	"strings"

	"hermes/ui/text"
)

// drawCode draws a code block behind a gutter. Long lines are broken, not lost.
func (d *draw) drawCode(src, lang string, w int) []string {
	gutter, inner := d.bar+" ", w-2
	if inner < minWidth {
		gutter, inner = "", w
	}
	gutter = withPen(gutter, d.pens.faint)
	src = strings.TrimSuffix(text.ExpandTabs(src, TabWidth), "\n")
	var out []string
	for _, line := range d.highlight.highlightLines(src, lang) {
		c := coder{w: inner}
		for _, r := range line {
			c.addRun(r)
		}
		for _, l := range c.finish() {
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

func (c *coder) addRun(r run) {
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
			c.emitLine()
			c.line, c.pen = r.pen.Append(c.line), r.pen
		}
		c.line, c.used = append(c.line, g...), c.used+cells
	}
}

func (c *coder) emitLine() {
	if c.pen != (text.Pen{}) {
		c.line = append(c.line, reset...)
	}
	c.out = append(c.out, string(c.line))
	c.line, c.used, c.pen = c.line[:0], 0, text.Pen{}
}

func (c *coder) finish() []string {
	if c.used > 0 || len(c.out) == 0 {
		c.emitLine()
	}
	return c.out
}
