package hnsw

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every length, and every place in memory: the fast product is the plain one.
func TestProductsAreEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	room := make([]float32, 3*1600)
	for i := range room {
		room[i] = float32(r.NormFloat64())
	}
	for n := range 1537 {
		from := r.IntN(40)
		a, b := room[from:from+n], room[1600+from/2:1600+from/2+n]
		next := room[len(room)-n:] // its end is the end of the memory
		var want, size float64
		for i := range a {
			want += float64(a[i]) * float64(b[i])
			size += math.Abs(float64(a[i]) * float64(b[i]))
		}
		for name, got := range map[string]float32{"plain": dotPlain(a, b), "fast": Dot(a, b), "before another": dotBefore(a, b, next)} {
			if math.Abs(float64(got)-want) > 1e-6*(1+size) {
				t.Fatalf("%s of %d numbers: %v, want %v", name, n, got, want)
			}
		}
	}
}
