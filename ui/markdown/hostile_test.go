package markdown

import (
	"strings"
	"testing"
	"time"

	"hermes/core/testskip"
	"hermes/core/testwait"
)

// TestHostileDocumentsAreDrawnInTime: nesting and repetition must not cost more than their length.
// The bound is far above what a slow machine needs, and far below what one parse of the whole would
// take.
func TestHostileDocumentsAreDrawnInTime(t *testing.T) {
	testskip.WithoutRace(t, "parses what takes long on purpose")
	r := NewRenderer(colours())
	for _, unit := range []string{">", "- ", "[", "[a](", "*a ", "``a`", "|", "<a ", "![", "- >", "\u0301", "<!--\n", "```\n"} {
		src := strings.Repeat(unit, 32_000/len(unit))
		begin := time.Now()
		var d Doc
		d.Append(src)
		drawn(r, &d, 80)
		d.Seal(src)
		drawn(r, &d, 80)
		if took := time.Since(begin); took > testwait.Within(10*time.Second) {
			t.Errorf("%q repeated to 32 kB took %v", unit, took)
		}
	}
}
