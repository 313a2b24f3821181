package compose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes/ui/text"
)

// Buffer is the text being written and the place of the cursor. The cursor always stands between
// whole characters (grapheme clusters), so that nobody deletes half an emoji.
type Buffer struct {
	s    string
	at   int // byte offset of the cursor
	goal int // column that up and down aim for; -1 when none
}

// String is the text.
func (b *Buffer) String() string { return b.s }

// Set replaces the text and puts the cursor at its end.
func (b *Buffer) Set(s string) { b.s, b.at, b.goal = s, len(s), -1 }

// Insert types s at the cursor.
func (b *Buffer) Insert(s string) { b.Replace(b.at, b.at, s) }

// Replace puts s in place of the bytes from i to j, and the cursor behind it.
func (b *Buffer) Replace(i, j int, s string) {
	b.s = b.s[:i] + s + b.s[j:]
	b.at, b.goal = i+len(s), -1
	b.snapCursor()
}

// snapCursor moves the cursor behind a character that what was typed became a part of (an accent, a
// joined emoji).
func (b *Buffer) snapCursor() {
	from := b.lineStart(b.at)
	for i := from; i < len(b.s); {
		c, _ := text.Cluster(b.s[i:])
		if i+len(c) >= b.at || c == "" {
			if i < b.at {
				b.at = i + len(c)
			}
			return
		}
		i += len(c)
	}
}

func (b *Buffer) lineStart(i int) int { return strings.LastIndexByte(b.s[:i], '\n') + 1 }

func (b *Buffer) lineEnd(i int) int {
	if n := strings.IndexByte(b.s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(b.s)
}

// characterBefore returns where the character left of i begins.
func (b *Buffer) characterBefore(i int) int {
	if i == 0 {
		return 0
	}
	if b.s[i-1] == '\n' {
		return i - 1
	}
	last := b.lineStart(i)
	for k := last; k < i; {
		last = k
		c, _ := text.Cluster(b.s[k:])
		k += max(1, len(c))
	}
	return last
}

func (b *Buffer) characterAfter(i int) int {
	c, _ := text.Cluster(b.s[i:])
	return i + len(c)
}

// Left moves one character back.
func (b *Buffer) Left() { b.at, b.goal = b.characterBefore(b.at), -1 }

// Right moves one character on.
func (b *Buffer) Right() { b.at, b.goal = b.characterAfter(b.at), -1 }

// Home goes to the beginning of the line.
func (b *Buffer) Home() { b.at, b.goal = b.lineStart(b.at), -1 }

// End goes to the end of the line.
func (b *Buffer) End() { b.at, b.goal = b.lineEnd(b.at), -1 }

// Backspace removes the character before the cursor.
func (b *Buffer) Backspace() { b.Replace(b.characterBefore(b.at), b.at, "") }

// Delete removes the character under the cursor.
func (b *Buffer) Delete() { b.Replace(b.at, b.characterAfter(b.at), "") }

// WordLeft goes to the beginning of the word before the cursor.
func (b *Buffer) WordLeft() {
	i := len(strings.TrimRightFunc(b.s[:b.at], notWord))
	b.at, b.goal = len(strings.TrimRightFunc(b.s[:i], isWord)), -1
	b.snapCursor()
}

// WordRight goes to the end of the word after the cursor.
func (b *Buffer) WordRight() {
	rest := strings.TrimLeftFunc(b.s[b.at:], notWord)
	b.at, b.goal = len(b.s)-len(strings.TrimLeftFunc(rest, isWord)), -1
	b.snapCursor()
}

// KillWord removes the word before the cursor.
func (b *Buffer) KillWord() {
	i := b.at
	for i > 0 && (b.s[i-1] == ' ' || b.s[i-1] == '\n') {
		i--
	}
	for i > 0 && b.s[i-1] != ' ' && b.s[i-1] != '\n' {
		i--
	}
	b.Replace(i, b.at, "")
}

// KillToEnd removes the rest of the line, or the line break at its end.
func (b *Buffer) KillToEnd() {
	if end := b.lineEnd(b.at); end > b.at {
		b.Replace(b.at, end, "")
		return
	}
	b.Delete()
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_'
}
func notWord(r rune) bool { return !isWord(r) }

// row is one row on the screen: bytes from and to of the text. More says that the line goes on in
// the next row.
type row struct {
	from, to int
	more     bool
}

// breakRows breaks the text into rows of at most w cells, at any character: what is typed stays
// where it is.
func (b *Buffer) breakRows(w int) []row {
	w = max(w, 1)
	var out []row
	from, cells := 0, 0
	for i := 0; i < len(b.s); {
		if b.s[i] == '\n' {
			out = append(out, row{from, i, false})
			i++
			from, cells = i, 0
			continue
		}
		c, n := text.Cluster(b.s[i:])
		if cells+n > w && i > from {
			out = append(out, row{from, i, true})
			from, cells = i, 0
		}
		cells += n
		i += max(1, len(c))
	}
	out = append(out, row{from, len(b.s), false})
	if cells >= w && b.at == len(b.s) { // room for the cursor behind a full row
		out[len(out)-1].more = true
		out = append(out, row{len(b.s), len(b.s), false})
	}
	return out
}

// cursorPlace returns the row and column of the cursor.
func (b *Buffer) cursorPlace(rows []row) (y, x int) {
	for i, r := range rows {
		if b.at < r.to || b.at == r.to && !r.more {
			return i, text.Width(b.s[r.from:max(r.from, b.at)])
		}
	}
	return len(rows) - 1, 0
}

// Vertical moves the cursor by rows of width w and reports whether there was a row to go to.
func (b *Buffer) Vertical(delta, w int) bool {
	rows := b.breakRows(w)
	y, x := b.cursorPlace(rows)
	if b.goal < 0 {
		b.goal = x
	}
	goal := b.goal
	if y += delta; y < 0 || y >= len(rows) {
		return false
	}
	r := rows[y]
	i, cells := r.from, 0
	for i < r.to {
		c, n := text.Cluster(b.s[i:])
		if cells+n > goal || r.more && i+len(c) >= r.to {
			break
		}
		cells += n
		i += len(c)
	}
	b.at, b.goal = i, goal
	return true
}

// cleanInput takes what a terminal or a paste brought and keeps what may stand in a prompt.
func cleanInput(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return text.ExpandTabs(text.Sanitize(s), 4)
}
