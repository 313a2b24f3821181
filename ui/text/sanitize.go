package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks one character keeps. Real scripts stay below; "zalgo" text
// does not.
const maxMarks = 8

// Sanitize removes everything that could command a terminal or mislead a reader: escape sequences
// (CSI, OSC, DCS, APC, PM, SOS) with their content, C0 and C1 controls except newline and tab,
// bidirectional overrides and invisible characters. Invalid UTF-8 becomes U+FFFD. It is idempotent.
func Sanitize(s string) string { return sanitize(s, false) }

// SanitizeKeepSGR is Sanitize, but colours, bold, faint, italic, underline, reverse and strike
// survive, rewritten in our own form. For tool output. Do not use it when style.Styles.Plain is
// set.
func SanitizeKeepSGR(s string) string { return sanitize(s, true) }

func sanitize(s string, keepSGR bool) string {
	i := cleanPrefix(s)
	if i == len(s) {
		return s
	}
	z := sanitizer{src: s, keepSGR: keepSGR, unended: -1}
	z.out.Grow(len(s))
	z.out.WriteString(s[:i])
	for z.pos = i; z.pos < len(s); {
		z.step()
	}
	return z.out.String()
}

// cleanPrefix returns how many bytes at the start of s are plain ASCII text.
func cleanPrefix(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f {
			return i
		}
	}
	return len(s)
}

type sanitizer struct {
	src     string
	pos     int
	keepSGR bool
	marks   int // combining marks in a row
	pen     Pen
	unended int // from here on no control string ends; -1 while unknown
	out     strings.Builder
}

func (z *sanitizer) step() {
	c := z.src[z.pos]
	switch {
	case c == 0x1b:
		z.handleEscape(z.pos + 1)
	case c == '\n' || c == '\t' || c >= 0x20 && c < 0x7f:
		z.marks = 0
		z.out.WriteByte(c)
		z.pos++
	case c < utf8.RuneSelf:
		z.pos++ // C0 and DEL
	default:
		z.takeWide()
	}
}

// takeWide takes one character that is not ASCII.
func (z *sanitizer) takeWide() {
	r, n := utf8.DecodeRuneInString(z.src[z.pos:])
	switch {
	case r >= 0x80 && r < 0xa0:
		z.handleControl(r, z.pos+n)
		return
	case r == '\u2028' || r == '\u2029':
		z.out.WriteByte(' ')
	case isHidden(r):
	case unicode.Is(unicode.M, r):
		if z.marks++; z.marks <= maxMarks {
			z.out.WriteRune(r)
		}
	default:
		if r != '\u200d' {
			z.marks = 0
		}
		z.out.WriteRune(r) // U+FFFD for invalid bytes
	}
	z.pos += n
}

// isHidden reports format characters that change the order of text or carry text that nobody sees.
// The joiners that emoji and Indic scripts need stay, and so do the visible Arabic number signs.
func isHidden(r rune) bool {
	if r == '\u200c' || r == '\u200d' || r >= 0x600 && r < 0x900 && r != 0x61c {
		return false
	}
	return unicode.Is(unicode.Cf, r) || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0'
}

// handleControl handles a C1 control, whose body starts at body.
func (z *sanitizer) handleControl(r rune, body int) {
	switch r {
	case 0x9b:
		z.handleCSI(body)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		z.pos = z.stringEnd(body)
	default:
		z.pos = body
	}
}

// handleEscape handles what follows an ESC.
func (z *sanitizer) handleEscape(i int) {
	if i >= len(z.src) {
		z.pos = i
		return
	}
	switch c := z.src[i]; {
	case c == '[':
		z.handleCSI(i + 1)
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		z.pos = z.stringEnd(i + 1)
	case c >= 0x20 && c < 0x30: // intermediates, then a final byte: character sets
		for i < len(z.src) && z.src[i] >= 0x20 && z.src[i] < 0x30 {
			i++
		}
		if i < len(z.src) && z.src[i] >= 0x30 && z.src[i] < 0x7f {
			i++
		}
		z.pos = i
	case c >= 0x30 && c < 0x7f:
		z.pos = i + 1
	default:
		z.pos = i // not a sequence: only the ESC goes
	}
}

// handleCSI skips the control sequence whose parameters start at i, or rewrites it when it is an
// SGR to keep.
func (z *sanitizer) handleCSI(i int) {
	end := i
	for end < len(z.src) && z.src[end] >= 0x20 && z.src[end] < 0x40 {
		end++
	}
	if end == len(z.src) || z.src[end] >= 0x7f || z.src[end] < 0x40 {
		z.pos = end // cut short: the byte that broke it is looked at on its own
		return
	}
	z.pos = end + 1
	if seq := "\x1b[" + z.src[i:end+1]; z.keepSGR && len(seq) < 64 && isSGR(seq) {
		before := z.pen
		z.pen.Set(z.src[i:end])
		if z.pen != before {
			z.out.WriteString(z.pen.SGR())
		}
	}
}

// stringEnd returns the place after the control string whose body starts at i. One that never ends
// hides the rest of its line only: a terminal would swallow everything, a reader should not lose a
// whole log.
func (z *sanitizer) stringEnd(i int) int {
	if z.unended < 0 || i < z.unended {
		for j := i; j < len(z.src); j++ {
			switch z.src[j] {
			case 0x07:
				return j + 1
			case 0x18, 0x1a:
				return j + 1
			case 0x1b:
				if j+1 < len(z.src) && z.src[j+1] == '\\' {
					return j + 2
				}
				return j
			case 0xc2:
				if j+1 < len(z.src) && z.src[j+1] == 0x9c {
					return j + 2
				}
			}
		}
		z.unended = i
	}
	if n := strings.IndexByte(z.src[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(z.src)
}

// Sequence returns the length of the escape sequence at the start of s, which starts with ESC.
func Sequence(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	if s[1] == '[' {
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] < 0x7f {
				return i + 1
			}
		}
		return len(s)
	}
	z := sanitizer{src: s, unended: -1}
	z.handleEscape(1)
	return max(z.pos, 1)
}
