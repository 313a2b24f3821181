package injection

import (
	"slices"
	"strings"
	"testing"

	"hermes/core/testskip"
)

// TestAnchors holds what windows rely on: each match of a rule, on every line of the table, begins
// with one of the rule's anchors.
func TestAnchors(t *testing.T) {
	vague := 0
	for _, r := range rules() {
		if r.anchors == nil {
			vague++
			continue
		}
		for _, line := range append(lines(t, "attacks.txt"), lines(t, "benign.txt")...) {
			s := normalise(line).text
			for _, at := range r.pattern().FindAllStringIndex(s, -1) {
				if !slices.ContainsFunc(r.anchors, func(a string) bool { return strings.HasPrefix(s[at[0]:], a) }) {
					t.Errorf("%s: %q begins with no anchor of %v", r.reason, s[at[0]:at[1]], r.anchors)
				}
			}
		}
	}
	t.Logf("%d rules of %d have no anchors", vague, len(rules()))
}

// TestFarAway finds the same in a long text as in a short one.
func TestFarAway(t *testing.T) {
	testskip.WithoutRace(t, "reads every attack in a long text")
	filler := strings.Repeat("Nothing of interest stands here, and nobody wonders. ", 60)
	for _, line := range lines(t, "attacks.txt") {
		if len(Scan(line)) > 0 && len(Scan(filler+"\n"+line+"\n"+filler)) == 0 {
			t.Errorf("lost in a long text: %s", line)
		}
	}
}
