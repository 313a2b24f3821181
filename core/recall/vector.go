package recall

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"hermes/core/rows"
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

// currentEmbedder is what makes vectors now; nil when nothing does.
func (s *Store) currentEmbedder() Embedder {
	if s.embedder == nil || s.embedder.Model() == "" {
		return nil
	}
	return s.embedder
}

// Embed makes vectors for at most limit items that have none, newest first, and says how many it
// made.
func (s *Store) Embed(ctx context.Context, limit int) (made int, err error) {
	e := s.currentEmbedder()
	for e != nil && made < limit {
		batch, err := s.itemsWithoutVector(ctx, e.Model(), min(embedBatch, limit-made))
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
	e := s.currentEmbedder()
	if e == nil {
		return "", 0, nil
	}
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM vectors v JOIN items i ON i.id=v.item
 WHERE v.model=? AND i.namespace=? AND i.replaced_by IS NULL`, e.Model(), s.namespace).Scan(&have)
	return e.Model(), have, err
}

func (s *Store) itemsWithoutVector(ctx context.Context, model string, n int) ([]Item, error) {
	answer := rows.Ask(ctx, s.db, "SELECT "+columns+` FROM items WHERE namespace=? AND replaced_by IS NULL
 AND id NOT IN (SELECT item FROM vectors WHERE model=?) ORDER BY id DESC LIMIT ?`, s.namespace, model, n)
	return rows.Collect(answer, scanItem)
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
	return s.inTransaction(ctx, func(tx *sql.Tx) error {
		for i, it := range batch {
			unit, err := normalizeVector(vectors[i])
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

// normalizeVector is a vector of length 1, so that a product is a cosine.
func normalizeVector(v []float32) ([]float32, error) {
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

// byMeaning returns the cosines of the items nearest to the query, 0 and up, and with limited the
// lowest one that means something. Whoever asks waits: a server that is slow or away costs little,
// and then nothing for a while.
func (s *Store) byMeaning(ctx context.Context, e Embedder, query string, limited bool) (near scores, least float64, err error) {
	v := &s.vectors
	if err := v.whyResting(s.now()); err != nil {
		return nil, 0, err
	}
	asked, err := queryVectors(ctx, e, []string{query})
	if err != nil {
		v.restUntilTime(s.now().Add(restAfter), err)
		return nil, 0, err
	}
	q := asked[0]
	if err := s.readVectors(ctx, e.Model()); err != nil {
		return nil, 0, err
	}
	near, dims := v.nearestItems(q, poolSize)
	if dims != 0 && dims != len(q) {
		// The model changed behind its name. Its old vectors mean nothing any more.
		v.forgetSaved(s)
		_, err := s.db.ExecContext(ctx, "DELETE FROM vectors WHERE model=? AND length(vector)<>?", e.Model(), 4*len(q))
		s.changed()
		return nil, 0, errors.Join(fmt.Errorf("%s answers with %d numbers now, and answered with %d before: its vectors are made anew",
			e.Model(), len(q), dims), err)
	}
	if limited && len(near) > 0 {
		if err := v.embedUnrelated(ctx, e); err != nil {
			v.restUntilTime(s.now().Add(restAfter), err)
			return nil, 0, err
		}
		least = float64(v.leastCosine())
	}
	return near, least, nil
}

// queryVectors are the vectors of queries.
func queryVectors(ctx context.Context, e Embedder, queries []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	vectors, err := e.Embed(ctx, queries, true)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(queries) {
		return nil, fmt.Errorf("%s answered with %d vectors for %d texts", e.Model(), len(vectors), len(queries))
	}
	for i, v := range vectors {
		if vectors[i], err = normalizeVector(v); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}
