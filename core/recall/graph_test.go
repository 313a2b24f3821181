package recall

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
)

// hashes is an embedder whose vectors are random, but equal for equal texts.
type hashes struct{}

func (hashes) Model() string { return "hashes" }

func (hashes) Embed(_ context.Context, texts []string, _ bool) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i, t := range texts {
		h := fnv.New64()
		_, _ = h.Write([]byte(t))
		all[i] = randomUnit(rand.New(rand.NewPCG(h.Sum64(), 1)), 16)
	}
	return all, nil
}

// openGraph opens a store that makes a graph of more than 100 vectors.
func openGraph(t testing.TB, path string, notice func(string)) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, Options{Embedder: hashes{}, Notice: notice})
	if err != nil {
		t.Fatal(err)
	}
	s.vectors.graphFrom = 100
	return s
}

func fill(t testing.TB, s *Store, from, to int) {
	t.Helper()
	var all []Item
	for i := from; i < to; i++ {
		all = append(all, Item{Key: fmt.Sprintf("fact %d", i), Value: fmt.Sprintf("value %d", i)})
	}
	if _, err := s.PutAll(context.Background(), all); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Embed(context.Background(), len(all)); err != nil {
		t.Fatal(err)
	}
}

// first is the item whose vector is nearest to that of a fact.
func first(t testing.TB, s *Store, text string) int64 {
	t.Helper()
	near, _, err := s.byMeaning(context.Background(), hashes{}, text, false)
	if err != nil {
		t.Fatal(err)
	}
	if best := near.bestIDs(1); len(best) == 1 && near[best[0]] > 0.999 {
		return best[0]
	}
	return 0
}

func fact(i int) string { return fmt.Sprintf("fact %d: value %d", i, i) }

func TestManyVectorsBecomeAGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recall.db")
	s := openGraph(t, path, func(text string) { t.Errorf("told: %s", text) })
	fill(t, s, 0, 500)
	for range 3 { // while it grows and after
		for i := 0; i < 500; i += 50 {
			if got := first(t, s, fact(i)); got != int64(i+1) {
				t.Fatalf("fact %d: found %d", i, got)
			}
		}
		s.vectors.grown.Wait()
	}
	if v := &s.vectors; v.graph == nil || v.graph.Len() != 500 || !v.trusted || len(v.flat.ids) != 0 {
		t.Fatal("there is no graph of all")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The next one has the graph from the file, and what came and went since from the table.
	s = openGraph(t, path, func(text string) { t.Errorf("told: %s", text) })
	fill(t, s, 500, 505)
	if _, err := s.Forget(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.graphPath()); err == nil {
		t.Error("what was forgotten is still in the file of the graph")
	}
	if err := s.saveAgain(t); err != nil {
		t.Fatal(err)
	}
	if got := first(t, s, fact(6)); got != 0 {
		t.Errorf("a forgotten fact was found: %d", got)
	}
	for _, i := range []int{0, 100, 499, 501, 504} {
		if got := first(t, s, fact(i)); got != int64(i+1) {
			t.Errorf("fact %d: found %d", i, got)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	vector := encodeVector(must(hashes{}.Embed(t.Context(), []string{fact(6)}, false))[0])
	for _, f := range must(filepath.Glob(path + "*")) {
		if bytes.Contains(must(os.ReadFile(f)), vector) {
			t.Errorf("the vector of a forgotten fact is in %s", f)
		}
	}
}

// saveAgain has the graph read what is there, grow and be saved.
func (s *Store) saveAgain(t testing.TB) error {
	t.Helper()
	if err := s.readVectors(context.Background(), "hashes"); err != nil {
		return err
	}
	s.vectors.grown.Wait()
	s.keepGraph()
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A damaged file, one of another namespace and one of another version are made anew, and said.
func TestADamagedGraphIsMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recall.db")
	s := openGraph(t, path, nil)
	fill(t, s, 0, 300)
	if err := s.saveAgain(t); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := must(os.ReadFile(path + ".hnsw"))
	for name, broken := range map[string][]byte{
		"cut": whole[:len(whole)/2], "empty": {}, "a bit": append([]byte{whole[0] ^ 1}, whole[1:]...),
		"inside": append(append(append([]byte{}, whole[:999]...), whole[999]^4), whole[1000:]...),
	} {
		if err := os.WriteFile(path+".hnsw", broken, 0o600); err != nil {
			t.Fatal(err)
		}
		told := ""
		s := openGraph(t, path, func(text string) { told += text })
		if got := first(t, s, fact(42)); got != 43 {
			t.Errorf("%s: found %d", name, got)
		}
		s.vectors.grown.Wait()
		if !strings.Contains(told, "made anew") || !s.vectors.trusted {
			t.Errorf("%s: told %q, trusted %v", name, told, s.vectors.trusted)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Many deletions make a graph without waypoints.
func TestDeletedVectorsGo(t *testing.T) {
	s := openGraph(t, filepath.Join(t.TempDir(), "recall.db"), nil)
	defer func() { _ = s.Close() }()
	fill(t, s, 0, 400)
	if err := s.saveAgain(t); err != nil {
		t.Fatal(err)
	}
	for id := int64(1); id <= 120; id++ {
		if _, err := s.db.ExecContext(t.Context(), "DELETE FROM items WHERE id=?", id); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.saveAgain(t); err != nil {
		t.Fatal(err)
	}
	if g := s.vectors.graph; g.Len() != 280 || g.Deleted() != 0 {
		t.Errorf("%d vectors, %d deleted", g.Len(), g.Deleted())
	}
	if got := first(t, s, fact(300)); got != 301 {
		t.Errorf("found %d", got)
	}
}

const killedStore = "HERMES_TEST_KILLED_STORE"

// A process that is killed in the middle leaves a store that finds everything.
func TestKilledWhileTheGraphGrows(t *testing.T) {
	if path := os.Getenv(killedStore); path != "" {
		s := openGraph(t, path, nil)
		for i := 0; ; i += 20 {
			fill(t, s, i, i+20)
			_ = first(t, s, fact(i))
			if i == 200 {
				fmt.Println("going on")
			}
			s.vectors.mu.Lock()
			s.vectors.saved = saveEvery // every change is worth a file
			s.vectors.mu.Unlock()
		}
	}
	path := filepath.Join(t.TempDir(), "recall.db")
	for round := range 3 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledWhileTheGraphGrows$", "-test.v")
		cmd.Env = append(os.Environ(), killedStore+"="+path)
		out := must(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		started := make(chan bool)
		go func() {
			seen := make([]byte, 0, 1<<16)
			for !bytes.Contains(seen, []byte("going on")) {
				b := make([]byte, 1024)
				n, err := out.Read(b)
				if seen = append(seen, b[:n]...); err != nil {
					break
				}
			}
			started <- true
		}()
		select {
		case <-started:
		case <-time.After(testwait.Hang):
			t.Error("it did not come so far")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		s := openGraph(t, path, nil)
		all, err := s.List(t.Context(), Listing{})
		if err != nil || len(all) < 200 {
			t.Fatalf("round %d: %d facts, %v", round, len(all), err)
		}
		if _, err := s.Embed(t.Context(), len(all)); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(all); i += 37 {
			if got := first(t, s, all[i].Key+": "+all[i].Value); got != all[i].ID {
				t.Errorf("round %d: %s found %d, want %d", round, all[i].Key, got, all[i].ID)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
