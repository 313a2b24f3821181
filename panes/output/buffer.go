package output

import (
	"bytes"
	"strings"

	"hermes/ui/text"
)

// Bounds of one call's buffer: what a person can scroll back to. The store keeps the result, a
// spill file the rest.
const (
	maxLines   = 5_000
	maxBytes   = 2 << 20
	maxPartial = 16 << 10 // a line longer than this is broken, so that a flood without newlines stays bounded
	tabWidth   = 8
)

// buffer holds the newest lines of a stream of raw bytes, sanitised line by line. Each line stands
// for itself: a colour that began on an earlier line is repeated at its start, so that scrolling
// changes no colours. Lines have absolute numbers, so that a scroll position survives the loss of
// old lines.
type buffer struct {
	lines   []string
	first   int    // absolute number of lines[0]
	size    int    // bytes in lines
	partial []byte // raw bytes of the line that has not ended
	pen     text.Pen
	shown   string // partial, sanitised; valid unless stale
	stale   bool
}

// writeRaw appends raw bytes of any shape: split runes, NULs and escape sequences included.
func (b *buffer) writeRaw(data []byte) {
	for len(data) > 0 {
		line, rest, found := bytes.Cut(data, []byte{'\n'})
		if room := maxPartial - len(b.partial); len(line) > room {
			line, rest, found = data[:room], data[room:], true
		}
		b.partial = append(b.partial, line...)
		if found {
			b.endLine()
		}
		data = rest
	}
	b.stale = true
	b.dropOldest()
}

func (b *buffer) endLine() {
	s, pen := b.withOpenStyle(cleanLine(b.partial))
	b.pen = pen
	b.lines = append(b.lines, s)
	b.size += len(s)
	b.partial = b.partial[:0]
}

// withOpenStyle gives a line the style that was open before it, and closes what is open at its end.
func (b *buffer) withOpenStyle(s string) (string, text.Pen) {
	pen := b.pen
	if strings.IndexByte(s, '\x1b') < 0 && pen == (text.Pen{}) {
		return s, pen
	}
	pen.Scan(s)
	if b.pen != (text.Pen{}) {
		s = b.pen.SGR() + s
	}
	if pen != (text.Pen{}) {
		s += text.Pen{}.SGR()
	}
	return s, pen
}

// dropOldest drops the oldest lines in one go once a quarter too many are there: amortised constant
// time a line.
func (b *buffer) dropOldest() {
	if len(b.lines) <= maxLines+maxLines/4 && b.size <= maxBytes+maxBytes/4 {
		return
	}
	drop, size := 0, b.size
	for drop < len(b.lines) && (len(b.lines)-drop > maxLines || size > maxBytes) {
		size -= len(b.lines[drop])
		drop++
	}
	b.lines = append([]string(nil), b.lines[drop:]...)
	b.first += drop
	b.size = size
}

// endNumber is the absolute number behind the last line.
func (b *buffer) endNumber() int {
	n := b.first + len(b.lines)
	if len(b.partial) > 0 {
		n++
	}
	return n
}

// line returns the line with an absolute number between first and end.
func (b *buffer) line(n int) string {
	if i := n - b.first; i < len(b.lines) {
		return b.lines[i]
	}
	if b.stale {
		b.shown, _ = b.withOpenStyle(cleanLine(b.partial))
		b.stale = false
	}
	return b.shown
}

// text returns everything that is kept, without colours.
func (b *buffer) text() string {
	var out strings.Builder
	for n := b.first; n < b.endNumber(); n++ {
		out.WriteString(text.Sanitize(b.line(n)))
		out.WriteByte('\n')
	}
	return out.String()
}

// cleanLine makes one raw line safe to show. A carriage return starts the line again, as progress
// bars do: what was written last stays.
func cleanLine(raw []byte) string {
	raw = bytes.TrimRight(raw, "\r")
	if i := bytes.LastIndexByte(raw, '\r'); i >= 0 {
		raw = raw[i+1:]
	}
	return text.ExpandTabs(text.SanitizeKeepSGR(strings.ToValidUTF8(string(raw), "\uFFFD")), tabWidth)
}
