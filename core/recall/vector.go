package recall

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// Embedder turns texts into vectors.
type Embedder interface {
	// Model names what makes the vectors, with their dimensions: vectors of different models are
	// never compared. "" says that there is none now: it goes by words.
	Model() string
	// Embed returns a vector a text. query says that they are questions, which some models want told.
	Embed(ctx context.Context, texts []string, query bool) ([][]float32, error)
}

const (
	wordsWeight  = 0.7
	vectorWeight = 0.3
	embedBatch   = 128 // items whose vectors are made at a time

	queryTime   = 1500 * time.Millisecond // for the vector of a question
	restAfter   = 30 * time.Second        // without questions to a server that failed
	maxNoteSize = 300                     // characters of what a server said
)

// vectorIndex holds the vectors of one model in memory: one flat array, searched exactly. 100,000
// vectors of 384 numbers take 154 MB and about 13 ms.
type vectorIndex struct {
	mu    sync.Mutex
	model string
	dims  int
	ids   []int64
	flat  []float32
	seen  int64 // what the table looked like when it was read

	restUntil time.Time // a server that failed is not asked before
	restWhy   error
}

func (v *vectorIndex) drop(gone []Item) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(gone) > 0 {
		v.model = "" // read anew at the next query
	}
}

// embedding is what makes vectors now; nil when nothing does.
func (s *Store) embedding() Embedder {
	if s.embedder == nil || s.embedder.Model() == "" {
		return nil
	}
	return s.embedder
}

// Embed makes vectors for at most limit items that have none, newest first, and says how many it
// made.
func (s *Store) Embed(ctx context.Context, limit int) (made int, err error) {
	e := s.embedding()
	for e != nil && made < limit {
		batch, err := s.unembedded(ctx, e.Model(), min(embedBatch, limit-made))
		if err != nil || len(batch) == 0 {
			return made, err
		}
		if err := s.embedItems(ctx, e, batch); err != nil {
			return made, err
		}
		made += len(batch)
	}
	return made, nil
}

// Vectors says by which model vectors are made, "" by none, and how many items have one.
func (s *Store) Vectors(ctx context.Context) (model string, have int, err error) {
	e := s.embedding()
	if e == nil {
		return "", 0, nil
	}
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM vectors v JOIN items i ON i.id=v.item
 WHERE v.model=? AND i.namespace=? AND i.replaced_by IS NULL`, e.Model(), s.namespace).Scan(&have)
	return e.Model(), have, err
}

func (s *Store) unembedded(ctx context.Context, model string, n int) ([]Item, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT "+columns+` FROM items WHERE namespace=? AND replaced_by IS NULL
 AND id NOT IN (SELECT item FROM vectors WHERE model=?) ORDER BY id DESC LIMIT ?`, s.namespace, model, n)
	if err != nil {
		return nil, err
	}
	return items(rows)
}

// embedText is what is embedded of an item: "key: value", as in the article.
func embedText(it Item) string { return it.Key + ": " + it.Value }

func (s *Store) embedItems(ctx context.Context, e Embedder, batch []Item) error {
	model := e.Model()
	texts := make([]string, len(batch))
	for i, it := range batch {
		texts[i] = embedText(it)
	}
	vectors, err := e.Embed(ctx, texts, false)
	if err != nil {
		return err
	}
	if len(vectors) != len(batch) {
		return fmt.Errorf("%s answered with %d vectors for %d texts", model, len(vectors), len(batch))
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
 SELECT id,?,?,? FROM items WHERE id=? AND replaced_by IS NULL`, model, hash[:], encodeVector(unit), it.ID); err != nil {
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

// byMeaning returns the cosines of the items nearest to the query, 0 and up. Whoever asks waits: a
// server that is slow or away costs little, and then nothing for a while.
func (s *Store) byMeaning(ctx context.Context, e Embedder, query string) (scores, error) {
	v := &s.vectors
	if err := v.resting(s.now()); err != nil {
		return nil, err
	}
	q, err := queryVector(ctx, e, query)
	if err != nil {
		v.rest(s.now().Add(restAfter), err)
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := s.readVectors(ctx, e.Model()); err != nil {
		return nil, err
	}
	if len(v.ids) > 0 && v.dims != len(q) {
		// The model changed behind its name. Its old vectors mean nothing any more.
		v.model = ""
		_, err := s.db.ExecContext(ctx, "DELETE FROM vectors WHERE model=? AND length(vector)<>?", e.Model(), 4*len(q))
		s.changed()
		return nil, errors.Join(fmt.Errorf("%s answers with %d numbers now, and answered with %d before: its vectors are made anew",
			e.Model(), len(q), v.dims), err)
	}
	return v.nearest(q, poolSize), nil
}

// queryVector is the vector of a query.
func queryVector(ctx context.Context, e Embedder, query string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	vectors, err := e.Embed(ctx, []string{query}, true)
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 {
		return nil, fmt.Errorf("%s answered with %d vectors for one text", e.Model(), len(vectors))
	}
	return normalized(vectors[0])
}

func (v *vectorIndex) rest(until time.Time, why error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.restUntil, v.restWhy = until, why
}

// resting is why no question is asked now.
func (v *vectorIndex) resting(now time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now.Before(v.restUntil) {
		return v.restWhy
	}
	return nil
}

// readVectors reads all vectors of the model, unless nothing was written since.
func (s *Store) readVectors(ctx context.Context, model string) error {
	v := &s.vectors
	var seen int64
	if err := s.db.QueryRowContext(ctx, "SELECT COALESCE(max(rowid),0)*1000003+count(*) FROM vectors").Scan(&seen); err != nil {
		return err
	}
	if v.model == model && v.seen == seen {
		return nil
	}
	rows, err := s.db.QueryContext(ctx, `SELECT v.item,v.vector FROM vectors v JOIN items i ON i.id=v.item
 WHERE v.model=? AND i.namespace=? AND i.replaced_by IS NULL ORDER BY v.item`, model, s.namespace)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	v.model, v.seen, v.ids, v.flat, v.dims = model, seen, v.ids[:0], v.flat[:0], 0
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
