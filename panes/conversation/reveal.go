package conversation

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// revealHidden writes a command so that nothing in it can hide: what has no picture of its own, or
// changes the order of what is read, stands there as its code ("<U+202E>"). mark styles what was
// added; nil leaves it plain.
func revealHidden(s string, mark func(...string) string) string {
	if mark == nil {
		mark = func(s ...string) string { return strings.Join(s, "") }
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(mark(fmt.Sprintf("<0x%02X>", s[i])))
		case r == '\n' && i+1 == len(s):
		case r == '\n':
			b.WriteString("\n")
		case r == '\t':
			b.WriteString("    ")
		case isUnseen(r):
			b.WriteString(mark(fmt.Sprintf("<U+%04X>", r)))
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// isUnseen reports characters that a reader cannot see, or takes for a blank.
func isUnseen(r rune) bool {
	switch {
	case r == ' ':
		return false
	case r < 0x7f:
		return r < 0x20
	case r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0', r == '\u2800', r == '\u034f', r == '\u17b4', r == '\u17b5':
		return true
	default:
		return unicode.In(r, unicode.C, unicode.Z, unicode.Variation_Selector) || !unicode.IsGraphic(r)
	}
}
