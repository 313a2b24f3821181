// Package clip cuts long texts short.
package clip

import (
	"strings"
	"unicode/utf8"
)

// Runes is a text, of a longer one the first most characters and mark.
func Runes(text string, most int, mark string) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + mark
}

// Bytes is the beginning of a text, at most so many bytes, cut between characters.
func Bytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// LastLine is the last line of a text that says something.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
