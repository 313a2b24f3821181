package recall

import (
	"context"
	"database/sql"
	"errors"

	"hermes/core/cjk"
)

// indexedText is the text of an item as the index has it.
func indexedText(it Item) string { return cjk.IndexText(it.Key + ": " + it.Value) }

// indexItem writes an item's words, and anew what surrounds it and its neighbours.
func indexItem(ctx context.Context, tx *sql.Tx, it Item) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM words WHERE rowid=?", it.ID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO words(rowid,text) VALUES(?,?)", it.ID, indexedText(it)); err != nil {
		return err
	}
	if err := indexAround(ctx, tx, it); err != nil {
		return err
	}
	return indexNeighbours(ctx, tx, it)
}

// unindexItem takes an item out; the neighbours close up.
func unindexItem(ctx context.Context, tx *sql.Tx, it Item) error {
	for _, q := range []string{"DELETE FROM words WHERE rowid=?", "DELETE FROM around WHERE rowid=?"} {
		if _, err := tx.ExecContext(ctx, q, it.ID); err != nil {
			return err
		}
	}
	return indexNeighbours(ctx, tx, it)
}

// indexNeighbours writes anew what surrounds the neighbours of an item.
func indexNeighbours(ctx context.Context, tx *sql.Tx, it Item) error {
	before, after, err := neighboursOf(ctx, tx, it)
	if err != nil {
		return err
	}
	for _, near := range []Item{before, after} {
		if near.ID != 0 {
			if err := indexAround(ctx, tx, near); err != nil {
				return err
			}
		}
	}
	return nil
}

func indexAround(ctx context.Context, tx *sql.Tx, it Item) error {
	before, after, err := neighboursOf(ctx, tx, it)
	if err != nil {
		return err
	}
	text := indexedText(it)
	if before.ID != 0 {
		text = indexedText(before) + "\n" + text
	}
	if after.ID != 0 {
		text += "\n" + indexedText(after)
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM around WHERE rowid=?", it.ID); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO around(rowid,text) VALUES(?,?)", it.ID, text)
	return err
}

// neighboursOf are what was stored before and after it in the same session; their ID is 0 when
// there is none. What has no session has no neighbours.
func neighboursOf(ctx context.Context, tx *sql.Tx, it Item) (before, after Item, err error) {
	if it.Session == "" {
		return Item{}, Item{}, nil
	}
	find := func(q string) (Item, error) {
		near, err := scanItem(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM items WHERE session=? AND namespace=? AND replaced_by IS NULL AND "+q,
			it.Session, it.Namespace, it.ID))
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
		return near, err
	}
	if before, err = find("id<? ORDER BY id DESC LIMIT 1"); err != nil {
		return before, after, err
	}
	after, err = find("id>? ORDER BY id LIMIT 1")
	return before, after, err
}
