package hnsw

import "slices"

// Compact is the graph without what was deleted: who had a deleted neighbour gets that one's
// neighbours to choose from. The graph itself stays as it is.
func (g *Graph) Compact() *Graph {
	c := New(g.dims, g.random.Uint64())
	to := make([]uint32, len(g.ids)) // the node that it becomes
	for n, id := range g.ids {
		if !g.gone[n] {
			to[n] = uint32(len(c.ids))
			c.append(id, g.vectorOf(uint32(n)), int(g.level[n]))
			if int(g.level[n]) > c.topLevel() {
				c.entry = to[n]
			}
		}
	}
	s := &scratch{}
	for n := range g.ids {
		if g.gone[n] {
			continue
		}
		for l := range int(g.level[n]) + 1 {
			list := c.neighbours(to[n], l)
			for i, link := range g.living(s, uint32(n), l, len(list)-1) {
				list[1+i], list[0] = to[link.node], uint32(i+1)
			}
		}
	}
	return c
}

// living are the neighbours of a node on a level, those of deleted ones in their place.
func (g *Graph) living(s *scratch, n uint32, level, most int) []near {
	s.begin(len(g.ids))
	s.visit(n)
	v, all, lost := g.vectorOf(n), s.spare[:0], false
	for _, link := range g.links(n, level) {
		if !g.gone[link] {
			if s.visit(link) {
				all = append(all, near{link, Dot(v, g.vectorOf(link))})
			}
			continue
		}
		lost = true
		for _, beyond := range g.links(link, level) {
			if !g.gone[beyond] && s.visit(beyond) {
				all = append(all, near{beyond, Dot(v, g.vectorOf(beyond))})
			}
		}
	}
	s.spare = all
	if !lost {
		return all
	}
	slices.SortFunc(all, nearest)
	return g.choose(s, all, most)
}
