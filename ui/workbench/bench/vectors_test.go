package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"hermes/core/recall/hnsw"
)

// BenchmarkVectors is the nearest 5 of 10,000 vectors of 384 numbers, or of HERMES_BENCH_VECTORS:
// by the graph against all of them, whole and with 30 % deleted.
func BenchmarkVectors(b *testing.B) {
	n := 10_000
	if text := os.Getenv("HERMES_BENCH_VECTORS"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		must(b, err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	const dims = 384
	centres := make([][]float32, n/50)
	for i := range centres {
		centres[i] = unitNear(r, nil, dims)
	}
	g := hnsw.New(dims, 1)
	for i := range n {
		must(b, g.Add(int64(i), unitNear(r, centres[r.IntN(len(centres))], dims)))
	}
	ask := make([][]float32, 200)
	for i := range ask {
		ask[i] = unitNear(r, centres[r.IntN(len(centres))], dims)
	}
	compareGraph(b, fmt.Sprintf("recall: nearest of %d", n), g, ask, 1.5)
	for i := range n * 3 / 10 {
		g.Delete(int64(i))
	}
	compareGraph(b, "the same, 30 % deleted", g, ask, 5)
}

func compareGraph(b *testing.B, what string, g *hnsw.Graph, ask [][]float32, budget float64) {
	b.Helper()
	i := 0
	question := func() []float32 { i++; return ask[i%len(ask)] }
	mine, floor := versus(60, func() { g.Search(question(), 5) }, func() { g.Exact(question(), 5) })
	gate{what: what, floor: "an exact search", budget: budget}.times(b, mine, floor)
	missing := int64(0)
	for _, q := range ask {
		found := map[int64]bool{}
		for _, n := range g.Search(q, 5) {
			found[n.ID] = true
		}
		for _, n := range g.Exact(q, 5) {
			if !found[n.ID] {
				missing++
			}
		}
	}
	gate{what: what + ": not found", floor: "of the nearest 5 of 200 questions", budget: 0.02}.row(
		b, strconv.FormatInt(missing, 10), strconv.Itoa(5*len(ask)), float64(missing)/float64(5*len(ask)))
}

// unitNear is a vector of length 1, near to another one if there is one.
func unitNear(r *rand.Rand, centre []float32, dims int) []float32 {
	v := make([]float32, dims)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		if centre != nil {
			v[i] = 0.05*v[i] + centre[i]
		}
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}
