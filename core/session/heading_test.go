package session

import "testing"

// A heading that somebody else chose is what it looks like.
func TestAHeadingHidesNothing(t *testing.T) {
	for given, want := range map[string]string{
		"a\u202egpj.exe": "agpj.exe", "a\u200bb\u2066c": "abc", "a\x1b[31m\u009b2J\nb": "a31m2Jb", "👩\u200d💻 `x`": "👩\u200d💻 x",
	} {
		if got := headingLine(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}
