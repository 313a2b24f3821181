package recall

import (
	"context"
	"slices"

	"hermes/core/injection"
)

// UnaskedCoverage is how much of a message an item must answer to be brought up unasked: half of
// what the message says, by the rarity of its words.
const UnaskedCoverage = 0.5

const leastTerms = 2 // of a message that something is brought up for

// Unasked is the item that answers a message best, when it answers enough of it. It goes by words
// only: nobody waits for a server. What strangers may have written, what reads like orders, what
// the person muted and what skip says are never brought up.
func (s *Store) Unasked(ctx context.Context, message string, skip func(id int64) bool) (Hit, bool, error) {
	if len(queryTerms(message)) < leastTerms {
		return Hit{}, false, nil
	}
	sim, _, err := s.byWords(ctx, message)
	if err != nil {
		return Hit{}, false, err
	}
	hits, err := s.loadBest(ctx, sim, 10)
	if err != nil {
		return Hit{}, false, err
	}
	if err := s.measureCover(ctx, message, hits); err != nil {
		return Hit{}, false, err
	}
	s.orderHits(hits)
	slices.SortStableFunc(hits, func(a, b Hit) int {
		switch {
		case a.Coverage > b.Coverage:
			return -1
		case a.Coverage < b.Coverage:
			return 1
		}
		return 0
	})
	for _, h := range hits {
		if h.Coverage < UnaskedCoverage {
			break
		}
		if h.Tainted || h.Muted() || skip(h.ID) || len(injection.ScanDocument(h.Key+": "+h.Value)) > 0 {
			continue
		}
		return h, true, nil
	}
	return Hit{}, false, nil
}

// Muted reports whether the person wants it found only when somebody asks.
func (it Item) Muted() bool {
	muted, _ := it.Metadata[mutedKey].(bool)
	return muted
}

const mutedKey = "muted"

// Mute keeps an item from being brought up unasked, or lets it.
func (s *Store) Mute(ctx context.Context, id int64, on bool) error {
	r, err := s.db.ExecContext(ctx, "UPDATE items SET metadata=json_set(metadata,'$."+mutedKey+"',json(?)) WHERE id=? AND namespace=?",
		map[bool]string{true: "true", false: "false"}[on], id, s.namespace)
	return oneRow(r, err)
}

// Older are the items that an item replaced, newest first.
func (s *Store) Older(ctx context.Context, id int64) ([]Item, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // it only reads
	all, err := s.replacedChain(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(it Item) bool { return it.ID == id }), nil
}
