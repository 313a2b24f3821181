package injection

import (
	"fmt"
	"unicode/utf8"
)

// findInvisible finds characters that people cannot see where a script or an emoji does not need
// them: a run of them is one hit.
func findInvisible(s string) []Finding {
	var out []Finding
	w := walk{}
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			size = 1
		}
		next, _ := utf8.DecodeRuneInString(s[min(i+size, len(s)):])
		if w.keepsRune(r, next) || isHarmless(i, r) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].End == i {
			out[n-1].End = i + size
			continue
		}
		if len(out) == maxFindings {
			break
		}
		out = append(out, Finding{Rule: "invisible", Reason: "characters that nobody can see, the first is " + codePoint(r), Start: i, End: i + size})
	}
	return out
}

// isHarmless is what editors and typesetting leave behind: a byte order mark at the start, line
// ends, form feeds, soft hyphens.
func isHarmless(at int, r rune) bool {
	return at == 0 && r == '\ufeff' || r == '\r' || r == '\f' || r == '\u00ad' || r == utf8.RuneError
}

func codePoint(r rune) string { return fmt.Sprintf("U+%04X", r) }
