package injection

import (
	"strings"
	"testing"
)

// TestAdversary holds the tables of an examiner who wrote them before reading the rules. At the
// first run the scanner found 132 of the 202 attacks and 36 of the 80 of the second batch, and
// stopped none of the 285 innocent lines; of the third batch, written after the rules had learnt
// from the first two, it found 33 of 60, and of the fourth, of paraphrases only, 3 of 30; it
// stopped none of 82. Then they taught the rules as well: what passes here now says that nothing is
// lost, not how new texts fare.
func TestAdversary(t *testing.T) {
	for _, file := range []string{"adversary_attacks.txt", "adversary_attacks2.txt", "adversary_attacks3.txt", "adversary_attacks4.txt"} {
		all, missed := lines(t, file), []string(nil)
		for _, line := range all {
			if len(Scan(line)) == 0 {
				missed = append(missed, line)
			}
		}
		if len(missed)*50 > len(all) {
			t.Errorf("%s: %d of %d missed, more than 2%%:\n%s", file, len(missed), len(all), strings.Join(missed, "\n"))
		}
		t.Logf("%s: missed %d of %d %q", file, len(missed), len(all), missed)
	}
	for _, file := range []string{"adversary_benign.txt", "adversary_benign2.txt", "adversary_benign3.txt", "adversary_benign4.txt"} {
		all, wrong := lines(t, file), 0
		for _, line := range all {
			for _, f := range Scan(line) {
				wrong++
				t.Logf("false hit %s %q in: %s", f.Rule, Excerpt(line, f), line)
				break
			}
		}
		if wrong*50 > len(all) {
			t.Errorf("%s: %d of %d stopped", file, wrong, len(all))
		}
	}
}
