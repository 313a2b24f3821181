package recall

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Embedder turns texts into vectors.
type Embedder interface {
	// Model names what makes the vectors, with their dimensions: vectors of different models are
	// never compared.
	Model() string
	// Embed returns a vector a text. query says that they are questions, which some models want told.
	Embed(ctx context.Context, texts []string, query bool) ([][]float32, error)
}

const (
	wordsWeight  = 0.7
	vectorWeight = 0.3
	embedBatch   = 128 // texts in one request
	embedInTurn  = 256 // items that a query itself makes vectors for; the rest waits for Embed
)

// vectorIndex holds the vectors of one model in memory: one flat array, searched exactly. 100,000
// vectors of 384 numbers take 154 MB and about 13 ms.
type vectorIndex struct {
	mu    sync.Mutex
	model string
	dims  int
	ids   []int64
	flat  []float32
	seen  int64 // version of the table that was read; see PRAGMA data_version
}

func (v *vectorIndex) drop(gone []Item) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(gone) > 0 {
		v.model = "" // read anew at the next query
	}
}

// Embed makes vectors for at most limit items that have none, newest first, and says how many it
// made.
func (s *Store) Embed(ctx context.Context, limit int) (made int, err error) {
	if s.embedder == nil {
		return 0, nil
	}
	for made < limit {
		batch, err := s.unembedded(ctx, min(embedBatch, limit-made))
		if err != nil || len(batch) == 0 {
			return made, err
		}
		if err := s.embedItems(ctx, batch); err != nil {
			return made, err
		}
		made += len(batch)
	}
	return made, nil
}

func (s *Store) unembedded(ctx context.Context, n int) ([]Item, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT "+columns+` FROM items WHERE namespace=? AND replaced_by IS NULL
 AND id NOT IN (SELECT item FROM vectors WHERE model=?) ORDER BY id DESC LIMIT ?`, s.namespace, s.embedder.Model(), n)
	if err != nil {
		return nil, err
	}
	return items(rows)
}

// embedText is what is embedded of an item: "key: value", as in the article.
func embedText(it Item) string { return it.Key + ": " + it.Value }

func (s *Store) embedItems(ctx context.Context, batch []Item) error {
	texts := make([]string, len(batch))
	for i, it := range batch {
		texts[i] = embedText(it)
	}
	vectors, err := s.embedder.Embed(ctx, texts, false)
	if err != nil {
		return err
	}
	if len(vectors) != len(batch) {
		return fmt.Errorf("%s answered with %d vectors for %d texts", s.embedder.Model(), len(vectors), len(batch))
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		for i, it := range batch {
			unit, err := normalized(vectors[i])
			if err != nil {
				return err
			}
			hash := sha256.Sum256([]byte(texts[i]))
			// The item may be gone or replaced meanwhile.
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO vectors(item,model,hash,vector)
 SELECT id,?,?,? FROM items WHERE id=? AND replaced_by IS NULL`, s.embedder.Model(), hash[:], encodeVector(unit), it.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// normalized is a vector of length 1, so that a product is a cosine.
func normalized(v []float32) ([]float32, error) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("a vector of %d numbers has no direction", len(v))
	}
	out, scale := make([]float32, len(v)), float32(1/math.Sqrt(sum))
	for i, x := range v {
		out[i] = x * scale
	}
	return out, nil
}

func encodeVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// byMeaning returns the cosines of the items nearest to the query, 0 and up.
func (s *Store) byMeaning(ctx context.Context, query string) (scores, error) {
	if _, err := s.Embed(ctx, embedInTurn); err != nil {
		return nil, err
	}
	vectors, err := s.embedder.Embed(ctx, []string{query}, true)
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 {
		return nil, fmt.Errorf("%s answered with %d vectors for one text", s.embedder.Model(), len(vectors))
	}
	q, err := normalized(vectors[0])
	if err != nil {
		return nil, err
	}
	v := &s.vectors
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := s.readVectors(ctx); err != nil {
		return nil, err
	}
	if len(v.ids) > 0 && v.dims != len(q) {
		return nil, fmt.Errorf("%s answers with %d numbers now, and answered with %d before", s.embedder.Model(), len(q), v.dims)
	}
	return v.nearest(q, poolSize), nil
}

// readVectors reads all vectors of the model, unless nothing was written since.
func (s *Store) readVectors(ctx context.Context) error {
	v := &s.vectors
	var seen int64
	if err := s.db.QueryRowContext(ctx, "SELECT COALESCE(max(rowid),0)*1000003+count(*) FROM vectors").Scan(&seen); err != nil {
		return err
	}
	if v.model == s.embedder.Model() && v.seen == seen {
		return nil
	}
	rows, err := s.db.QueryContext(ctx, `SELECT v.item,v.vector FROM vectors v JOIN items i ON i.id=v.item
 WHERE v.model=? AND i.namespace=? AND i.replaced_by IS NULL ORDER BY v.item`, s.embedder.Model(), s.namespace)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	v.model, v.seen, v.ids, v.flat, v.dims = s.embedder.Model(), seen, v.ids[:0], v.flat[:0], 0
	for rows.Next() {
		var id int64
		var raw sql.RawBytes
		if err := rows.Scan(&id, &raw); err != nil {
			return err
		}
		if v.dims == 0 {
			v.dims = len(raw) / 4
		}
		if len(raw) != 4*v.dims || v.dims == 0 {
			continue // damaged, or of other dimensions: as if it had none
		}
		v.ids = append(v.ids, id)
		for i := 0; i < len(raw); i += 4 {
			v.flat = append(v.flat, math.Float32frombits(binary.LittleEndian.Uint32(raw[i:])))
		}
	}
	return rows.Err()
}

// nearest returns the n highest cosines.
func (v *vectorIndex) nearest(q []float32, n int) scores {
	type near struct {
		id  int64
		cos float32
	}
	best := make([]near, 0, n+1)
	for i, id := range v.ids {
		cos := dot(q, v.flat[i*v.dims:(i+1)*v.dims])
		if cos <= 0 || len(best) == n && cos <= best[n-1].cos {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, cos, func(b near, c float32) int {
			if b.cos > c {
				return -1
			}
			return 1
		})
		if best = slices.Insert(best, at, near{id, cos}); len(best) > n {
			best = best[:n]
		}
	}
	out := scores{}
	for _, b := range best {
		out[b.id] = float64(b.cos)
	}
	return out
}

// dot is the product of two vectors of one length, eight numbers a step.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	i := 0
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
}
