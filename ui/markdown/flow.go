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

// flow breaks runs into lines of at most w cells: at blanks, around CJK characters, inside a word
// that is wider than a line.
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

// addText appends text; a newline breaks the line.
func (f *flow) addText(s string, pen text.Pen) {
	for s != "" {
		switch s[0] {
		case '\n':
			f.flushWord()
			f.emitLine()
			s = s[1:]
		case ' ', '\t':
			f.flushWord()
			f.spaces, f.spPen = f.spaces+1, pen
			s = s[1:]
		default:
			s = s[f.takeWordPart(s, pen):]
		}
	}
}

// takeWordPart takes what belongs to the current word from s, or one wide character that may stand
// alone.
func (f *flow) takeWordPart(s string, pen text.Pen) int {
	n := 0
	for n < len(s) && s[n] > ' ' && s[n] < 0x7f {
		n++
	}
	if n < len(s) && s[n] >= 0x80 && n > 0 {
		n-- // the last letter may be the base of a combining mark
	}
	if n > 0 {
		f.pushWord(s[:n], n, pen)
		return n
	}
	c, cells := text.Cluster(s)
	if cells < 2 || !breaksAnywhere(c) {
		f.pushWord(c, cells, pen)
		return len(c)
	}
	if !clingsToWord(c) {
		f.flushWord()
	}
	f.pushWord(c, cells, pen)
	return len(c)
}

func (f *flow) pushWord(s string, cells int, pen text.Pen) {
	if len(f.word) > 0 && f.word[len(f.word)-1].pen != pen || f.wordW > 0 && breaksAfter(f.word) && !clingsToWord(s) {
		if breaksAfter(f.word) && !clingsToWord(s) {
			f.flushWord()
		}
	}
	f.word = append(f.word, run{s, pen})
	f.wordW += cells
}

// breaksAnywhere reports a character that lines may break around: CJK, not emoji.
func breaksAnywhere(c string) bool { return c >= "\u1100" && c < "\U0001F000" || c >= "\U00020000" }

const clingers = "，。、；：！？）」』】》〉”’…"

// clingsToWord reports punctuation that must not begin a line.
func clingsToWord(c string) bool {
	return strings.Contains(clingers, c)
}

func breaksAfter(word []run) bool {
	if len(word) == 0 {
		return false
	}
	last := word[len(word)-1].s
	return last[0] >= 0x80 && breaksAnywhere(last)
}

// flushWord moves the waiting word to the line, breaking before it when it does not fit.
func (f *flow) flushWord() {
	if len(f.word) == 0 {
		return
	}
	if f.lineW > 0 && f.lineW+f.spaces+f.wordW > f.w {
		f.emitLine()
	}
	if f.spaces > 0 && f.lineW+f.spaces+f.wordW <= f.w {
		f.writeText(text.Blank(f.spaces), f.spaces, f.spPen)
	}
	f.spaces = 0
	for _, r := range f.word {
		f.writeHard(r)
	}
	f.word, f.wordW = f.word[:0], 0
}

// writeHard writes a run, breaking anywhere when the line is full.
func (f *flow) writeHard(r run) {
	if cells := text.Width(r.s); f.lineW+cells <= f.w {
		f.writeText(r.s, cells, r.pen)
		return
	}
	for s := r.s; s != ""; {
		c, cells := text.Cluster(s)
		s = s[len(c):]
		if cells > f.w {
			c, cells = "?", 1
		}
		if f.lineW+cells > f.w {
			f.emitLine()
		}
		f.writeText(c, cells, r.pen)
	}
}

func (f *flow) writeText(s string, cells int, pen text.Pen) {
	if pen != f.pen {
		f.line, f.pen = pen.Append(f.line), pen
	}
	f.line = append(f.line, s...)
	f.lineW += cells
}

func (f *flow) emitLine() {
	if f.pen != (text.Pen{}) {
		f.line = append(f.line, reset...)
	}
	f.out = append(f.out, string(f.line))
	f.line, f.lineW, f.pen, f.spaces = f.line[:0], 0, text.Pen{}, 0
}

// finish returns the lines.
func (f *flow) finish() []string {
	f.flushWord()
	if f.lineW > 0 || len(f.out) == 0 && len(f.line) > 0 {
		f.emitLine()
	}
	return f.out
}
