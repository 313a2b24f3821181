package highlight

import "hermes/ui/text"

// Layout puts the runs of one line of code on lines of at most w cells: every blank counts, and
// what is too long breaks at the edge. There is one line at least; each closes its colours.
func Layout(runs []Run, w int) []string {
	c := coder{w: max(w, 1)}
	for _, r := range runs {
		c.addRun(r)
	}
	return c.finish()
}

// Band fills a line up to w cells with the background of pen, when it has one.
func Band(line string, w int, pen text.Pen) string {
	room := w - text.Width(line)
	if room <= 0 || pen.Bg == 0 {
		return line
	}
	fill := text.Pen{Bg: pen.Bg}
	return line + fill.SGR() + text.Blank(room) + text.Reset
}

// Continued is what stands before a line of code that is broken.
func Continued(ascii bool) string {
	if ascii {
		return ">"
	}
	return "↳"
}

// coder lays out code: every blank counts, lines break at the edge.
type coder struct {
	w, used int
	out     []string
	line    []byte
	pen     text.Pen
}

func (c *coder) addRun(r Run) {
	if r.Pen != c.pen {
		c.line, c.pen = r.Pen.Append(c.line), r.Pen
	}
	if n := text.Width(r.Text); c.used+n <= c.w {
		c.line, c.used = append(c.line, r.Text...), c.used+n
		return
	}
	for s := r.Text; s != ""; {
		g, cells := text.Cluster(s)
		s = s[len(g):]
		if cells > c.w {
			g, cells = "?", 1
		}
		if c.used+cells > c.w {
			c.emitLine()
			if r.Pen != c.pen {
				c.line, c.pen = r.Pen.Append(c.line), r.Pen
			}
		}
		c.line, c.used = append(c.line, g...), c.used+cells
	}
}

func (c *coder) emitLine() {
	if c.pen != (text.Pen{}) {
		c.line = append(c.line, text.Reset...)
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
