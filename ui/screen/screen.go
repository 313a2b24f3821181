// Package screen paints a composed frame on a terminal with as few bytes as it can.
//
// The contract:
//
//   - A frame is exactly h lines of w cells. Paint compares it with what was painted last and
//     writes the cells that changed, in one Write, inside a synchronized update when it is more
//     than a few cells. A frame that equals the last writes nothing.
//   - Lines equal to their predecessor are skipped by comparing strings; only changed lines are
//     taken apart into cells.
//   - Nothing runs by itself: no ticker, no goroutine. All methods belong to one goroutine.
//   - Enter and Leave switch what Hermes needs of the terminal on and off: alternate screen, mouse
//     (cell motion, SGR), bracketed paste, focus reports, no automatic wrap. Leave is right at any
//     moment.
//
// Why it is our own: bubbletea's renderer ticks, rewrites whole lines and knows no synchronized
// output. ultraviolet's parser alone takes as long for a frame of 120x40 as everything here,
// because it cannot skip lines.
package screen

import (
	"io"
	"strconv"
	"strings"

	"hermes/ui/text"
)

// Cursor is the place of the terminal's own cursor, in cells from the upper left corner. Input
// methods open there.
type Cursor struct {
	X, Y int
	Show bool
}

// Screen remembers what the terminal shows. The zero value is not usable; call New.
type Screen struct {
	out     io.Writer
	w, h    int
	rows    []row
	scratch []cell
	canvas  text.Pen // what stands for the default colours
	cleared bool     // the next frame starts from an empty terminal
	mouse   bool
	title   string // of the window

	buf    []byte
	frame  []byte // the other buffer of flush
	pen    text.Pen
	x, y   int // where the terminal's cursor is; x is -1 when unknown
	cursor Cursor
}

type row struct {
	line  string
	cells []cell
	valid bool // line says what the cells hold
}

// cell is one column. A wide character holds two: the second has width 0. unknown cells differ from
// everything.
type cell struct {
	text  string
	pen   text.Pen
	width uint8
}

const unknown = 255

// New returns a screen that writes to out. Call Resize before the first Paint.
func New(out io.Writer) *Screen { return &Screen{out: out, mouse: true, x: -1} }

// Resize sets the size in cells and forgets what is painted.
func (s *Screen) Resize(w, h int) {
	s.w, s.h = max(w, 0), max(h, 0)
	s.rows = make([]row, s.h)
	for i := range s.rows {
		s.rows[i].cells = make([]cell, s.w)
	}
	s.scratch = make([]cell, s.w)
	s.Invalidate()
}

// Invalidate makes the next Paint start from an empty terminal.
func (s *Screen) Invalidate() { s.cleared = true }

// SetCanvas sets the pen that stands for the default colours, and repaints everything at the next
// Paint.
func (s *Screen) SetCanvas(p text.Pen) {
	if p != s.canvas {
		s.canvas = p
		s.Invalidate()
	}
}

// Paint brings the terminal to show frame, its lines joined by newlines. It returns how many bytes
// it wrote. Lines that are missing are blank; what is too much is not shown.
func (s *Screen) Paint(frame string, cur Cursor) (int, error) {
	s.buf = s.buf[:0]
	if s.cleared {
		s.clear()
	}
	for y := range s.rows {
		line := ""
		if i := strings.IndexByte(frame, '\n'); i >= 0 {
			line, frame = frame[:i], frame[i+1:]
		} else {
			line, frame = frame, ""
		}
		if r := &s.rows[y]; !r.valid || r.line != line {
			s.parseLine(line)
			s.writeDiff(y)
			r.line, r.valid = line, true
		}
	}
	return s.flush(cur)
}

// clear starts from an empty terminal.
func (s *Screen) clear() {
	s.cleared, s.pen, s.x = false, text.Pen{}, -1
	s.buf = append(s.buf, "\x1b[m\x1b[2J"...)
	empty := cell{text: " ", width: 1}
	if s.canvas != (text.Pen{}) {
		empty.width = unknown
	}
	for y := range s.rows {
		s.rows[y].valid = false
		for x := range s.rows[y].cells {
			s.rows[y].cells[x] = empty
		}
	}
}

// bracketed is the size of a body that is worth a synchronized update: less is one or two words.
const bracketed = 96

const (
	syncOn     = "\x1b[?2026h"
	syncOff    = "\x1b[?2026l"
	cursorShow = "\x1b[?25h"
	cursorHide = "\x1b[?25l"
)

// flush adds the cursor and writes everything at once.
func (s *Screen) flush(cur Cursor) (int, error) {
	cur.Show = cur.Show && cur.X >= 0 && cur.X < s.w && cur.Y >= 0 && cur.Y < s.h
	if len(s.buf) == 0 && (cur == s.cursor || !cur.Show && !s.cursor.Show) {
		return 0, nil
	}
	if s.pen != (text.Pen{}) {
		s.setPen(text.Pen{})
	}
	if len(s.buf) <= bracketed {
		s.placeCursor(cur)
		s.cursor = cur
		return s.out.Write(s.buf)
	}
	s.frame = append(s.frame[:0], syncOn...)
	if s.cursor.Show {
		s.frame = append(s.frame, cursorHide...)
		s.cursor.Show = false
	}
	s.frame = append(s.frame, s.buf...)
	s.buf, s.frame = s.frame, s.buf
	s.placeCursor(cur)
	s.cursor = cur
	s.buf = append(s.buf, syncOff...)
	return s.out.Write(s.buf)
}

