package markdown

import (
	"strings"
	"testing"
	"time"
)

// TestHostileDocumentsAreDrawnInTime: nesting and repetition must not cost more than their length.
func TestHostileDocumentsAreDrawnInTime(t *testing.T) {
	r := NewRenderer(colours())
	for _, unit := range []string{">", "> ", "- ", "1. ", "[", "[a](", "*a ", "**a", "_a_", "`", "``a`", "|", "|a|b\n|-|-\n", "<", "<a ", "&#", "\\", "![", "~~", "#", "- a\n", "\t", "- >", "http://a", "a@b.c ", "容", "\u0301", "👩‍", "\x1b[", "<!--\n", "```\n"} {
		src := strings.Repeat(unit, 100_000/len(unit))
		begin := time.Now()
		var d Doc
		d.Append(src)
		drawn(r, &d, 80)
		d.Seal(src)
		drawn(r, &d, 80)
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%q repeated to 100 kB took %v", unit, took)
		} else if took > 100*time.Millisecond {
			t.Logf("%q repeated to 100 kB took %v", unit, took)
		}
	}
}
