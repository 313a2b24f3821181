// Package nearest answers "did you mean": which of the known names is closest to one that is not
// known. Standard library only. Distances are Damerau-Levenshtein (one swap of neighbours is one
// step) over runes, without case.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// Name returns the candidate closest to got, and false when none is close enough to be worth
// proposing.
func Name(got string, candidates []string) (string, bool) {
	found := Names(got, candidates, 1)
	if len(found) == 0 {
		return "", false
	}
	return found[0], true
}

// Names returns at most limit candidates that are close to got, the closest first; ties keep
// alphabetical order. Close means: one contains the other (three letters or more), or at most a
// third of the letters differ.
func Names(got string, candidates []string, limit int) []string {
	type scored struct {
		name  string
		score int
	}
	var found []scored
	low := strings.ToLower(got)
	for _, c := range candidates {
		if s, ok := scoreMatch(low, strings.ToLower(c)); ok {
			found = append(found, scored{c, s})
		}
	}
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.name, b.name))
	})
	names := make([]string, 0, min(limit, len(found)))
	for _, f := range found[:min(limit, len(found))] {
		names = append(names, f.name)
	}
	return names
}

func scoreMatch(a, b string) (int, bool) {
	ra, rb := []rune(a), []rune(b)
	longest := max(len(ra), len(rb))
	if longest == 0 || longest > 256 {
		return 0, false
	}
	d := Distance(ra, rb)
	if d <= max(1, longest/3) {
		return d, true
	}
	if min(len(ra), len(rb)) >= 3 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		return d, true
	}
	return 0, false
}

// Distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into
// b.
func Distance(a, b []rune) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
