package injection

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestRuleTable: each rule finds its own sample, has a name of its own, and fits on the line.
func TestRuleTable(t *testing.T) {
	table, seen := ruleTable(), map[string]bool{}
	for i, s := range table.Rules {
		if s.ID == "" || seen[s.ID] || s.Group == "" || s.Reason == "" || s.Sample == "" {
			t.Errorf("rule %d, %q: an id of its own, group, reason and sample are wanted", i, s.ID)
		}
		seen[s.ID] = true
		found := slices.ContainsFunc(readings(s.Sample), func(f folded) bool {
			return len(rules()[i].firstMatches(f.text, allPlaces(f.text), 1)) > 0
		})
		if !found {
			t.Errorf("%s does not find its sample %q", s.ID, s.Sample)
		}
		for _, p := range append(slices.Clone(s.Pattern), s.Unless, s.Follow, s.Inner) {
			if name := groupName().FindString(table.fillGroups(p)); name != "" {
				t.Errorf("%s: no group of words is called %s", s.ID, name)
			}
		}
	}
	for n, line := range strings.Split(string(rulesFile), "\n") {
		if utf8.RuneCountInString(line) > 100 {
			t.Errorf("rules.yaml:%d is longer than 100 characters", n+1)
		}
	}
}

// readings are the forms in which a text is matched.
func readings(s string) []folded {
	base := normalise(s)
	return append(otherReadings(s, base), base)
}

func allPlaces(s string) []int32 {
	out := make([]int32, len(s))
	for i := range out {
		out[i] = int32(i) //nolint:gosec // samples are short
	}
	return out
}
