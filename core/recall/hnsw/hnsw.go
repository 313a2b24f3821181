// Package hnsw finds the nearest of many vectors without looking at all of them: a hierarchical
// navigable small world graph (Malkov and Yashunin, arXiv 1603.09320) in memory.
//
// The contract:
//
//   - All vectors have one number of dimensions and length 1; nearness is their product.
//   - What is deleted is never found. Its node stays as a waypoint until Compact.
//   - Search is approximate, Exact is not. Both are safe beside each other; nothing else is.
//   - Read takes any bytes: what is no whole graph is an error, never a panic.
package hnsw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// The parameters of the article that Hermes was designed from.
const (
	degree      = 32         // neighbours of a node; twice as many on the ground level
	ground      = 2 * degree // neighbours on the ground level
	buildWidth  = 200        // ef_construction
	SearchWidth = 100        // ef: how many are looked at, at least
	maxLevel    = 15

	// Of a full list this part stays, so that the next ones find room: to choose anew for each of them
	// was a third of the time of building a graph.
	kept, parts = 3, 4
)

// Graph is a set of vectors, each with an id.
type Graph struct {
	dims    int
	ids     []int64
	vectors []float32 // dims a node
	gone    []bool
	level   []uint8
	low     []uint32   // the ground level: ground+1 a node, their number first
	high    [][]uint32 // levels above: degree+1 a level; nil for most nodes
	at      map[int64]uint32
	entry   uint32
	deleted int

	random *rand.Rand
	fresh  *scratch  // of Add
	pool   sync.Pool // of *scratch, for Search
}

// New makes an empty Graph. Equal seeds and steps make equal graphs.
func New(dims int, seed uint64) *Graph {
	return &Graph{dims: dims, at: map[int64]uint32{}, random: rand.New(rand.NewPCG(seed, seed)), fresh: &scratch{}}
}

// Near is a vector that was found.
type Near struct {
	ID  int64
	Cos float32
}

// Len is how many vectors can be found.
func (g *Graph) Len() int { return len(g.at) }

// Deleted is how many nodes are waypoints only.
func (g *Graph) Deleted() int { return g.deleted }

// Dims is the number of dimensions.
func (g *Graph) Dims() int { return g.dims }

// Has reports whether an id can be found.
func (g *Graph) Has(id int64) bool {
	_, ok := g.at[id]
	return ok
}

// IDs are those that can be found, in no order.
func (g *Graph) IDs() []int64 {
	out := make([]int64, 0, len(g.at))
	for id := range g.at {
		out = append(out, id)
	}
	return out
}

// Vector is that of an id, nil when there is none.
func (g *Graph) Vector(id int64) []float32 {
	n, ok := g.at[id]
	if !ok {
		return nil
	}
	return g.vectorOf(n)
}

func (g *Graph) vectorOf(n uint32) []float32 {
	from := int(n) * g.dims
	return g.vectors[from : from+g.dims : from+g.dims]
}

// links are the neighbours of a node on a level.
func (g *Graph) links(n uint32, level int) []uint32 {
	list := g.neighbours(n, level)
	return list[1 : 1+list[0]]
}

// neighbours is the same with the number first, and with room up to its limit.
func (g *Graph) neighbours(n uint32, level int) []uint32 {
	if level == 0 {
		from := int(n) * (ground + 1)
		return g.low[from : from+ground+1]
	}
	from := (level - 1) * (degree + 1)
	return g.high[n][from : from+degree+1]
}

// Add puts a vector in. An id that is there gets the new vector.
func (g *Graph) Add(id int64, v []float32) error {
	if len(v) != g.dims {
		return fmt.Errorf("a vector of %d numbers in a graph of %d dimensions", len(v), g.dims)
	}
	if len(g.ids) >= math.MaxInt32 {
		return fmt.Errorf("more than %d vectors", math.MaxInt32)
	}
	g.Delete(id)
	n, level := uint32(len(g.ids)), g.pickLevel()
	top := g.topLevel()
	g.append(id, v, level)
	if n == 0 {
		return nil
	}
	s := g.fresh
	best := near{g.entry, Dot(v, g.vectorOf(g.entry))}
	for l := top; l > level; l-- {
		best = g.descend(v, best, l)
	}
	starts := []near{best}
	for l := min(level, top); l >= 0; l-- {
		found := g.searchLevel(s, v, starts, buildWidth, l, nil)
		chosen := g.choose(s, found, degree)
		mine := g.neighbours(n, l)
		for i, c := range chosen {
			mine[1+i] = c.node
			g.linkBack(s, c.node, n, c.cos, l)
		}
		mine[0] = uint32(len(chosen))
		starts = found
	}
	if level > top {
		g.entry = n
	}
	return nil
}

func (g *Graph) append(id int64, v []float32, level int) {
	g.at[id] = uint32(len(g.ids))
	g.ids, g.gone = append(g.ids, id), append(g.gone, false)
	g.vectors = append(g.vectors, v...)
	g.level = append(g.level, uint8(level))
	g.low = append(g.low, make([]uint32, ground+1)...)
	var high []uint32
	if level > 0 {
		high = make([]uint32, level*(degree+1))
	}
	g.high = append(g.high, high)
}

