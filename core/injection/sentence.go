package injection

import (
	"strings"
	"unicode/utf8"
)

// Sentence is a piece of a text: a sentence, a line, or a part of one that never ends.
type Sentence struct {
	Text       string // in normal form, in simplified Chinese letters
	Start, End int    // its place in the original
	Line       bool   // it begins a line
}

const (
	longSentence  = 360 // bytes after which a sentence is cut at the next comma
	worstSentence = 600 // bytes after which it is cut at the next blank, or anywhere
)

// Sentences cuts a text into the pieces that are judged: at ends of sentences and of lines, and
// within what is too long for a sentence.
func Sentences(s string) []Sentence {
	return normalise(s).plainReading(s).splitSentences(s)
}

// plainReading is the reading that is judged: Chinese in simplified letters that stand together.
func (f folded) plainReading(s string) folded {
	if v, ok := readSimplified(s, f); ok {
		f = v
	}
	if v, ok := readUnspacedChinese(s, f); ok {
		f = v
	}
	return f
}

func (f folded) splitSentences(s string) []Sentence {
	var out []Sentence
	from, line := 0, true
	cut := func(to int) {
		text := strings.TrimSpace(f.text[from:to])
		if text != "" {
			start, end := f.originalSpan(from+strings.Index(f.text[from:to], text), to)
			out = append(out, Sentence{Text: text, Start: start, End: end, Line: line})
			line = false
		}
		from = to
	}
	for i := 0; i < len(f.text); {
		r, n := utf8.DecodeRuneInString(f.text[i:])
		i += n
		if f.endsSentence(s, r, i, i-from) {
			cut(i)
		}
		if r == ' ' && f.lineEnd(s, i) {
			line = true
		}
	}
	cut(len(f.text))
	return out
}

// endsSentence reports whether a sentence of size bytes ends with r, which stands before i.
func (f folded) endsSentence(s string, r rune, i, size int) bool {
	switch r {
	case '.', '!', '?', ';':
		return i >= len(f.text) || f.text[i] == ' ' || f.text[i] == '"'
	case '。', '！', '？', '；':
		return true
	case ' ':
		return size > worstSentence || f.lineEnd(s, i)
	case ',', ':', '，', '、', '：', ')', '）':
		return size > longSentence
	default:
		return size > 2*worstSentence
	}
}

// lineEnd reports whether the blank before i stood for the end of a line.
func (f folded) lineEnd(s string, i int) bool {
	from, to := f.at[i-1], f.at[min(i, len(f.at)-1)]
	gap := s[from:max(from, min(to, len(s)))]
	return strings.ContainsAny(gap, "\n\r\u2028\u2029") || strings.Contains(gap, `\n`)
}
