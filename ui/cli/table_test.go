package cli

import (
	"strings"
	"testing"

	"hermes/ui/text"
)

// A table that must fit does, wide characters too, and each row still says something of its last column.
func TestTableFits(t *testing.T) {
	t.Parallel()
	for _, fit := range []int{40, 60, 80} {
		x := table{head: []string{"NAME", "WHAT"}, fit: fit}
		x.row("one", strings.Repeat("long words ", 20))
		x.row("发布流程", strings.Repeat("发布", 60))
		var b strings.Builder
		if err := x.write(&b); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n")[1:] {
			if w := text.Width(line); w > fit || w < fit-3 || !strings.HasSuffix(line, "…") {
				t.Errorf("%d of %d cells: %q", w, fit, line)
			}
		}
	}
}
