package emulator

import (
	"image/color"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"hermes/ui/style"
	"hermes/ui/text"
)

// Rows draws the screen as exactly h lines of exactly w cells for a terminal with so many colours;
// back is how many lines of the history are to be seen above the first one.
func (t *Terminal) Rows(level style.Level, back int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	past := t.historyLength()
	back = min(max(back, 0), past)
	rows := make([]string, t.h)
	for y := range rows {
		at := y - back
		cell := func(x int) *uv.Cell { return t.vt.CellAt(x, at) }
		if at < 0 {
			cell = func(x int) *uv.Cell { return t.vt.ScrollbackCellAt(x, past+at) }
		}
		rows[y] = t.drawRow(cell, level)
	}
	return rows
}

// drawRow draws one line. What is not there, or not as wide as its cell, is blank: the columns
// behind it keep their place.
func (t *Terminal) drawRow(cell func(x int) *uv.Cell, level style.Level) string {
	row, ascii := t.drawCells(cell, level, 4)
	for most := 3; !ascii && text.Width(row) != t.w; most -= 2 { // neighbours that only together are one character
		row, ascii = t.drawCells(cell, level, most)
	}
	return row
}

// drawCells draws one line, with cells of so many bytes at most, or any at 4; ascii says that it is
// as wide as it has cells.
func (t *Terminal) drawCells(cell func(x int) *uv.Cell, level style.Level, most int) (row string, ascii bool) {
	b := make([]byte, 0, t.w+32)
	pen, ascii := text.Pen{}, true
	for x := 0; x < t.w; {
		c := cell(x)
		p, s, w := text.Pen{}, " ", 1
		if c != nil {
			p = t.penOf(&c.Style, level)
			s, w = cellContent(c, t.w-x)
		}
		if most < 4 && len(s) > most {
			s = blanks[:w]
		}
		if p != pen {
			b, pen = p.Append(b), p
		}
		b = append(b, s...)
		ascii = ascii && len(s) == w
		x += w
	}
	if pen != (text.Pen{}) {
		b = text.Pen{}.Append(b)
	}
	return string(b), ascii
}

const blanks = "  "

// cellContent is what a cell shows, and its width in cells.
func cellContent(c *uv.Cell, room int) (string, int) {
	w := min(max(c.Width, 1), 2, room)
	switch {
	case c.Content == "" || c.Style.Attrs&uv.AttrConceal != 0:
		return blanks[:w], w
	case len(c.Content) == 1 && c.Content[0] >= ' ' && c.Content[0] < 0x7f:
		return c.Content, 1
	case !utf8.ValidString(c.Content):
		return blanks[:w], w
	}
	s := text.Sanitize(c.Content)
	if text.Width(s) != w {
		return blanks[:w], w
	}
	return s, w
}

var attrs = [...]struct {
	theirs uint8
	ours   text.Attr
}{{uv.AttrBold, text.Bold}, {uv.AttrFaint, text.Faint}, {uv.AttrItalic, text.Italic}, {uv.AttrReverse, text.Reverse}, {uv.AttrStrikethrough, text.Strike}}

// penOf translates a style to what the screen can show.
func (t *Terminal) penOf(s *uv.Style, level style.Level) text.Pen {
	p := text.Pen{Fg: t.colourOf(s.Fg, level), Bg: t.colourOf(s.Bg, level)}
	for _, a := range attrs {
		if s.Attrs&a.theirs != 0 {
			p.Attr |= a.ours
		}
	}
	if s.Underline != 0 {
		p.Attr |= text.Underline
	}
	return p
}

// shade is a colour in the two smaller palettes.
type shade struct{ indexed, basic uint8 }

// maxShades bounds what is remembered of colours: a hostile program has sixteen million.
const maxShades = 4096

func (t *Terminal) colourOf(c color.Color, level style.Level) text.Colour {
	if c == nil || level == style.None {
		return 0
	}
	switch c := c.(type) {
	case ansi.BasicColor:
		return text.Indexed(uint8(c))
	case ansi.IndexedColor:
		if level >= style.Indexed || c < 16 {
			return text.Indexed(uint8(c))
		}
	}
	r, g, b, _ := c.RGBA()
	key := [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
	if level == style.True {
		return text.RGB(key[0], key[1], key[2])
	}
	near, ok := t.shades[key]
	if !ok {
		near = shade{uint8(ansi.Convert256(c)), uint8(ansi.Convert16(c))}
		if len(t.shades) >= maxShades {
			clear(t.shades)
		}
		t.shades[key] = near
	}
	if level == style.Indexed {
		return text.Indexed(near.indexed)
	}
	return text.Indexed(near.basic)
}
