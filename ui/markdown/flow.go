package markdown

import (
	"strings"

	"hermes/ui/text"
)

const reset = "\x1b[m"

// run is text in one style.
type run struct {
	s   string
	pen text.Pen
}

// flow breaks runs into lines of at most w cells: at blanks, around CJK characters, inside a word that is wider than a line.
type flow struct {
	w      int
	out    []string
	line   []byte
	pen    text.Pen // in force at the end of line
	lineW  int
	word   []run
	wordW  int
	spaces int // blanks that wait for the next word
	spPen  text.Pen
}

// add appends text; a newline breaks the line.
func (f *flow) add(s string, pen text.Pen) {
	for s != "" {
		switch s[0] {
		case '\n':
			f.flush()
			f.emit()
			s = s[1:]
		case ' ', '\t':
			f.flush()
			f.spaces, f.spPen = f.spaces+1, pen
			s = s[1:]
		default:
			s = s[f.piece(s, pen):]
		}
	}
}

// piece takes what belongs to the current word from s, or one wide character that may stand alone.
func (f *flow) piece(s string, pen text.Pen) int {
	n := 0
	for n < len(s) && s[n] > ' ' && s[n] < 0x7f {
		n++
	}
	if n < len(s) && s[n] >= 0x80 && n > 0 {
		n-- // the last letter may be the base of a combining mark
	}
	if n > 0 {
		f.push(s[:n], n, pen)
		return n
	}
	c, cells := text.Cluster(s)
	if cells < 2 || !breaks(c) {
		f.push(c, cells, pen)
		return len(c)
	}
	if !clings(c) {
		f.flush()
	}
	f.push(c, cells, pen)
	return len(c)
}

func (f *flow) push(s string, cells int, pen text.Pen) {
	if len(f.word) > 0 && f.word[len(f.word)-1].pen != pen || f.wordW > 0 && breaksAfter(f.word) && !clings(s) {
		if breaksAfter(f.word) && !clings(s) {
			f.flush()
		}
	}
	f.word = append(f.word, run{s, pen})
	f.wordW += cells
}

// breaks reports a character that lines may break around: CJK, not emoji.
func breaks(c string) bool { return c >= "\u1100" && c < "\U0001F000" || c >= "\U00020000" }

const clingers = "，。、；：！？）」』】》〉”’…"

// clings reports punctuation that must not begin a line.
func clings(c string) bool {
	return strings.Contains(clingers, c)
}

func breaksAfter(word []run) bool {
	if len(word) == 0 {
		return false
	}
	last := word[len(word)-1].s
	return last[0] >= 0x80 && breaks(last)
}

// flush moves the waiting word to the line, breaking before it when it does not fit.
func (f *flow) flush() {
	if len(f.word) == 0 {
		return
	}
	if f.lineW > 0 && f.lineW+f.spaces+f.wordW > f.w {
		f.emit()
	}
	if f.spaces > 0 && f.lineW+f.spaces+f.wordW <= f.w {
		f.write(text.Blank(f.spaces), f.spaces, f.spPen)
	}
	f.spaces = 0
	for _, r := range f.word {
		f.hard(r)
	}
	f.word, f.wordW = f.word[:0], 0
}

// hard writes a run, breaking anywhere when the line is full.
func (f *flow) hard(r run) {
	if cells := text.Width(r.s); f.lineW+cells <= f.w {
		f.write(r.s, cells, r.pen)
		return
	}
	for s := r.s; s != ""; {
		c, cells := text.Cluster(s)
		s = s[len(c):]
		if cells > f.w {
			c, cells = "?", 1
		}
		if f.lineW+cells > f.w {
			f.emit()
		}
		f.write(c, cells, r.pen)
	}
}

func (f *flow) write(s string, cells int, pen text.Pen) {
	if pen != f.pen {
		f.line, f.pen = pen.Append(f.line), pen
	}
	f.line = append(f.line, s...)
	f.lineW += cells
}

func (f *flow) emit() {
	if f.pen != (text.Pen{}) {
		f.line = append(f.line, reset...)
	}
	f.out = append(f.out, string(f.line))
	f.line, f.lineW, f.pen, f.spaces = f.line[:0], 0, text.Pen{}, 0
}

// end returns the lines.
func (f *flow) end() []string {
	f.flush()
	if f.lineW > 0 || len(f.out) == 0 && len(f.line) > 0 {
		f.emit()
	}
	return f.out
}
