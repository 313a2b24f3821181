package config

import (
	"strings"

	names "hermes/core/nearest"
)

// nearestMeant returns the candidate that a person most likely meant by word, or "" when none is
// close. It is stricter than "did you mean" elsewhere: what is proposed for a setting may be copied
// without a look.
func nearestMeant(word string, candidates []string) string {
	best, bestDistance := "", 1+max(1, len(word)/3)
	if len(word) > 64 {
		return ""
	}
	low := []rune(strings.ToLower(word))
	for _, c := range candidates {
		if d := names.Distance(low, []rune(strings.ToLower(c))); c != "" && d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}
