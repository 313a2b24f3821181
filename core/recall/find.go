package recall

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"hermes/core/rows"
)

// poolSize is how many items each way of searching brings.
const poolSize = 200

// MinCoverage is how much of a question an item must answer to be shown to a model: below it, what
// a question and an item share is mostly chance.
const MinCoverage = 0.15

// leastSimilarity is what an item must have that is found only for what stands beside it. The worst
// of those that a way of searching brings is scaled to less.
const leastSimilarity = 0.005

// Found is the answer to a query.
type Found struct {
	Hits    []Hit  `json:"hits"` // best first
	ByWords bool   `json:"by_words"`
	Note    string `json:"note,omitempty"` // why there are words only, although vectors are set up
}

// Recall returns the k items that answer a query best; k is at least 1. minCoverage leaves out what
// answers less of the query (see Hit.Coverage) and is no nearer to it by meaning than to unrelated
// questions; 0 leaves out nothing of this kind. What has no word of the query, and whose neighbours
// hardly answer it, is no hit for anybody.
func (s *Store) Recall(ctx context.Context, query string, k int, minCoverage float64) (Found, error) {
	found := Found{ByWords: true}
	sim, own, err := s.byWords(ctx, query)
	if err != nil && ctx.Err() == nil { // the index is derived: it is made anew, once
		if err = s.Rebuild(ctx); err == nil {
			sim, own, err = s.byWords(ctx, query)
		}
	}
	if err != nil {
		return found, s.explainDamage(err)
	}
	var near scores
	var least float64
	if e := s.currentEmbedder(); e != nil {
		var err error
		near, least, err = s.byMeaning(ctx, e, query, minCoverage > 0)
		switch {
		case err != nil && ctx.Err() != nil:
			return found, err
		case err != nil:
			found.Note = "by words: " + cutText(err.Error(), maxNoteSize)
		case len(near) > 0:
			words, meaning := sim.scaleToOne(), near.scaleToOne()
			sim, found.ByWords = blendScores(map[*scores]float64{&words: wordsWeight, &meaning: vectorWeight}).scaleToOne(), false
		}
	}
	hits, err := s.loadBest(ctx, sim, 2*max(k, 1))
	if err != nil {
		return found, err
	}
	if err := s.measureCover(ctx, query, hits); err != nil {
		return found, err
	}
	for i, h := range hits {
		_, says := own[h.ID]
		_, means := near[h.ID]
		hits[i].Beside = !says && (found.ByWords || !means)
	}
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Beside && h.Similarity < leastSimilarity })
	if minCoverage > 0 {
		hits = slices.DeleteFunc(hits, func(h Hit) bool {
			return h.Coverage < minCoverage && (found.ByWords || near[h.ID] < max(least, minCosine))
		})
	}
	s.orderHits(hits)
	found.Hits = hits[:min(max(k, 1), len(hits))]
	return found, nil
}

func cutText(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// byWords blends what an item says with what it and its neighbours say, half and half: on
// conversations that beat either alone, and every vector of words that was tried. own has those
// that say it themselves.
func (s *Store) byWords(ctx context.Context, query string) (blend, own scores, err error) {
	terms := queryTerms(query)
	if len(terms) == 0 {
		return nil, nil, nil
	}
	if own, err = s.matchIndex(ctx, "words", anyOf(terms)); err != nil {
		return nil, nil, err
	}
	around, err := s.matchIndex(ctx, "around", anyOf(terms))
	if err != nil {
		return nil, nil, err
	}
	own, around = own.scaleToOne(), around.scaleToOne()
	return blendScores(map[*scores]float64{&own: 0.5, &around: 0.5}).scaleToOne(), own, nil
}

// matchIndex asks one index; its scores are BM25, more is better.
func (s *Store) matchIndex(ctx context.Context, table, expression string) (scores, error) {
	answer := rows.Ask(ctx, s.db, "SELECT w.rowid, -w.rank FROM "+table+" w CROSS JOIN items i ON i.id=w.rowid WHERE "+table+
		" MATCH ? AND i.namespace=? AND i.replaced_by IS NULL AND (i.expires_ms=0 OR i.expires_ms>?) ORDER BY w.rank LIMIT ?",
		expression, s.namespace, unixMillis(s.now()), poolSize)
	return rows.Map[int64, float64](answer)
}

// loadBest reads the n best.
func (s *Store) loadBest(ctx context.Context, sim scores, n int) ([]Hit, error) {
	ids := sim.bestIDs(n)
	if len(ids) == 0 {
		return nil, nil
	}
	answer := rows.Ask(ctx, s.db, "SELECT "+columns+" FROM items WHERE replaced_by IS NULL AND id IN ("+joinIDs(ids)+")")
	all, err := rows.Collect(answer, scanItem)
	hits := make([]Hit, len(all))
	for i, it := range all {
		hits[i] = Hit{Item: it, Similarity: sim[it.ID]}
	}
	return hits, err
}

func joinIDs(ids []int64) string {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(text, ",")
}

// measureCover says of each hit how much of the query it answers: the sum of idf of the words
// found, by that of all words of the query. A word that nothing has counts as the rarest one.
func (s *Store) measureCover(ctx context.Context, query string, hits []Hit) error {
	if len(hits) == 0 {
		return nil
	}
	all, err := s.Count(ctx)
	if err != nil {
		return err
	}
	ids := make([]int64, len(hits))
	covered := map[int64]float64{}
	for i, h := range hits {
		ids[i] = h.ID
	}
	var sum float64
	for _, term := range queryTerms(query) {
		have, with, err := s.withTerm(ctx, term, ids)
		if err != nil {
			return err
		}
		idf := math.Log(1 + (float64(all)-float64(have)+0.5)/(float64(have)+0.5))
		sum += idf
		for _, id := range with {
			covered[id] += idf
		}
	}
	for i := range hits {
		if sum > 0 {
			hits[i].Coverage = covered[hits[i].ID] / sum
		}
	}
	return nil
}

// withTerm counts the items that have a term, and tells which of ids are, or stand beside, one.
func (s *Store) withTerm(ctx context.Context, term string, ids []int64) (count int, with []int64, err error) {
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM words WHERE words MATCH ?", quoteTerm(term)).Scan(&count); err != nil {
		return 0, nil, err
	}
	answer := rows.Ask(ctx, s.db, "SELECT rowid FROM around WHERE around MATCH ? AND rowid IN ("+joinIDs(ids)+")", quoteTerm(term))
	with, err = rows.Column[int64](answer)
	return count, with, err
}
