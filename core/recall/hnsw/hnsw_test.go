package hnsw

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/testskip"
)

var tag = [32]byte{1, 2, 3}

// clustered are vectors of length 1 around some centres, like those of texts.
func clustered(r *rand.Rand, n, dims int) [][]float32 {
	out := make([][]float32, n)
	centres := make([][]float32, max(1, n/50))
	for i := range centres {
		centres[i] = unit(r, nil, dims, 1)
	}
	for i := range out {
		out[i] = unit(r, centres[r.IntN(len(centres))], dims, 0.05)
	}
	return out
}

func unit(r *rand.Rand, around []float32, dims int, spread float64) []float32 {
	v := make([]float32, dims)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64() * spread)
		if around != nil {
			v[i] += around[i]
		}
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func build(t testing.TB, vectors [][]float32) *Graph {
	t.Helper()
	g := New(len(vectors[0]), 1)
	for i, v := range vectors {
		if err := g.Add(int64(i), v); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// recallAt5 is the part of the five nearest that Search finds.
func recallAt5(g *Graph, questions [][]float32) float64 {
	found, all := 0, 0
	for _, q := range questions {
		near := map[int64]bool{}
		for _, n := range g.Search(q, 5) {
			near[n.ID] = true
		}
		for _, n := range g.Exact(q, 5) {
			all++
			if near[n.ID] {
				found++
			}
		}
	}
	return float64(found) / float64(all)
}

func questions(r *rand.Rand, vectors [][]float32, n int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = unit(r, vectors[r.IntN(len(vectors))], len(vectors[0]), 0.05)
	}
	return out
}

func TestFindsWhatIsNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	vectors := clustered(r, 2000, 48)
	g := build(t, vectors)
	ask := questions(r, vectors, 100)
	if got := recallAt5(g, ask); got < 0.98 {
		t.Errorf("recall@5 %.3f", got)
	}
	for i := range 600 {
		if !g.Delete(int64(i * 3)) {
			t.Fatal("not there")
		}
	}
	for name, g := range map[string]*Graph{"30 % deleted": g, "compact": g.Compact(), "written and read": copied(t, g)} {
		if got := recallAt5(g, ask); got < 0.98 || g.Len() != 1400 {
			t.Errorf("%s: recall@5 %.3f of %d", name, got, g.Len())
		}
		for _, q := range ask {
			for _, n := range g.Search(q, 20) {
				if n.ID < 1800 && n.ID%3 == 0 {
					t.Fatalf("%s: found %d, which is deleted", name, n.ID)
				}
			}
		}
	}
	if c := g.Compact(); c.Deleted() != 0 || len(c.ids) != 1400 {
		t.Errorf("%d nodes, %d deleted", len(c.ids), c.Deleted())
	}
}

func written(t testing.TB, g *Graph) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := g.Write(&b, tag, true); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func copied(t *testing.T, g *Graph) *Graph {
	t.Helper()
	c, checked, err := Read(written(t, g), tag)
	if err != nil || !checked {
		t.Fatal(err, checked)
	}
	return c
}

