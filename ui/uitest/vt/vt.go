// Package vt is a small terminal for tests: it understands what ui/screen writes and keeps the
// picture, so that a test can ask what a person would see. A sequence that it does not know is
// remembered as a fault, not ignored.
package vt

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"hermes/ui/text"
)

// Cell is one column of the picture. A wide character's second column has an empty Text.
type Cell struct {
	Text string
	Pen  text.Pen
}

// Terminal is an io.Writer with a picture. Its methods are safe for concurrent use.
type Terminal struct {
	mu     sync.Mutex
	w, h   int
	cells  [][]Cell
	x, y   int
	pen    text.Pen
	modes  map[string]bool
	rest   string
	faults []string
	writes int
	bytes  int
	bells  int
	osc    []string
	title  string
	wait   chan struct{} // closed at the next Write
}

// New returns an empty terminal of w x h cells with its cursor shown.
func New(w, h int) *Terminal {
	t := &Terminal{modes: map[string]bool{"25": true, "7": true}, wait: make(chan struct{})}
	t.Resize(w, h)
	return t
}

// Resize empties the picture.
func (t *Terminal) Resize(w, h int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.w, t.h = w, h
	t.clear()
}

func (t *Terminal) clear() {
	t.cells = make([][]Cell, t.h)
	for y := range t.cells {
		t.cells[y] = make([]Cell, t.w)
		t.blank(y, 0, t.w)
	}
}

func (t *Terminal) blank(y, from, to int) {
	for x := from; x < to && x < t.w; x++ {
		t.cells[y][x] = Cell{Text: " ", Pen: text.Pen{Bg: t.pen.Bg}}
	}
}

// Write interprets p.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes++
	t.bytes += len(p)
	s := t.rest + string(p)
	t.rest = ""
	for s != "" {
		n := t.step(s)
		if n == 0 {
			t.rest = s
			break
		}
		s = s[n:]
	}
	close(t.wait)
	t.wait = make(chan struct{})
	return len(p), nil
}

func (t *Terminal) step(s string) int {
	switch s[0] {
	case 0x1b:
		return t.escape(s)
	case '\r':
		t.x = 0
	case '\n':
		if t.y = min(t.y+1, t.h-1); !t.modes["1049"] { // and its terminal is not raw
			t.x = 0
		}
	case 7:
		t.bells++
	default:
		c, width := text.Cluster(s)
		t.put(c, width)
		return len(c)
	}
	return 1
}

func (t *Terminal) newLine() { t.x, t.y = 0, min(t.y+1, t.h-1) }

func (t *Terminal) put(c string, width int) {
	if width == 0 {
		t.fault("a cluster without width: %q", c)
		return
	}
	if !t.modes["1049"] && t.x+width > t.w { // the shell's screen wraps
		t.newLine()
	}
	if t.y >= t.h || t.x+width > t.w {
		t.fault("text %q outside of the screen at %d,%d", c, t.x, t.y)
		return
	}
	row := t.cells[t.y]
	// What is overwritten by half disappears whole.
	if row[t.x].Text == "" && t.x > 0 {
		row[t.x-1].Text = " "
	}
	if end := t.x + width; end < t.w && row[end].Text == "" {
		row[end].Text = " "
	}
	row[t.x] = Cell{c, t.pen}
	for j := 1; j < width; j++ {
		row[t.x+j] = Cell{"", t.pen}
	}
	t.x += width
}

func (t *Terminal) escape(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '[':
		end := strings.IndexFunc(s[2:], func(r rune) bool { return r >= 0x40 && r < 0x7f })
		if end < 0 {
			return 0
		}
		t.csi(s[2:2+end], s[2+end])
		return end + 3
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == 7 {
				t.command(s[2:i])
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				t.command(s[2:i])
				return i + 2
			}
		}
		return 0
	}
	t.fault("unknown escape %q", s[:2])
	return 2
}

// command is an operating system command: the title, or something that is counted.
func (t *Terminal) command(body string) {
	if title, ok := strings.CutPrefix(body, "2;"); ok {
		t.title = title
		return
	}
	t.osc = append(t.osc, body)
}

// Title is what the window is called now.
func (t *Terminal) Title() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.title
}

func (t *Terminal) csi(params string, final byte) {
	if mode, ok := strings.CutPrefix(params, "?"); ok && (final == 'h' || final == 'l') {
		t.modes[mode] = final == 'h'
		if mode == "1049" {
			t.clear()
			t.x, t.y = 0, 0 // where the shell's line was
		}
		return
	}
	arg := func(i int) int { // 1 when it is missing
		parts := strings.Split(params, ";")
		if i >= len(parts) || parts[i] == "" {
			return 1
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			t.fault("CSI %s%c", params, final)
		}
		return n
	}
	switch final {
	case 'm':
		t.pen.Set(params)
	case 'H':
		t.y, t.x = min(arg(0), t.h)-1, min(arg(1), t.w)-1
	case 'G':
		t.x = min(arg(0), t.w) - 1
	case 'C':
		t.x = min(t.x+arg(0), t.w-1)
	case 'J':
		t.clear()
	case 'K':
		t.blank(t.y, t.x, t.w)
	case 'X':
		t.blank(t.y, t.x, t.x+arg(0))
	case 't':
		if params != "22;2" && params != "23;2" { // the stack of titles
			t.fault("unknown CSI %s%c", params, final)
		}
	default:
		t.fault("unknown CSI %s%c", params, final)
	}
}

func (t *Terminal) fault(format string, args ...any) {
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

// Rows returns a copy of the picture.
func (t *Terminal) Rows() [][]Cell {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := make([][]Cell, t.h)
	for y, row := range t.cells {
		rows[y] = append([]Cell(nil), row...)
	}
	return rows
}

// Text returns the picture without styles, lines joined by newlines, trailing blanks kept.
func (t *Terminal) Text() string {
	var b strings.Builder
	for y, row := range t.Rows() {
		if y > 0 {
			b.WriteByte('\n')
		}
		for _, c := range row {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// Cursor returns where the cursor is and whether it shows.
func (t *Terminal) Cursor() (x, y int, shown bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.x, t.y, t.modes["25"]
}

// Mode reports whether the private mode of that number is set.
func (t *Terminal) Mode(number string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.modes[number]
}

// Stats counts what arrived so far.
type Stats struct {
	Writes, Bytes, Bells int
	OSC                  []string // bodies of operating system commands
	Faults               []string // what a terminal would not have understood
}

// Stats returns what arrived so far.
func (t *Terminal) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{t.writes, t.bytes, t.bells, append([]string(nil), t.osc...), append([]string(nil), t.faults...)}
}

// Changed returns a channel that is closed at the next Write.
func (t *Terminal) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wait
}
