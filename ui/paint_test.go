package ui

import "testing"

// A hint that has no room loses whole keys, and the way out last.
func TestAHintLeavesOutWholeKeysAndKeepsTheWayOut(t *testing.T) {
	for _, c := range []struct {
		hint string
		w    int
		want string
	}{
		{"type to search  enter choose  esc close", 60, "type to search  enter choose  esc close"},
		{"type to search  enter choose  esc close", 38, "type to search  esc close"},
		{"type to search  enter choose  esc close", 10, "esc close"},
		{"denies itself in 4:48 · ←→ enter choose · esc denies · ctrl+y later", 30, "←→ enter choose · esc denies"},
		{"working", 3, "working"},
		{"", 3, ""},
	} {
		if got := fitHint(c.hint, c.w); got != c.want {
			t.Errorf("%q in %d cells: %q, want %q", c.hint, c.w, got, c.want)
		}
	}
}