// placeCursor moves and shows or hides the cursor.
func (s *Screen) placeCursor(cur Cursor) {
	switch {
	case cur.Show:
		s.moveCursor(cur.X, cur.Y)
		if !s.cursor.Show {
			s.buf = append(s.buf, cursorShow...)
		}
	case s.cursor.Show:
		s.buf = append(s.buf, cursorHide...)
	}
}

// parseLine takes line apart into scratch: exactly w cells.
func (s *Screen) parseLine(line string) {
	var pen text.Pen
	x, i := 0, 0
	for i < len(line) && x < s.w {
		c := line[i]
		if c >= 0x20 && c < 0x7f && (i+1 == len(line) || line[i+1] < 0x80) {
			s.scratch[x] = cell{line[i : i+1], pen, 1}
			x, i = x+1, i+1
			continue
		}
		if c == 0x1b {
			n := text.Sequence(line[i:])
			pen.Scan(line[i : i+n])
			i += n
			continue
		}
		cluster, width := text.Cluster(line[i:])
		i += len(cluster)
		switch {
		case width == 0:
			continue // a control or a lone mark: nothing to show
		case x+width > s.w:
			s.scratch[x] = cell{" ", pen, 1}
			x++
			continue
		}
		s.scratch[x] = cell{cluster, pen, uint8(width)} //nolint:gosec // a cluster is at most a few cells wide
		for j := 1; j < width; j++ {
			s.scratch[x+j] = cell{"", pen, 0}
		}
		x += width
	}
	for ; x < s.w; x++ {
		s.scratch[x] = cell{" ", text.Pen{}, 1}
	}
}

// gap is how many equal cells between two changes are cheaper to write again than to jump over.
const gap = 6

// writeDiff writes the cells of scratch that differ from row y, and keeps them as the row.
func (s *Screen) writeDiff(y int) {
	old, now := s.rows[y].cells, s.scratch
	for x := 0; x < s.w; {
		if old[x] == now[x] {
			x++
			continue
		}
		start, end, same := x, x+1, 0
		for j := x + 1; j < s.w && same <= gap; j++ {
			if old[j] == now[j] {
				same++
			} else {
				same, end = 0, j+1
			}
		}
		for start > 0 && now[start].width == 0 {
			start--
		}
		for end < s.w && now[end].width == 0 {
			end++
		}
		s.writeRun(start, end, y, now)
		x = end
	}
	s.rows[y].cells, s.scratch = now, old
}

// writeRun writes the cells from start to end of row y.
func (s *Screen) writeRun(start, end, y int, cells []cell) {
	for x := start; x < end; {
		c := cells[x]
		pen := s.effectivePen(c.pen)
		s.moveCursor(x, y)
		if n := countBlanks(cells[x:end], c); n >= 8 && pen.Bg == 0 && pen.Attr&(text.Reverse|text.Underline|text.Strike) == 0 {
			s.eraseCells(n, x+n == s.w)
			x += n
			continue
		}
		s.setPen(pen)
		width := max(int(c.width), 1)
		if hasUnsureWidth(c.text) {
			// The terminal may think of another width: clean both cells first and trust no position
			// after it.
			s.buf = append(s.buf, "  "[:min(width, 2)]...)
			s.x = -1
			s.moveCursor(x, y)
			s.buf = append(s.buf, c.text...)
			s.x = -1
		} else {
			s.buf = append(s.buf, c.text...)
			s.x += width
		}
		if s.x >= s.w {
			s.x = -1 // behind the last column terminals differ
		}
		x += width
	}
}

// countBlanks counts the blanks at the start of cells that look like c.
func countBlanks(cells []cell, c cell) int {
	if c.text != " " {
		return 0
	}
	n := 0
	for n < len(cells) && cells[n] == c {
		n++
	}
	return n
}

// eraseCells blanks n cells in the default colours.
func (s *Screen) eraseCells(n int, toEnd bool) {
	s.setPen(text.Pen{})
	if toEnd {
		s.buf = append(s.buf, "\x1b[K"...)
		return
	}
	s.buf = strconv.AppendInt(append(s.buf, "\x1b["...), int64(n), 10)
	s.buf = append(s.buf, 'X')
}

// hasUnsureWidth reports clusters whose width terminals disagree about: everything of more than one
// character, and emoji.
func hasUnsureWidth(cluster string) bool {
	if len(cluster) < 4 {
		if len(cluster) <= 1 {
			return false
		}
		// One character of two or three bytes is safe, more is not.
		for i, r := range cluster {
			if i > 0 || r >= 0x2600 && r < 0x27c0 {
				return true
			}
		}
		return false
	}
	return true
}

func (s *Screen) effectivePen(p text.Pen) text.Pen {
	if p.Fg == 0 {
		p.Fg = s.canvas.Fg
	}
	if p.Bg == 0 {
		p.Bg = s.canvas.Bg
	}
	return p
}

func (s *Screen) setPen(p text.Pen) {
	if p != s.pen {
		s.buf = p.Append(s.buf)
		s.pen = p
	}
}

// moveCursor brings the cursor to x, y by the shortest way that every terminal knows.
func (s *Screen) moveCursor(x, y int) {
	switch {
	case s.x == x && s.y == y:
		return
	case s.x >= 0 && s.y == y && x > s.x:
		s.buf = append(s.buf, "\x1b["...)
		if n := x - s.x; n > 1 {
			s.buf = strconv.AppendInt(s.buf, int64(n), 10)
		}
		s.buf = append(s.buf, 'C')
	default:
		s.buf = strconv.AppendInt(append(s.buf, "\x1b["...), int64(y+1), 10)
		s.buf = strconv.AppendInt(append(s.buf, ';'), int64(x+1), 10)
		s.buf = append(s.buf, 'H')
	}
	s.x, s.y = x, y
}
