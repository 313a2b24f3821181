package command

import "testing"

// Ways by which what stands in a file, or what a command says, reaches an address; and what looks
// alike and sends nothing of that kind. Each is judged, not counted.
func TestLeaksAsk(t *testing.T) {
	c := placeForTests()
	leaks := 0
	for _, r := range readTable(t, "testdata/leaks.tsv") {
		if r.class == "leak" {
			leaks++
		}
		if a := Analyse(r.command, c); a.Verdict != Verdict(r.verdict) {
			t.Errorf("%q: %s, want %s: %s", r.command, a.Verdict, r.verdict, a.Reason)
		}
	}
	if leaks < 40 {
		t.Errorf("only %d ways", leaks)
	}
}
