package base

import (
	"bytes"
	"strings"
	"testing"

	"hermes/ui/text"
)

func TestTableMeasuresCells(t *testing.T) {
	var out bytes.Buffer
	tab := Table{Head: []string{"A", "B"}}
	tab.Row("日本", "x\x1b[2J\ny")
	tab.Row("abc", "z")
	if err := tab.Write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "A     B\n日本  x y\nabc   z\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// A table that must fit does, wide characters too, and each row still says something of its last
// column.
func TestTableFits(t *testing.T) {
	t.Parallel()
	for _, fit := range []int{40, 60, 80} {
		x := Table{Head: []string{"NAME", "WHAT"}, Fit: fit}
		x.Row("one", strings.Repeat("long words ", 20))
		x.Row("发布流程", strings.Repeat("发布", 60))
		var b strings.Builder
		if err := x.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n")[1:] {
			if w := text.Width(line); w > fit || w < fit-3 || !strings.HasSuffix(line, "…") {
				t.Errorf("%d of %d cells: %q", w, fit, line)
			}
		}
	}
}
