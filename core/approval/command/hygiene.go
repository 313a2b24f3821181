package command

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible reports whether r can hide in a command: it is not drawn, changes how its neighbours
// are drawn, or looks like a blank. Joiners and variation selectors inside of emoji are judged by
// who sees what stands before them.
func Invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0xa0, r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x2000 && r <= 0x200f, r >= 0x2028 && r <= 0x202f, r >= 0x205f && r <= 0x206f:
		return true
	case r == 0x1680, r == 0x2800, r == 0x3164, r == 0xffa0, r == 0xfeff, r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb:
		return true
	case r >= 0xe0000 && r <= 0xe0fff, r >= 0x1d173 && r <= 0x1d17a, r >= 0x1bca0 && r <= 0x1bca3:
		return true
	default:
		return unicode.Is(unicode.Cf, r)
	}
}

// isPictograph reports whether r may be followed by a joiner or a variation selector.
func isPictograph(r rune) bool {
	return r >= 0x1f000 && r <= 0x1ffff || r >= 0x2190 && r <= 0x2bff || r >= 0x3030 && r <= 0x303d || r == 0xfe0f || r == 0x00a9 || r == 0x00ae
}

// findHiddenCharacters finds characters that hide what a command says.
func (w *walker) findHiddenCharacters(text string) {
	ascii := true
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			ascii = false
			break
		}
	}
	if ascii {
		return
	}
	var before rune
	for i, r := range text {
		size := utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			w.addHidden(i, 1, "it holds the byte "+fmt.Sprintf("0x%02X", text[i])+", which is no text")
			return
		case Invisible(r) && (r != 0x200d && r != 0xfe0f && r != 0xfe0e || !isPictograph(before)):
			w.addHidden(i, size, fmt.Sprintf("it holds the invisible character U+%04X", r))
			return
		}
		before = r
	}
}

func (w *walker) addHidden(at, size int, why string) {
	w.effects = append(w.effects, Effect{Class: Hidden, Span: [2]int{at, at + max(1, size)}, Reason: why, Level: LevelAlways})
}

// hasLookalikes reports whether s holds letters that can pass for others.
func hasLookalikes(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
}
