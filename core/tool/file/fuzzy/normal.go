package fuzzy

import (
	"strings"
	"unicode/utf8"
)

// normal is a text in a simpler form, with the way back: byte i of text came from byte at[i] of the
// original. at has one more entry than text: the end.
type normal struct {
	text string
	at   []int
}

type builder struct {
	b  strings.Builder
	at []int
}

func (n *builder) addMapped(s string, from int) {
	for range len(s) {
		n.at = append(n.at, from)
	}
	n.b.WriteString(s)
}

func (n *builder) build(end int) normal { return normal{n.b.String(), append(n.at, end)} }

// collapseBlanks makes every run of blanks and tabs one blank.
func collapseBlanks(s string) normal {
	var n builder
	for i := 0; i < len(s); i++ {
		if s[i] != ' ' && s[i] != '\t' {
			n.addMapped(s[i:i+1], i)
			continue
		}
		n.addMapped(" ", i)
		for i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\t') {
			i++
		}
	}
	return n.build(len(s))
}

// toASCII writes typographic characters as people type them, and a long dash as one hyphen.
func toASCII(s string) normal { return asTyped(s, "-") }

// asciiLong is toASCII with a long dash as two hyphens.
func asciiLong(s string) normal { return asTyped(s, "--") }

func asTyped(s, dash string) normal {
	var n builder
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		if t, ok := plainRune(r, dash); ok {
			n.addMapped(t, i)
		} else {
			for j := range w {
				n.addMapped(s[i+j:i+j+1], i+j)
			}
		}
		i += w
	}
	return n.build(len(s))
}

func plainRune(r rune, dash string) (string, bool) {
	switch r {
	case '\u2014', '\u2015':
		return dash, true
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032':
		return "'", true
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033':
		return `"`, true
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2212':
		return "-", true
	case '\u2026':
		return "...", true
	case '\u00a0', '\u2002', '\u2003', '\u2007', '\u2009', '\u200a', '\u202f', '\u3000':
		return " ", true
	case '\u200b', '\ufeff', '\u00ad':
		return "", true
	}
	return "", false
}

// mappedSpans finds the quote in the simpler form and maps the place back. What quote and
// replacement share at both ends keeps the bytes of the text, so that a change of one word does not
// rewrite the quotes and blanks around it.
func (q *query) mappedSpans(norm func(string) normal) []Span {
	content, old, text := norm(q.content), norm(q.old), norm(q.new)
	if old.text == "" {
		return nil
	}
	head := commonPrefix(old.text, text.text)
	tail := commonSuffix(old.text[head:], text.text[head:])
	var spans []Span
	for _, s := range findOccurrences(content.text, old.text, "") {
		start, end := content.at[s.Start], content.at[s.End]
		if !content.isWholeAt(s.Start) || !content.isWholeAt(s.End) {
			continue
		}
		middle := q.new[text.at[head]:text.at[len(text.text)-tail]]
		if middle != "" {
			pairs := pairSpellings(q.old, old, q.content, content.tailFrom(s.Start))
			middle = strings.NewReplacer(pairs...).Replace(middle)
		}
		with := q.content[start:content.at[s.Start+head]] + middle + q.content[content.at[s.End-tail]:end]
		spans = append(spans, Span{start, end, with})
	}
	return spans
}

// tailFrom is the rest of n behind its byte i.
func (n normal) tailFrom(i int) normal { return normal{n.text[i:], n.at[i:]} }

// pairSpellings pairs typographic characters of the quote with what the file has at the same
// places: a model that made quotes curly, or a dash long, did so in the replacement too.
func pairSpellings(quote string, q normal, file string, f normal) (pairs []string) {
	for i := 0; i < len(q.text); {
		end := i + 1
		for end < len(q.text) && q.at[end] == q.at[i] {
			end++
		}
		wrote, has := quote[q.at[i]:q.at[end]], file[f.at[i]:f.at[end]]
		r, _ := utf8.DecodeRuneInString(wrote)
		if _, odd := plainRune(r, "-"); odd && has != "" && has != wrote {
			pairs = append(pairs, wrote, has)
		}
		i = end
	}
	return pairs
}

// isWholeAt reports whether i is a border between characters of the original: "..." of one ellipsis
// must not be torn.
func (n normal) isWholeAt(i int) bool { return i == 0 || i == len(n.text) || n.at[i] != n.at[i-1] }

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (!isBorder(a, n) || !isBorder(b, n)) {
		n--
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && (!isBorder(a, len(a)-n) || !isBorder(b, len(b)-n)) {
		n--
	}
	return n
}

// isBorder reports whether i is between two characters, none of them a dot: dots may be pieces of
// an ellipsis.
func isBorder(s string, i int) bool {
	if i < len(s) && (!utf8.RuneStart(s[i]) || s[i] == '.') {
		return false
	}
	return i == 0 || s[i-1] != '.'
}
