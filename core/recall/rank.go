package recall

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// The order of what was found, by the article that Hermes was designed from:
//
//	score = 0.6*similarity + 0.3*exp(-hours/168) + 0.1*min(uses/10, 1)
//
// After 168 hours the middle term is 0.368 of 0.3; it halves in 116.4 hours.
const (
	similarityWeight = 0.6
	recencyWeight    = 0.3
	useWeight        = 0.1
	defaultTimeScale = 168 * time.Hour
	manyUses         = 10
)

// Hit is an item that was found, with the three terms of its score, each 0 to 1.
type Hit struct {
	Item
	Score      float64 `json:"score"`
	Similarity float64 `json:"similarity"` // of the words (and vectors), 1 for the best one found
	Recency    float64 `json:"recency"`
	Use        float64 `json:"use"`
	// Coverage is how much of the query the item and its neighbours answer: the rarity of the words
	// found by that of all words, 0 to 1. Unlike Similarity it does not depend on the other hits.
	Coverage float64 `json:"coverage"`
	// Beside says that the item has no word of the query: what was stored before or after it has.
	Beside bool `json:"beside,omitempty"`
}

// Recency is how new something is: 1 now, 0.368 after one time scale.
func Recency(age, scale time.Duration) float64 {
	return math.Exp(-max(0, age.Hours()) / scale.Hours())
}

// Usage is how much something is used, 0 to 1.
func Usage(uses int) float64 { return min(float64(uses)/manyUses, 1) }

// Score joins the three terms.
func Score(similarity, recency, use float64) float64 {
	return similarityWeight*similarity + recencyWeight*recency + useWeight*use
}

// orderHits sets the terms of the hits and sorts them, best first.
func (s *Store) orderHits(hits []Hit) {
	now := s.now()
	for i := range hits {
		h := &hits[i]
		h.Recency, h.Use = Recency(now.Sub(h.Created), s.timeScale), Usage(h.Uses)
		h.Score = Score(h.Similarity, h.Recency, h.Use)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(b.ID, a.ID))
	})
}

// scores are what one way of searching says of items, by id; more is better.
type scores map[int64]float64

// scaleToOne brings scores to 0..1: the best is 1. What a way of searching did not find has 0 in
// it, so its worst hit stays a little above.
func (s scores) scaleToOne() scores {
	if len(s) == 0 {
		return s
	}
	best, worst := math.Inf(-1), math.Inf(1)
	for _, v := range s {
		best, worst = max(best, v), min(worst, v)
	}
	out := make(scores, len(s))
	for id, v := range s {
		if best == worst {
			out[id] = 1
			continue
		}
		out[id] = max((v-worst)/(best-worst), 0.001)
	}
	return out
}

// blendScores adds scores with weights.
func blendScores(parts map[*scores]float64) scores {
	sum := scores{}
	for part, weight := range parts {
		for id, v := range *part {
			sum[id] += weight * v
		}
	}
	return sum
}

// bestIDs are the n ids with the highest scores, the newer first among equals.
func (s scores) bestIDs(n int) []int64 {
	ids := make([]int64, 0, len(s))
	for id := range s {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Or(cmp.Compare(s[b], s[a]), cmp.Compare(b, a)) })
	return ids[:min(n, len(ids))]
}
