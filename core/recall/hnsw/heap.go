package hnsw

import (
	"cmp"
	"slices"
)

// near is a node that was seen, with its nearness.
type near struct {
	node uint32
	cos  float32
}

func nearest(a, b near) int {
	return cmp.Or(cmp.Compare(b.cos, a.cos), cmp.Compare(a.node, b.node))
}

// heap has the largest cos first.
type heap []near

func (h *heap) push(x near) {
	*h = append(*h, x)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if s[up].cos >= s[i].cos {
			break
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
}

func (h *heap) pop() near {
	s := *h
	first, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			break
		}
		if right := down + 1; right < last && s[right].cos > s[down].cos {
			down = right
		}
		if s[i].cos >= s[down].cos {
			break
		}
		s[i], s[down] = s[down], s[i]
		i = down
	}
	*h = s
	return first
}

// scratch is the memory of one search.
type scratch struct {
	seen   []uint32 // the round in which a node was last visited
	round  uint32
	todo   heap
	best   heap // of negated nearness: the worst of the best first
	found  []near
	taken  []near
	pruned []near
	spare  []near
	fresh  []uint32
}

func (s *scratch) begin(nodes int) {
	if s.round++; len(s.seen) < nodes || s.round == 0 {
		s.seen, s.round = make([]uint32, nodes+nodes/4+64), 1
	}
	s.todo, s.best = s.todo[:0], s.best[:0]
}

// visit reports whether the node is new in this round.
func (s *scratch) visit(n uint32) bool {
	if s.seen[n] == s.round {
		return false
	}
	s.seen[n] = s.round
	return true
}

// visitNew visits nodes and returns those that are new in this round, until it is called again.
func (s *scratch) visitNew(nodes []uint32) []uint32 {
	s.fresh = s.fresh[:0]
	for _, n := range nodes {
		if s.visit(n) {
			s.fresh = append(s.fresh, n)
		}
	}
	return s.fresh
}

// Best keeps the K nearest of what is added, nearest first.
type Best struct {
	K     int
	Found []Near
}

// Add puts one in, if it is near enough.
func (b *Best) Add(id int64, cos float32) {
	if len(b.Found) == b.K && cos <= b.Found[b.K-1].Cos {
		return
	}
	at, _ := slices.BinarySearchFunc(b.Found, cos, func(n Near, c float32) int {
		if n.Cos > c {
			return -1
		}
		return 1
	})
	if b.Found = slices.Insert(b.Found, at, Near{id, cos}); len(b.Found) > b.K {
		b.Found = b.Found[:b.K]
	}
}
