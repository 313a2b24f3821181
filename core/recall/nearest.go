package recall

import (
	"context"
	"database/sql"
	"encoding/binary"
	"math"
	"os"
	"sync"
	"time"

	"hermes/core/recall/hnsw"
	"hermes/core/rows"
)

// graphFrom is how many vectors make a graph worth its price. Fewer are searched exactly: 50,000 of
// 384 numbers in about 7 ms.
const graphFrom = 50_000

// vectorIndex holds the vectors of one model in memory, each either in the flat list, which is
// searched exactly, or in the graph. The table is the truth: what changed in it is read before a
// search. Above graphFrom vectors a goroutine moves them into the graph, see grow.
type vectorIndex struct {
	mu      sync.RWMutex
	model   string // "": nothing was read yet
	version int64  // of the table that was read
	dims    int
	flat    flat
	graph   *hnsw.Graph // nil: none
	trusted bool        // the graph finds what an exact search finds
	saved   int         // changes of the graph since it was saved
	moved   int64       // changes of the graph, ever

	floor     floor
	graphFrom int
	growing   bool
	stop      context.CancelFunc
	grown     sync.WaitGroup

	restUntil time.Time // a server that failed is not asked before
	restWhy   error
}

// flat is a list of vectors in one piece.
type flat struct {
	ids     []int64
	numbers []float32
	at      map[int64]int
}

func (f *flat) addVector(id int64, raw []byte) {
	if f.at == nil {
		f.at = map[int64]int{}
	}
	f.at[id] = len(f.ids)
	f.ids = append(f.ids, id)
	for i := 0; i < len(raw); i += 4 {
		f.numbers = append(f.numbers, math.Float32frombits(binary.LittleEndian.Uint32(raw[i:])))
	}
}

func (f *flat) vectorAt(i, dims int) []float32 { return f.numbers[i*dims : (i+1)*dims] }

// removeVector puts the last one in its place.
func (f *flat) removeVector(id int64, dims int) {
	i, last := f.at[id], len(f.ids)-1
	copy(f.vectorAt(i, dims), f.vectorAt(last, dims))
	f.ids[i] = f.ids[last]
	f.at[f.ids[i]] = i
	delete(f.at, id)
	f.ids, f.numbers = f.ids[:last], f.numbers[:last*dims]
}

func (v *vectorIndex) hasItem(id int64) bool {
	if _, ok := v.flat.at[id]; ok {
		return true
	}
	return v.graph != nil && v.graph.Has(id)
}

func (v *vectorIndex) countVectors() int {
	n := len(v.flat.ids)
	if v.graph != nil {
		n += v.graph.Len()
	}
	return n
}

func (v *vectorIndex) restUntilTime(until time.Time, why error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.restUntil, v.restWhy = until, why
}

// whyResting is why no question is asked now.
func (v *vectorIndex) whyResting(now time.Time) error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if now.Before(v.restUntil) {
		return v.restWhy
	}
	return nil
}

// forgetSaved forgets what was read and what was saved.
func (v *vectorIndex) forgetSaved(s *Store) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = os.Remove(s.graphPath()) // it may not be there
	v.clearFor("")
}

func (v *vectorIndex) clearFor(model string) {
	v.model, v.version, v.dims, v.flat, v.graph, v.trusted = model, 0, 0, flat{}, nil, false
	v.floor = floor{}
	v.moved++
}

// nearestItems returns the n highest cosines, and how many numbers the vectors have; 0: there are
// none.
func (v *vectorIndex) nearestItems(q []float32, n int) (near scores, dims int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.countVectors() == 0 {
		return nil, 0
	}
	if len(q) != v.dims {
		return nil, v.dims
	}
	near = scores{}
	for _, f := range v.searchBoth(q, n, v.trusted) {
		if f.Cos > 0 {
			near[f.ID] = float64(f.Cos)
		}
	}
	return near, v.dims
}

// searchBoth joins the graph and the flat list, nearest first.
func (v *vectorIndex) searchBoth(q []float32, n int, byGraph bool) []hnsw.Near {
	best := hnsw.Best{K: n}
	for i, id := range v.flat.ids {
		best.Add(id, hnsw.Dot(q, v.flat.vectorAt(i, v.dims)))
	}
	if v.graph == nil {
		return best.Found
	}
	find := v.graph.Exact
	if byGraph {
		find = v.graph.Search
	}
	for _, f := range find(q, n) {
		best.Add(f.ID, f.Cos)
	}
	return best.Found
}

// readVectors brings the index up to what the table has of the model.
func (s *Store) readVectors(ctx context.Context, model string) error {
	v := &s.vectors
	v.mu.Lock()
	defer v.mu.Unlock()
	var version int64
	if err := s.db.QueryRowContext(ctx, "SELECT n FROM vector_changes").Scan(&version); err != nil {
		return err
	}
	if v.model == model && v.version == version {
		return nil
	}
	if v.model != model {
		v.clearFor(model)
		s.loadGraph()
	}
	ids, err := s.vectorIDs(ctx, model)
	if err != nil {
		return err
	}
	if v.removeOthers(ids); v.countVectors() == 0 {
		v.clearFor(model) // their dimensions count no more
	}
	if err := s.addMissing(ctx, model, ids); err != nil {
		v.clearFor("")
		return err
	}
	v.version = version
	s.growIfLarge()
	return nil
}

// vectorIDs are the items that have a vector of the model.
func (s *Store) vectorIDs(ctx context.Context, model string) (map[int64]bool, error) {
	answer := rows.Ask(ctx, s.db, `SELECT v.item FROM vectors v JOIN items i ON i.id=v.item
 WHERE v.model=? AND i.namespace=? AND i.replaced_by IS NULL`, model, s.namespace)
	list, err := rows.Column[int64](answer)
	ids := make(map[int64]bool, len(list))
	for _, id := range list {
		ids[id] = true
	}
	return ids, err
}

func (v *vectorIndex) removeOthers(ids map[int64]bool) {
	for i := 0; i < len(v.flat.ids); {
		if id := v.flat.ids[i]; !ids[id] {
			v.flat.removeVector(id, v.dims)
			continue
		}
		i++
	}
	if v.graph == nil {
		return
	}
	for _, id := range v.graph.IDs() {
		if !ids[id] {
			v.graph.Delete(id)
			v.saved++
			v.moved++
		}
	}
}

const readStep = 500 // vectors in one question to the database

// addMissing reads the vectors that the index does not have.
func (s *Store) addMissing(ctx context.Context, model string, ids map[int64]bool) error {
	var missing []int64
	for id := range ids {
		if !s.vectors.hasItem(id) {
			missing = append(missing, id)
		}
	}
	for len(missing) > 0 {
		n := min(readStep, len(missing))
		if err := s.addVectors(ctx, model, missing[:n]); err != nil {
			return err
		}
		missing = missing[n:]
	}
	return nil
}

func (s *Store) addVectors(ctx context.Context, model string, ids []int64) error {
	answer := rows.Ask(ctx, s.db, "SELECT item,vector FROM vectors WHERE model=? AND item IN ("+joinIDs(ids)+")", model)
	v := &s.vectors
	return answer.Each(func(r rows.Scanner) error {
		var id int64
		var raw sql.RawBytes
		if err := r.Scan(&id, &raw); err != nil {
			return err
		}
		if v.dims == 0 {
			v.dims = len(raw) / 4
		}
		if len(raw) == 4*v.dims && v.dims > 0 { // else damaged, or of other dimensions: as if it had none
			v.flat.addVector(id, raw)
		}
		return nil
	})
}
