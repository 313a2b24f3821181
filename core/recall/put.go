package recall

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/core/injection"
	"hermes/core/secret"
)

const (
	maxKey   = 200    // characters
	maxValue = 16_000 // characters
	maxMeta  = 16_000 // bytes as JSON
)

// timestampKey is what metadata call the time that a fact is from.
const timestampKey = "timestamp"

// Refusal says why an item was not stored. Its text is for people and models alike.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return "not stored: " + r.Text }

// Stored is what Put did.
type Stored struct {
	ID       int64
	Replaced int64 // the item that had the key; 0: none
	Same     bool  // it was there already, word for word: ID is the old one
}

// Put stores an item, but its ID, Namespace, uses and ReplacedBy. A zero Created is now.
func (s *Store) Put(ctx context.Context, it Item) (Stored, error) {
	all, err := s.PutAll(ctx, []Item{it})
	if err != nil {
		return Stored{}, err
	}
	return all[0], nil
}

// PutAll stores all items in one transaction, or none.
func (s *Store) PutAll(ctx context.Context, all []Item) ([]Stored, error) {
	done := make([]Stored, len(all))
	for i := range all {
		if err := all[i].Check(); err != nil {
			return nil, err
		}
	}
	err := s.inTransaction(ctx, func(tx *sql.Tx) error {
		for i := range all {
			var err error
			if done[i], err = s.putItem(ctx, tx, all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.changed()
	}
	return done, err
}

func (s *Store) putItem(ctx context.Context, tx *sql.Tx, it Item) (Stored, error) {
	it.Namespace = s.namespace
	if it.Created.IsZero() {
		it.Created = s.now()
	}
	old, err := scanItem(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM items WHERE namespace=? AND key=? AND replaced_by IS NULL", it.Namespace, it.Key))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Stored{}, err
	}
	meta, err := marshalMetadata(it)
	if err != nil {
		return Stored{}, err
	}
	if old.ID != 0 && old.Value == it.Value && old.hasMetadata(it.Metadata) {
		return Stored{ID: old.ID, Same: true}, nil
	}
	r, err := tx.ExecContext(ctx, `INSERT INTO items(namespace,key,value,metadata,created_ms,origin,session,message,tainted,pinned,expires_ms)
 VALUES(?,?,?,?,?,?,?,?,?,?,?)`, it.Namespace, it.Key, it.Value, string(meta), unixMillis(it.Created), it.Origin, it.Session, it.Message,
		it.Tainted, it.Pinned || old.Pinned, unixMillis(it.Expires))
	if err != nil {
		return Stored{}, err
	}
	if it.ID, err = r.LastInsertId(); err != nil {
		return Stored{}, err
	}
	if old.ID != 0 {
		if err := replaceItem(ctx, tx, old, it.ID); err != nil {
			return Stored{}, err
		}
	}
	return Stored{ID: it.ID, Replaced: old.ID}, indexItem(ctx, tx, it)
}

// hasMetadata reports whether nothing stands in metadata that an item does not have: none says no
// more than it, and neither does the time of an export.
func (it *Item) hasMetadata(metadata map[string]any) bool {
	kept := func(m map[string]any) map[string]any {
		m = maps.Clone(m)
		delete(m, timestampKey)
		return m
	}
	metadata = kept(metadata)
	had, err := json.Marshal(kept(it.Metadata))
	now, nowErr := json.Marshal(metadata)
	return err == nil && nowErr == nil && (len(metadata) == 0 || bytes.Equal(had, now))
}

// marshalMetadata is what is kept with an item, as JSON.
func marshalMetadata(it Item) ([]byte, error) {
	if it.Metadata == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(it.Metadata)
}

// replaceItem makes an old item point to the new one: it stays to be looked at, and is not found.
func replaceItem(ctx context.Context, tx *sql.Tx, old Item, by int64) error {
	if _, err := tx.ExecContext(ctx, "UPDATE items SET replaced_by=? WHERE id=?", by, old.ID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM vectors WHERE item=?", old.ID); err != nil {
		return err
	}
	return unindexItem(ctx, tx, old)
}

// Check says what is wrong with an item, and trims it.
func (it *Item) Check() error {
	it.Key, it.Value = strings.TrimSpace(it.Key), strings.TrimSpace(it.Value)
	switch {
	case it.Key == "":
		return &Refusal{"it has no key: a few words that name what it is about"}
	case it.Value == "":
		return &Refusal{fmt.Sprintf("%q has no value", it.Key)}
	case !utf8.ValidString(it.Key) || !utf8.ValidString(it.Value):
		return &Refusal{"it is not text (UTF-8)"}
	case utf8.RuneCountInString(it.Key) > maxKey:
		return &Refusal{fmt.Sprintf("its key has more than %d characters", maxKey)}
	case utf8.RuneCountInString(it.Value) > maxValue:
		return &Refusal{fmt.Sprintf("%q has more than %d characters: keep what matters of it", it.Key, maxValue)}
	}
	it.takeDate()
	meta, err := json.Marshal(it.Metadata)
	if err != nil {
		return &Refusal{fmt.Sprintf("the metadata of %q cannot be kept: %v", it.Key, err)}
	}
	if len(meta) > maxMeta {
		return &Refusal{fmt.Sprintf("the metadata of %q has more than %d bytes", it.Key, maxMeta)}
	}
	if it.Origin == "" {
		it.Origin = Person
	}
	return it.refuseHostile(it.Key+": "+it.Value, string(meta))
}

// refuseHostile refuses secrets, and orders to the agent. What a person stores is kept although it
// reads like an order, as a stranger's word: it is data, and what recalls it scans it again.
func (it *Item) refuseHostile(texts ...string) error {
	for _, text := range texts {
		if secret.Redact(text) != text {
			return &Refusal{fmt.Sprintf("%q: it holds what looks like a secret", it.Key)}
		}
		hits := injection.ScanDocument(text)
		switch {
		case len(hits) == 0:
		case it.Origin == Person || it.Origin == Import:
			it.Tainted = true
		default:
			return &Refusal{fmt.Sprintf("%q: it %s", it.Key, hits[0].Reason)}
		}
	}
	return nil
}

// takeDate takes the time of an item from its metadata.
func (it *Item) takeDate() {
	if stamp, ok := it.Metadata[timestampKey].(string); ok && it.Created.IsZero() {
		if at, err := time.Parse(time.RFC3339, stamp); err == nil {
			it.Created = at
		}
	}
}
