// Package cjk lets SQLite's full-text index find Chinese, Japanese and Korean words.
package cjk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Chinese, Japanese and Korean have no blanks between words, and the tokenizer of SQLite takes a
// whole run of them as one word, which finds 2 % of what is there. So a run is written into the
// index as overlapping pairs plus its last character alone:
//
//	数据库 -> 数据 据库 库
//
// A search for two or more characters is then a phrase of pairs, and for one character a prefix:
// both exact. The lone last character also keeps a phrase from matching over the end of a run.

// Is reports whether r is written without blanks and is a word character to the tokenizer.
func Is(r rune) bool {
	if r < 0x3005 {
		return false
	}
	switch {
	case r <= 0x3007, r >= 0x3041 && r <= 0x3096, r >= 0x309D && r <= 0x309F,
		r >= 0x30A1 && r <= 0x30FA, r >= 0x30FC && r <= 0x30FF, r >= 0x3105 && r <= 0x312D,
		r >= 0x3131 && r <= 0x318E, r >= 0x31A0 && r <= 0x31BA, r >= 0x31F0 && r <= 0x31FF,
		r >= 0x3400 && r <= 0x4DB5, r >= 0x4E00 && r <= 0x9FCC, r >= 0xAC00 && r <= 0xD7A3,
		r >= 0xF900 && r <= 0xFA6D, r >= 0xFF66 && r <= 0xFFBE, r >= 0x20000 && r <= 0x2A6D6,
		r >= 0x2A700 && r <= 0x2B734, r >= 0x2B740 && r <= 0x2B81D:
		return true
	default:
		return false
	}
}

// IndexText returns text as the index stores it.
func IndexText(text string) string {
	if !contains(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) * 2)
	WritePairs(&b, text, true)
	return b.String()
}

func contains(text string) bool { return plainLen(text) < len(text) }

// WritePairs writes text with its runs taken apart. A run at the very end of the text gets its
// lone last character only if closed; in a query it stays open, because the text may go on there.
func WritePairs(b *strings.Builder, text string, closed bool) {
	for len(text) > 0 {
		plain := plainLen(text)
		b.WriteString(text[:plain])
		text = text[plain:]
		if run := runLen(text); run > 0 {
			writeRun(b, text[:run], closed || run < len(text))
			text = text[run:]
		}
	}
}

// plainLen returns the bytes before the first run of text.
func plainLen(text string) int {
	for i, r := range text {
		if Is(r) {
			return i
		}
	}
	return len(text)
}

// runLen returns the bytes of the run that text starts with.
func runLen(text string) int {
	for i, r := range text {
		if !Is(r) {
			return i
		}
	}
	return len(text)
}

func writeRun(b *strings.Builder, run string, closed bool) {
	b.WriteByte(' ')
	first, n := utf8.DecodeRuneInString(run)
	rest := run[n:]
	if rest == "" {
		b.WriteRune(first)
		b.WriteByte(' ')
		return
	}
	prev := first
	for _, r := range rest {
		b.WriteRune(prev)
		b.WriteRune(r)
		b.WriteByte(' ')
		prev = r
	}
	if closed {
		b.WriteRune(prev)
		b.WriteByte(' ')
	}
}

// IsWord reports whether the tokenizer keeps r.
func IsWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r)
}
