package memory

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark stands alone on the lines between entries.
const mark = "§"

// separator is what is written between two entries.
const separator = "\n" + mark + "\n"

// parseEntries finds the entries in a file: the text between lines that hold only the mark (and
// blanks), without the white space around it. Empty ones are none.
func parseEntries(raw []byte) []Entry {
	var out []Entry
	add := func(start, end int) {
		if e, ok := entryAt(raw, start, end); ok {
			out = append(out, e)
		}
	}
	start := 0
	for at := 0; at < len(raw); {
		next := len(raw)
		if i := bytes.IndexByte(raw[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		if line := bytes.TrimFunc(raw[at:next], isBlank); string(line) == mark { // blanks beside it cannot be seen
			add(start, at)
			start = next
		}
		at = next
	}
	add(start, len(raw))
	return out
}

// isBlank is white space, and the mark that an editor of Windows puts before a text.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

func entryAt(raw []byte, start, end int) (Entry, bool) {
	body := bytes.TrimRightFunc(raw[start:end], isBlank)
	end = start + len(body)
	body = bytes.TrimLeftFunc(body, isBlank)
	start = end - len(body)
	if len(body) == 0 {
		return Entry{}, false
	}
	return Entry{Text: lineFeeds(string(body)), Line: 1 + bytes.Count(raw[:start], []byte("\n")), start: start, end: end}, true
}

func lineFeeds(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// countCharacters counts the characters of entries and of the separators between them.
func countCharacters(entries []Entry) int {
	n := 0
	for i, e := range entries {
		if i > 0 {
			n += utf8.RuneCountInString(separator)
		}
		n += utf8.RuneCountInString(e.Text)
	}
	return n
}

// nativeLineEnds gives text the line ends of the file.
func (d Document) nativeLineEnds(text string) string {
	if i := bytes.IndexByte(d.raw, '\n'); i > 0 && d.raw[i-1] == '\r' {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// splice returns the file with the bytes from start to end replaced.
func (d Document) splice(start, end int, text string) []byte {
	out := make([]byte, 0, len(d.raw)+len(text))
	out = append(out, d.raw[:start]...)
	out = append(out, text...)
	return append(out, d.raw[end:]...)
}

// withAdded returns the file with one more entry behind the last one. What stands after that (a
// last line end) stays there.
func (d Document) withAdded(text string) []byte {
	n := len(d.Entries)
	if n > 0 {
		last := d.Entries[n-1]
		return d.splice(last.end, last.end, d.nativeLineEnds(separator+text))
	}
	// White space only, or marks with nothing between them: marks before the text are no entries,
	// so it goes behind them.
	at := len(d.raw)
	if at > 0 && d.raw[at-1] != '\n' && bytes.Contains(d.raw, []byte(mark)) {
		text = "\n" + text
	}
	return d.splice(at, at, d.nativeLineEnds(text))
}

// withReplaced returns the file with the text of entry i replaced.
func (d Document) withReplaced(i int, text string) []byte {
	return d.splice(d.Entries[i].start, d.Entries[i].end, d.nativeLineEnds(text))
}

// withRemoved returns the file without entry i and without one of the marks beside it.
func (d Document) withRemoved(i int) []byte {
	switch n := len(d.Entries); {
	case i+1 < n:
		return d.splice(d.Entries[i].start, d.Entries[i+1].start, "")
	case i > 0:
		return d.splice(d.Entries[i-1].end, d.Entries[i].end, "")
	default:
		return d.splice(d.Entries[i].start, d.Entries[i].end, "")
	}
}
