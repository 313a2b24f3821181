package session

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes/core/secret"
)

const (
	snippetBefore = 60 // runes before the first match
	snippetRunes  = 160
)

// snippetOf returns one line of text around the first place where a term occurs, and the byte
// ranges in it of all occurrences. Escape sequences and line ends are gone from it.
func snippetOf(text string, terms []string) (line string, marks [][2]int) {
	text = oneLine(stripControls(secret.Clean(text)))
	found := findOccurrences(text, terms)
	start := 0
	if len(found) > 0 {
		start = wordsBefore(text, found[0][0], snippetBefore)
	}
	end := forwardRunes(text, start, snippetRunes)
	lead := ""
	if start > 0 {
		lead = "…"
	}
	line = lead + text[start:end]
	if end < len(text) {
		line += "…"
	}
	for _, m := range found {
		if m[0] >= start && m[1] <= end {
			marks = append(marks, [2]int{m[0] - start + len(lead), m[1] - start + len(lead)})
		}
	}
	return line, marks
}

// wordsBefore returns the position n runes before at, moved on to the beginning of a word if there
// is one.
func wordsBefore(text string, at, n int) int {
	start := at
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	if start == 0 {
		return 0
	}
	if i := strings.IndexByte(text[start:at], ' '); i >= 0 {
		return start + i + 1
	}
	return start
}

func forwardRunes(text string, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// findOccurrences returns where terms occur in text, whatever their case, in order and without
// overlaps.
func findOccurrences(text string, terms []string) [][2]int {
	folded, at := foldCase(text)
	var out [][2]int
	for _, term := range terms {
		want, _ := foldCase(oneLine(strings.TrimRight(term, "*")))
		if want == "" {
			continue
		}
		for from := 0; ; {
			i := strings.Index(folded[from:], want)
			if i < 0 {
				break
			}
			i += from
			from = i + len(want)
			out = append(out, [2]int{at[i], at[from]})
		}
	}
	slices.SortFunc(out, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	return withoutOverlaps(out)
}

func withoutOverlaps(in [][2]int) [][2]int {
	out := in[:0]
	for _, m := range in {
		if n := len(out); n > 0 && m[0] < out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], m[1])
			continue
		}
		out = append(out, m)
	}
	return out
}

// foldCase lowers text. at maps each byte position of the result, its end included, to the position
// in text: lower case can be longer or shorter.
func foldCase(text string) (folded string, at []int) {
	var b strings.Builder
	b.Grow(len(text))
	at = make([]int, 0, len(text)+1)
	for i, r := range text {
		n := b.Len()
		b.WriteRune(unicode.ToLower(r))
		for ; n < b.Len(); n++ {
			at = append(at, i)
		}
	}
	return b.String(), append(at, len(text))
}
