package shelltext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ANSIC is the text of $'...'.
func ANSIC(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'x':
			i += writeCode(&b, s[i+1:], 16, 2)
		case 'u':
			i += writeCode(&b, s[i+1:], 16, 4)
		case 'U':
			i += writeCode(&b, s[i+1:], 16, 8)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i += writeCode(&b, s[i:], 8, 3) - 1
		case 'c':
			if i+1 < len(s) {
				i++
				b.WriteByte(s[i] & 0x1f)
			}
		default:
			if at := strings.IndexByte("abeEfnrtv", c); at >= 0 {
				c = "\a\b\x1b\x1b\f\n\r\t\v"[at]
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// writeCode writes the character whose number s begins with, of at most most digits, and returns
// how many there were.
func writeCode(b *strings.Builder, s string, base, most int) int {
	n := 0
	for n < len(s) && n < most {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	v, err := strconv.ParseUint(s[:n], base, 32)
	switch {
	case err != nil:
		return 0
	case most <= 3 || v < utf8.RuneSelf:
		b.WriteByte(byte(v))
	default:
		b.WriteRune(rune(v)) //nolint:gosec // at most 32 bits; what is no character becomes the replacement
	}
	return n
}
