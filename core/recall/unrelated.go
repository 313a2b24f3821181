package recall

import (
	"context"
	_ "embed" // the unrelated questions
	"slices"
	"strings"
	"sync"
)

//go:embed unrelated.txt
var unrelatedList string

var unrelatedQuestions = sync.OnceValue(func() []string {
	var all []string
	for line := range strings.Lines(unrelatedList) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
})

// floor is how near a question has to come to an item to be answered by it. A cosine says nothing
// by itself: with some models what is unrelated has 0.1, with others 0.8. So questions that have
// nothing to do with anything are asked of the same items.
type floor struct {
	probes  [][]float32 // the vectors of unrelatedQuestions by the model of the index; nil: not asked yet
	version int64       // of the index that least was found with
	least   float32
}

const (
	// allowed is how many of 20 unrelated questions may find something: one of them may be related to
	// what this person keeps, and then everything else has to stay findable.
	allowed = 2
	// above is how far over them a question must be, as a part of what is left to 1.
	above = 0.05
	// minCosine is the least in any case: without it what points nowhere would mean something.
	minCosine = 0.05
)

// leastCosine is the lowest cosine that means something, among the items of now.
func (v *vectorIndex) leastCosine() float32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := &v.floor
	if len(f.probes) == 0 || v.countVectors() == 0 {
		return 0
	}
	if f.version == v.version {
		return f.least
	}
	var best []float32
	for _, p := range f.probes {
		if len(p) != v.dims {
			continue
		}
		if near := v.searchBoth(p, 1, v.trusted); len(near) > 0 {
			best = append(best, near[0].Cos)
		}
	}
	if len(best) == 0 {
		return 0
	}
	slices.Sort(best)
	highest := best[max(0, len(best)-1-allowed)]
	f.version, f.least = v.version, highest+above*(1-highest)
	return f.least
}

// embedUnrelated makes the vectors of the unrelated questions, once for a model.
func (v *vectorIndex) embedUnrelated(ctx context.Context, e Embedder) error {
	v.mu.RLock()
	have := v.model == e.Model() && len(v.floor.probes) > 0
	v.mu.RUnlock()
	if have {
		return nil
	}
	probes, err := queryVectors(ctx, e, unrelatedQuestions())
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.floor = floor{probes: probes}
	return nil
}