func TestEdges(t *testing.T) {
	g := New(2, 1)
	if g.Search([]float32{1, 0}, 5) != nil || len(g.Exact([]float32{1, 0}, 5)) != 0 || g.Delete(1) || g.Vector(1) != nil {
		t.Error("something is in an empty graph")
	}
	if g.Add(1, []float32{1}) == nil {
		t.Error("a vector of other dimensions went in")
	}
	for range 3 { // the same id again and again: the last one counts
		for _, v := range [][]float32{{1, 0}, {0, 1}} {
			if err := g.Add(7, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := g.Search([]float32{0, 1}, 5); len(got) != 1 || got[0].ID != 7 || got[0].Cos != 1 || g.Deleted() != 5 {
		t.Errorf("%v, %d deleted", got, g.Deleted())
	}
	g.Delete(7)
	if got := g.Search([]float32{0, 1}, 5); len(got) != 0 {
		t.Error(got)
	}
	if c := copied(t, g); c.Len() != 0 || c.Add(1, []float32{1, 0}) != nil || len(c.Search([]float32{1, 0}, 1)) != 1 {
		t.Error("a graph that was emptied does not go on")
	}
}

// Random steps: what is in is found, what is out is not, and nothing panics.
func TestRandomSteps(t *testing.T) { takeRandomSteps(t, 4000) }

func TestManyRandomSteps(t *testing.T) {
	testskip.LongWithoutRace(t, "100,000 steps")
	takeRandomSteps(t, 100_000)
}

func takeRandomSteps(t *testing.T, steps int) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	const dims = 8
	g, in := New(dims, 3), map[int64][]float32{}
	for i := range steps {
		id := int64(r.IntN(1500))
		switch step := r.IntN(100); {
		case step < 50:
			in[id] = unit(r, nil, dims, 1)
			if err := g.Add(id, in[id]); err != nil {
				t.Fatal(err)
			}
		case step < 75:
			if _, was := in[id]; g.Delete(id) != was {
				t.Fatalf("step %d: delete", i)
			}
			delete(in, id)
		case step < 98:
			for _, n := range g.Search(unit(r, nil, dims, 1), 5) {
				if v, ok := in[n.ID]; !ok || Dot(v, g.Vector(n.ID)) < 0.999 {
					t.Fatalf("step %d: found %d, which is not there", i, n.ID)
				}
			}
		case g.Deleted() > len(in):
			g = g.Compact()
		default:
			if i%10 == 0 {
				g = copied(t, g)
			}
		}
		if g.Len() != len(in) {
			t.Fatalf("step %d: %d in the graph, want %d", i, g.Len(), len(in))
		}
	}
	var ask [][]float32
	for range 50 {
		ask = append(ask, unit(r, nil, dims, 1))
	}
	if got := recallAt5(g, ask); got < 0.95 {
		t.Errorf("recall@5 after all steps %.3f", got)
	}
}

func TestBestIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Best{K: rapid.IntRange(1, 5).Draw(t, "k")}
		all := rapid.SliceOf(rapid.Float32Range(-1, 1)).Draw(t, "all")
		for i, c := range all {
			b.Add(int64(i), c)
		}
		above := 0
		for i, f := range b.Found {
			if i > 0 && f.Cos > b.Found[i-1].Cos {
				t.Fatal("not in order")
			}
		}
		for _, c := range all {
			if len(b.Found) > 0 && c > b.Found[len(b.Found)-1].Cos {
				above++
			}
		}
		if len(b.Found) != min(b.K, len(all)) || above >= b.K {
			t.Fatalf("%v of %v", b.Found, all)
		}
	})
}

// Every byte counts: a file that was changed or cut is refused.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole := written(t, build(t, clustered(r, 60, 4)))
	for i := range whole {
		broken := bytes.Clone(whole)
		broken[i] ^= 1 << r.IntN(8)
		if _, _, err := Read(broken, tag); err == nil {
			t.Fatalf("byte %d was changed, and it was read", i)
		}
		if _, _, err := Read(whole[:i], tag); err == nil {
			t.Fatalf("%d of %d bytes were read", i, len(whole))
		}
	}
	if _, _, err := Read(whole, [32]byte{9}); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
}

// FuzzRead corrects the sum, so that what lies behind it is tried.
func FuzzRead(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	f.Add(written(f, build(f, clustered(r, 60, 4))))
	f.Add(written(f, New(3, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = sealed(data)
		g, _, err := Read(data, tag)
		if err != nil {
			return
		}
		q := unit(rand.New(rand.NewPCG(1, 2)), nil, g.Dims(), 1)
		if len(g.Search(q, 5)) > 5 || g.Add(-1, q) != nil || g.Compact().Len() != g.Len() {
			t.Error("it was read, and does not work")
		}
	})
}

// 10,000 x 384, or HERMES_BENCH_VECTORS of them: exact, by the graph, and with 30 % deleted.
func BenchmarkNearest(b *testing.B) {
	n := 10_000
	if text := os.Getenv("HERMES_BENCH_VECTORS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	vectors := clustered(r, n, 384)
	ask := questions(r, vectors, 200)
	g := build(b, vectors)
	run := func(name string, find func(q []float32) []Near) {
		b.Run(name, func(b *testing.B) {
			i, before := 0, cpuTime(b)
			for b.Loop() {
				find(ask[i%len(ask)])
				i++
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(i), "cpu-ms/op")
			b.ReportMetric(recallAt5(g, ask[:50]), "recall@5")
		})
	}
	run("exact", func(q []float32) []Near { return g.Exact(q, 5) })
	run("graph", func(q []float32) []Near { return g.Search(q, 5) })
	for i := range n * 3 / 10 {
		g.Delete(int64(i))
	}
	run("deleted", func(q []float32) []Near { return g.Search(q, 5) })
	b.StopTimer()
}

// cpuTime is what this process has used: on a busy machine the clock on the wall says little.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestManyVectors(t *testing.T) {
	testskip.LongWithoutRace(t, "10,000 x 384")
	r := rand.New(rand.NewPCG(1, 2))
	vectors := clustered(r, 10_000, 384)
	g, ask := build(t, vectors), questions(r, vectors, 200)
	before := recallAt5(g, ask)
	for i := range 3000 {
		g.Delete(int64(i))
	}
	if after := recallAt5(g, ask); before < 0.98 || after < 0.98 {
		t.Errorf("recall@5 %.3f, with 30 %% deleted %.3f", before, after)
	}
}