func (g *Graph) pickLevel() int {
	return min(int(-math.Log(1-g.random.Float64())/math.Log(degree)), maxLevel)
}

func (g *Graph) topLevel() int {
	if len(g.ids) == 0 {
		return 0
	}
	return int(g.level[g.entry])
}

// linkBack gives a node one more neighbour. When it has too many, the best are chosen anew.
func (g *Graph) linkBack(s *scratch, node, to uint32, cos float32, level int) {
	list := g.neighbours(node, level)
	if n := list[0]; int(n) < len(list)-1 {
		list[1+n], list[0] = to, n+1
		return
	}
	v := g.vectorOf(node)
	s.spare = append(s.spare[:0], near{to, cos})
	for _, other := range list[1:] {
		s.spare = append(s.spare, near{other, Dot(v, g.vectorOf(other))})
	}
	slices.SortFunc(s.spare, nearest)
	for i, c := range g.choose(s, s.spare, (len(list)-1)*kept/parts) {
		list[1+i], list[0] = c.node, uint32(i+1)
	}
}

// choose takes at most n of what was found, nearest first: those that are nearer to the new node
// than to one that was taken, so that ways lead in all directions; then the nearest of the others.
func (g *Graph) choose(s *scratch, found []near, n int) []near {
	taken, pruned := s.taken[:0], s.pruned[:0]
	for _, f := range found {
		if len(taken) == n {
			break
		}
		v, good := g.vectorOf(f.node), true
		for _, t := range taken {
			if Dot(v, g.vectorOf(t.node)) > f.cos {
				good = false
				break
			}
		}
		if good {
			taken = append(taken, f)
		} else {
			pruned = append(pruned, f)
		}
	}
	s.pruned = pruned
	taken = append(taken, pruned[:min(len(pruned), n-len(taken))]...)
	s.taken = taken
	return taken
}

// Delete takes an id out and reports whether it was there.
func (g *Graph) Delete(id int64) bool {
	n, ok := g.at[id]
	if !ok {
		return false
	}
	delete(g.at, id)
	g.gone[n] = true
	g.deleted++
	return true
}

// Search returns about the k nearest, nearest first.
func (g *Graph) Search(q []float32, k int) []Near {
	if len(g.at) == 0 || len(q) != g.dims || k < 1 {
		return nil
	}
	s, ok := g.pool.Get().(*scratch)
	if !ok {
		s = &scratch{}
	}
	defer g.pool.Put(s)
	best := near{g.entry, Dot(q, g.vectorOf(g.entry))}
	for l := g.topLevel(); l > 0; l-- {
		best = g.descend(q, best, l)
	}
	found := g.searchLevel(s, q, []near{best}, max(k, SearchWidth), 0, g.gone)
	out := make([]Near, min(k, len(found)))
	for i := range out {
		out[i] = Near{g.ids[found[i].node], found[i].cos}
	}
	return out
}

// Exact returns the k nearest, nearest first: it looks at all.
func (g *Graph) Exact(q []float32, k int) []Near {
	if len(q) != g.dims || k < 1 {
		return nil
	}
	best := Best{K: k}
	for n, id := range g.ids {
		if !g.gone[n] {
			best.Add(id, Dot(q, g.vectorOf(uint32(n))))
		}
	}
	return best.Found
}

// descend goes to the nearest node of a level, from neighbour to neighbour.
func (g *Graph) descend(q []float32, from near, level int) near {
	for {
		before := from.node
		for _, n := range g.links(before, level) {
			if cos := Dot(q, g.vectorOf(n)); cos > from.cos {
				from = near{n, cos}
			}
		}
		if from.node == before {
			return from
		}
	}
}

// searchLevel returns about the width nearest nodes of a level, nearest first. Nodes that are
// hidden are waypoints only. The result is good until the next search with the same scratch.
func (g *Graph) searchLevel(s *scratch, q []float32, starts []near, width, level int, hidden []bool) []near {
	s.begin(len(g.ids))
	for _, st := range starts {
		s.visit(st.node)
		s.todo.push(st)
		if hidden == nil || !hidden[st.node] {
			s.best.push(near{st.node, -st.cos})
		}
	}
	for len(s.best) > width {
		s.best.pop()
	}
	for len(s.todo) > 0 {
		next := s.todo.pop()
		if len(s.best) >= width && next.cos < -s.best[0].cos {
			break
		}
		fresh := s.visitNew(g.links(next.node, level))
		for i, n := range fresh {
			cos := dotBefore(q, g.vectorOf(n), g.vectorOf(fresh[min(i+1, len(fresh)-1)]))
			if len(s.best) >= width && cos <= -s.best[0].cos {
				continue
			}
			s.todo.push(near{n, cos})
			if hidden != nil && hidden[n] {
				continue
			}
			if s.best.push(near{n, -cos}); len(s.best) > width {
				s.best.pop()
			}
		}
	}
	s.found = s.found[:0]
	for _, b := range s.best {
		s.found = append(s.found, near{b.node, -b.cos})
	}
	slices.SortFunc(s.found, nearest)
	return s.found
}
