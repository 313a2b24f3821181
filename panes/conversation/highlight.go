package conversation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"hermes/ui/text"
)

// markHits marks every place of query in a drawn line, whatever its colours. Case does not matter.
// The line keeps its width.
func markHits(line, query string, mark lipgloss.Style) string {
	plain := ansi.Strip(line)
	places := findSpans(plain, query)
	if len(places) == 0 {
		return line
	}
	var b strings.Builder
	at, whole := 0, text.Width(line)
	for _, p := range places {
		b.WriteString(ansi.Cut(line, at, p.from))
		b.WriteString(mark.Inline(true).Render(ansi.Strip(ansi.Cut(line, p.from, p.to))))
		at = p.to
	}
	b.WriteString(ansi.Cut(line, at, whole))
	if out := b.String(); text.Width(out) == whole && ansi.Strip(out) == plain {
		return out
	}
	return line // a place inside of a character: better unmarked than broken
}

// span is a run of cells.
type span struct{ from, to int }

// findSpans returns where query stands in plain, in cells.
func findSpans(plain, query string) []span {
	if query == "" {
		return nil
	}
	var out []span
	cells, done := 0, 0
	for i := 0; i < len(plain); {
		n := foldedPrefix(plain[i:], query)
		if n == 0 {
			_, size := utf8.DecodeRuneInString(plain[i:])
			i += size
			continue
		}
		from := cells + text.Width(plain[done:i])
		cells = from + text.Width(plain[i:i+n])
		out = append(out, span{from, cells})
		i += n
		done = i
	}
	return out
}

// foldedPrefix returns how many bytes at the beginning of s are query in any case; 0 when it does
// not begin so.
func foldedPrefix(s, query string) int {
	n := 0
	for _, q := range query {
		r, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 || r != q && unicode.ToLower(r) != unicode.ToLower(q) {
			return 0
		}
		n += size
	}
	return n
}
