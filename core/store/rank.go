package store

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"hermes/core/chat"
)

// rankNewest orders matches that are too many for the index's own ranking: by how often the words
// occur for the length of the text, who said it, and how old it is.
func rankNewest(ms []Match, q SearchQuery, now time.Time) {
	words := make([]string, len(q.Terms))
	for i, term := range q.Terms {
		words[i] = strings.ToLower(strings.TrimRight(term, "*"))
	}
	for i := range ms {
		ms[i].Rank = -matchScore(&ms[i], words, now)
	}
	slices.SortStableFunc(ms, func(a, b Match) int { return cmp.Compare(a.Rank, b.Rank) })
}

func matchScore(m *Match, words []string, now time.Time) float64 {
	text := strings.ToLower(m.Text)
	var sum float64
	for _, w := range words {
		tf := float64(strings.Count(text, w))
		sum += tf / (tf + 0.5 + float64(len(text))/1000) // saturates, and long texts need more
	}
	switch {
	case m.ID == 0: // a title
		sum *= 2
	case m.Role == string(chat.RoleUser):
		sum *= 1.3
	}
	days := max(0, now.Sub(m.At).Hours()/24)
	return sum / (1 + math.Log1p(days/30)/4)
}
