package injection

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean removes what people cannot see but a model reads: control characters, and characters
// without a shape (zero width, direction marks, tags, fillers, variation selectors), by which
// instructions can be hidden in an innocent file. Joiners stay where scripts and emoji need them,
// between two characters that are not ASCII. Line ends become "\n"; removed does not count those.
func Clean(s string) (out string, removed int) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.TrimPrefix(s, "\ufeff")
	var b strings.Builder
	b.Grow(len(s))
	w := walk{}
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			size = 1
		}
		next, _ := utf8.DecodeRuneInString(s[min(i+size, len(s)):])
		if !w.keepsRune(r, next) {
			removed++
			continue
		}
		b.WriteRune(r)
	}
	return b.String(), removed
}

// walk goes through a text and knows what it kept last.
type walk struct {
	last     rune
	selected bool // a selector was kept after last
}

// keepsRune reports whether r can stay before next.
func (w *walk) keepsRune(r, next rune) bool {
	if !staysVisible(w.last, r, next) || (w.selected && isVariationSelector(r)) {
		return false
	}
	if w.selected = isVariationSelector(r); !w.selected {
		w.last = r // a joiner looks through a selector at the character before
	}
	return true
}

// staysVisible reports whether r stays between its neighbours.
func staysVisible(last, r, next rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case r == '\u200c' || r == '\u200d': // joiners
		return isVisible(last) && isVisible(next)
	case isVariationSelector(r):
		return isVisible(last) || strings.ContainsRune("0123456789#*", last)
	case r == utf8.RuneError:
		return true
	default:
		return !isHidden(r)
	}
}

// isVariationSelector asks for the text or the emoji form of the character before it.
func isVariationSelector(r rune) bool { return r == '\ufe0e' || r == '\ufe0f' }

// isVisible is a character beyond ASCII that has a shape.
func isVisible(r rune) bool {
	return r > unicode.MaxASCII && r != utf8.RuneError && !isHidden(r) && !unicode.IsSpace(r)
}

func isHidden(r rune) bool {
	switch {
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case unicode.Is(unicode.Variation_Selector, r):
		return true
	case r == '\u034f', r == '\u115f', r == '\u1160', r == '\u17b4', r == '\u17b5', r == '\u3164', r == '\uffa0':
		return true // joiner and fillers that have no shape
	case r >= 0xe0000 && r <= 0xe0fff:
		return true // tags and unassigned neighbours
	default:
		return false
	}
}
