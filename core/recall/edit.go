package recall

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"hermes/core/rows"
)

// Get returns one item, also one that was replaced.
func (s *Store) Get(ctx context.Context, id int64) (Item, error) {
	return scanItem(s.db.QueryRowContext(ctx, "SELECT "+columns+" FROM items WHERE id=? AND namespace=?", id, s.namespace))
}

// Listing says which items List returns, newest first.
type Listing struct {
	Text     string // only those whose key or value has it
	Replaced bool   // those that were replaced, too
	Limit    int    // 0: all
	Before   int64  // only those with smaller ids; 0: from the newest on
}

// List returns items, newest first.
func (s *Store) List(ctx context.Context, l Listing) ([]Item, error) {
	q := "SELECT " + columns + " FROM items WHERE namespace=?"
	args := []any{s.namespace}
	if !l.Replaced {
		q += " AND replaced_by IS NULL"
	}
	if l.Text != "" {
		q += ` AND (key LIKE ? ESCAPE '\' OR value LIKE ? ESCAPE '\')`
		like := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(l.Text) + "%"
		args = append(args, like, like)
	}
	if l.Before > 0 {
		q += " AND id<?"
		args = append(args, l.Before)
	}
	q += " ORDER BY id DESC"
	if l.Limit > 0 {
		q += fmt.Sprintf(" LIMIT %d", l.Limit)
	}
	answer := rows.Ask(ctx, s.db, q, args...)
	all, err := rows.Collect(answer, scanItem)
	return all, s.explainDamage(err)
}

// Count says how many items are remembered, without those that were replaced.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT count(*) FROM items WHERE namespace=? AND replaced_by IS NULL", s.namespace).Scan(&n)
	return n, err
}

// Edit gives an item another value: a new item replaces it.
func (s *Store) Edit(ctx context.Context, id int64, value string) (Stored, error) {
	old, err := s.Get(ctx, id)
	if err != nil {
		return Stored{}, err
	}
	if old.ReplacedBy != 0 {
		return Stored{}, &Refusal{fmt.Sprintf("number %d was replaced by %d: change that one", id, old.ReplacedBy)}
	}
	return s.Put(ctx, Item{
		Key: old.Key, Value: value, Metadata: old.Metadata, Origin: Person, Session: old.Session, Pinned: old.Pinned, Expires: old.Expires,
	})
}

// Pin keeps an item from expiring and from being cleaned up, or lets it go.
func (s *Store) Pin(ctx context.Context, id int64, pinned bool) error {
	r, err := s.db.ExecContext(ctx, "UPDATE items SET pinned=? WHERE id=? AND namespace=?", pinned, id, s.namespace)
	return oneRow(r, err)
}

func oneRow(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

// Use counts items as used by a session, once each.
func (s *Store) Use(ctx context.Context, session string, ids ...int64) error {
	return s.inTransaction(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			r, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO uses(item,session) SELECT id,? FROM items WHERE id=? AND namespace=?", session, id, s.namespace)
			if err != nil {
				return err
			}
			if err := oneRow(r, nil); errors.Is(err, ErrNotFound) {
				continue // it was counted, or is gone
			} else if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "UPDATE items SET uses=uses+1, used_ms=? WHERE id=?", unixMillis(s.now()), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Forget removes items with all that was derived from them, and what they had replaced. It returns
// what it removed, oldest first.
func (s *Store) Forget(ctx context.Context, ids ...int64) (gone []Item, err error) {
	err = s.inTransaction(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			chain, err := s.replacedChain(ctx, tx, id)
			if err != nil {
				return err
			}
			for _, it := range chain {
				if _, err := tx.ExecContext(ctx, "DELETE FROM items WHERE id=?", it.ID); err != nil {
					return err
				}
				if err := unindexItem(ctx, tx, it); err != nil {
					return err
				}
			}
			gone = append(gone, chain...)
		}
		return nil
	})
	if err == nil {
		s.vectors.forgetItems(s, gone)
		err = s.wipeDeleted(ctx)
	}
	return gone, err
}

// wipeDeleted makes sure that what was deleted cannot be read from the file's free pages or its
// log.
func (s *Store) wipeDeleted(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO words(words) VALUES('optimize'); INSERT INTO around(around) VALUES('optimize');
 PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}

// replacedChain is an item and all that it replaced, directly or not, oldest first.
func (s *Store) replacedChain(ctx context.Context, tx *sql.Tx, id int64) ([]Item, error) {
	answer := rows.Ask(ctx, tx, `WITH RECURSIVE older(id) AS (SELECT ? UNION SELECT i.id FROM items i JOIN older o ON i.replaced_by=o.id)
 SELECT `+columns+` FROM items WHERE id IN (SELECT id FROM older) AND namespace=? ORDER BY id`, id, s.namespace)
	all, err := rows.Collect(answer, scanItem)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: %d", ErrNotFound, id)
	}
	return all, err
}
