package recall

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"hermes/core/crash"
	"hermes/core/recall/hnsw"
)

const (
	growStep    = 4    // vectors that go into the graph while nobody can search
	saveEvery   = 1000 // changes after which the graph is saved
	testQueries = 20   // a new graph is compared with an exact search
	leastRecall = 0.95
	testTop     = 5
)

// graphPath is where the graph is between two runs. It can go at any time: the table has all.
func (s *Store) graphPath() string { return s.path + ".hnsw" }

func (s *Store) graphTag() [32]byte {
	return sha256.Sum256([]byte(s.namespace + "\x00" + s.vectors.model))
}

// loadGraph reads what was saved. What cannot be used is as if it were not there. The caller holds
// the lock.
func (s *Store) loadGraph() {
	v := &s.vectors
	data, err := os.ReadFile(s.graphPath())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		var g *hnsw.Graph
		var trusted bool
		if g, trusted, err = hnsw.Read(data, s.graphTag()); err == nil {
			v.graph, v.trusted, v.dims, v.saved = g, trusted, g.Dims(), 0
			return
		}
	}
	s.notice("the graph of the vectors is made anew: " + err.Error())
}

// saveGraph writes the graph beside the database. The caller holds the lock for reading at least.
func (s *Store) saveGraph() error {
	v := &s.vectors
	f, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.graphPath())+"-*")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = v.graph.Write(w, s.graphTag(), v.trusted)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), s.graphPath())
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// forgetItems takes items out at once. They may stand in the saved graph, too, which goes with
// them.
func (v *vectorIndex) forgetItems(s *Store, gone []Item) {
	if len(gone) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = os.Remove(s.graphPath()) // it may not be there
	for _, it := range gone {
		if _, ok := v.flat.at[it.ID]; ok {
			v.flat.removeVector(it.ID, v.dims)
		}
		if v.graph != nil && v.graph.Delete(it.ID) {
			v.moved++
			v.saved = saveEvery
		}
	}
}

// growIfLarge starts the goroutine that keeps the graph, when there is work for it. The caller
// holds the lock.
func (s *Store) growIfLarge() {
	v := &s.vectors
	if v.growing || v.countVectors() <= v.graphFrom || !v.needsWork() {
		return
	}
	ctx, stop := context.WithCancel(context.Background()) // until Close
	v.growing, v.stop = true, stop
	v.grown.Add(1)
	crash.Go("graph of vectors", func() {
		defer v.grown.Done()
		s.growGraph(ctx)
	})
}

// needsWork reports whether the graph lacks vectors, has too many deleted ones, or is to be saved.
func (v *vectorIndex) needsWork() bool {
	return v.graph == nil || len(v.flat.ids) > v.graph.Len()/50 || 5*v.graph.Deleted() > v.graph.Len() || v.saved >= saveEvery
}

// growGraph moves the vectors of the flat list into the graph, a few at a time, so that whoever
// asks waits for milliseconds only; then it compares the graph with an exact search, and saves it.
func (s *Store) growGraph(ctx context.Context) {
	v := &s.vectors
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.growing = false
	}()
	for again := true; again; {
		if ctx.Err() != nil {
			return
		}
		again = v.moveSome()
	}
	v.dropDeleted()
	v.mu.RLock()
	model := v.model
	v.mu.RUnlock()
	if err := s.readVectors(ctx, model); err != nil { // another process may have forgotten something
		return
	}
	v.mu.RLock()
	found, ok := v.compareGraph()
	v.mu.RUnlock()
	if !ok {
		return
	}
	v.mu.Lock()
	v.trusted = found >= leastRecall
	v.mu.Unlock()
	if found < leastRecall {
		s.notice(fmt.Sprintf("the graph of the vectors found %.0f %% of what an exact search finds: they are searched exactly", 100*found))
		return
	}
	s.keepGraph()
}

// keepGraph saves the graph, if there is one.
func (s *Store) keepGraph() {
	v := &s.vectors
	v.mu.RLock()
	if v.graph == nil {
		v.mu.RUnlock()
		return
	}
	err := s.saveGraph()
	v.mu.RUnlock()
	if err != nil {
		s.notice("the graph of the vectors was not saved, it is made anew at the next start: " + err.Error())
		return
	}
	v.mu.Lock()
	v.saved = 0
	v.mu.Unlock()
}

// moveSome moves a few vectors and reports whether there are more.
func (v *vectorIndex) moveSome() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dims == 0 {
		return false
	}
	if v.graph == nil {
		v.graph, v.trusted = hnsw.New(v.dims, 1), false
	}
	for range growStep {
		last := len(v.flat.ids) - 1
		if last < 0 {
			return false
		}
		id := v.flat.ids[last]
		if err := v.graph.Add(id, v.flat.vectorAt(last, v.dims)); err != nil {
			return false
		}
		v.flat.removeVector(id, v.dims)
		v.saved++
		v.moved++
	}
	return true
}

// dropDeleted makes a graph without the waypoints, when they are too many.
func (v *vectorIndex) dropDeleted() {
	v.mu.RLock()
	g, moved := v.graph, v.moved
	var small *hnsw.Graph
	if g != nil && 5*g.Deleted() > g.Len() {
		small = g.Compact()
	}
	v.mu.RUnlock()
	if small == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.graph == g && v.moved == moved { // else at the next time
		v.graph = small
	}
}

// compareGraph is which part of what an exact search finds the graph finds, too, for vectors
// between two of its own. It is not ok without any.
func (v *vectorIndex) compareGraph() (part float64, ok bool) {
	if v.graph == nil || v.graph.Len() == 0 {
		return 0, false
	}
	ids := v.graph.IDs()
	random := rand.New(rand.NewPCG(1, uint64(len(ids))))
	found, all := 0, 0
	for range testQueries {
		a, b := v.graph.Vector(ids[random.IntN(len(ids))]), v.graph.Vector(ids[random.IntN(len(ids))])
		mixed := make([]float32, len(a))
		for i := range mixed {
			mixed[i] = a[i] + 0.3*b[i]
		}
		q, err := normalizeVector(mixed)
		if err != nil {
			continue
		}
		near := map[int64]bool{}
		for _, f := range v.graph.Search(q, testTop) {
			near[f.ID] = true
		}
		for _, f := range v.graph.Exact(q, testTop) {
			all++
			if near[f.ID] {
				found++
			}
		}
	}
	return float64(found) / float64(max(all, 1)), true
}

// stopAndSave ends the work at the graph, and saves it when much was done.
func (v *vectorIndex) stopAndSave(s *Store) {
	v.mu.Lock()
	stop, model := v.stop, v.model
	v.mu.Unlock()
	if stop != nil {
		stop()
	}
	v.grown.Wait()
	v.mu.Lock()
	v.growing = true // no more
	much := v.graph != nil && v.saved >= saveEvery
	v.mu.Unlock()
	if much && s.readVectors(context.Background(), model) == nil {
		s.keepGraph()
	}
}
