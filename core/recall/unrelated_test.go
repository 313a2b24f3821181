package recall

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// space is an embedder with the geometry of real ones: all texts share a direction, which makes
// even unrelated ones near (common), words that mean the same point the same way, and rare words
// count more than small ones.
type space struct {
	common float32
	means  map[string]string // of words of one meaning, the one that stands for them
	asked  [][]string
}

func (s *space) Model() string { return fmt.Sprint("space ", s.common) }

const spaceDims = 384

func direction(of string) []float32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(of))
	return randomUnit(rand.New(rand.NewPCG(h.Sum64(), 1)), spaceDims)
}

func (s *space) Embed(_ context.Context, texts []string, _ bool) ([][]float32, error) {
	s.asked = append(s.asked, texts)
	all := make([][]float32, len(texts))
	for i, text := range texts {
		sum := make([]float32, spaceDims)
		addTo := func(v []float32, weight float32) {
			for i := range v {
				sum[i] += weight * v[i]
			}
		}
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" ,.;:?/-", r) }) {
			weight := float32(1)
			if stopWords()[w] {
				weight = 0.25
			}
			if m, ok := s.means[w]; ok {
				w = m
			}
			addTo(direction(w), weight)
		}
		addTo(direction(text), 0.5) // what is its own
		unit, err := normalizeVector(sum)
		if err != nil {
			return nil, err
		}
		sum = unit
		// Of two unrelated texts of length 1 the product becomes common.
		addTo(direction("\x00all"), float32(math.Sqrt(float64(s.common/(1-s.common)))))
		all[i] = sum
	}
	return all, nil
}

// With vectors, too, what has nothing to do with a question is not shown for it, however near the
// model puts all texts.
func TestNothingForTheUnrelatedByMeaning(t *testing.T) {
	same := map[string]string{"postgres": "postgresql", "ship": "releases", "weekday": "tuesdays", "pagers": "pager", "duty": "pager"}
	for _, common := range []float32{0.05, 0.4, 0.8} {
		e := &space{common: common, means: same}
		s := openTest(t, Options{Embedder: e})
		for _, f := range coldFacts {
			put(t, s, f.key, f.value)
		}
		embedAll(t, s, len(coldFacts))
		first, quiet := 0, 0
		ask := func(q string) string {
			found, err := s.Recall(t.Context(), q, 5, MinCoverage)
			if err != nil || found.ByWords {
				t.Fatalf("%+v, %v", found, err)
			}
			if len(found.Hits) == 0 {
				return ""
			}
			return found.Hits[0].Key
		}
		for _, q := range coldQuestions {
			if ask(q.text) == q.key {
				first++
			}
		}
		for _, q := range farQuestions {
			if slices.Contains(unrelatedQuestions(), q) {
				t.Fatalf("%q is what the limit is made of", q)
			}
			if ask(q) == "" {
				quiet++
			}
		}
		t.Logf("common %v: right one first %d of %d, nothing for %d of %d, least %.3f", common,
			first, len(coldQuestions), quiet, len(farQuestions), s.vectors.floor.least)
		if first*10 < len(coldQuestions)*9 || quiet*10 < len(farQuestions)*8 {
			t.Error("wanted: the right one first in 90 %, nothing for the unrelated in 80 %")
		}
		// No word in common: meaning alone brings it.
		for q, key := range map[string]string{"ship weekday": "deploy", "pagers duty": "on call"} {
			if got := ask(q); got != key {
				t.Errorf("common %v, %s: %q", common, q, got)
			}
		}
		// The unrelated questions are asked of the server once.
		if n := slices.IndexFunc(e.asked[2:], func(texts []string) bool { return len(texts) == len(unrelatedQuestions()) }); n < 0 {
			t.Error("never probed")
		} else if slices.ContainsFunc(e.asked[3+n:], func(texts []string) bool { return len(texts) > 1 }) {
			t.Error("probed again")
		}
	}
}
