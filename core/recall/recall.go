// Package recall keeps what was learned for good: facts, decisions and outcomes, each a key and a
// value, found again by words and, where an embedding provider is set, by meaning.
//
// The contract:
//
//   - What Put acknowledged is on the disk. Several processes may use one file.
//   - A key names one thing. Who stores it anew replaces the old item, which stays and points to
//     the new one; Recall returns the new one only.
//   - Text that holds a secret is refused (*Refusal), never stored; so is, from an agent, what
//     gives orders. What a person stores that reads like orders is kept and marked
//     (Item.Tainted).
//   - Forget is complete: row, index, vector, uses. Pinned items neither expire nor are cleaned
//     up.
//   - What counts as use is for the caller to say (Use), once a session. Being found is no use.
//   - The index and the vectors are derived from the rows: they are made anew when they are
//     damaged.
//
// The order is the one of the article that Hermes was designed from: 0.6 similarity, 0.3 recency,
// 0.1 use. See rank.go and docs/recall.md.
package recall

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"hermes/core/rows"

	"github.com/mattn/go-sqlite3"
)

// Origin says who stored an item.
type Origin string

// The origins.
const (
	Person Origin = "person"
	Agent  Origin = "agent"
	Review Origin = "review"
	Import Origin = "import"
)

// Item is one thing that is remembered.
type Item struct {
	ID         int64          `json:"id"`
	Namespace  string         `json:"namespace,omitempty"`
	Key        string         `json:"key"`
	Value      string         `json:"value"`
	Metadata   map[string]any `json:"metadata"` // {} for none
	Created    time.Time      `json:"created"`
	LastUsed   time.Time      `json:"last_used,omitzero"`
	Uses       int            `json:"uses"`
	Origin     Origin         `json:"origin"`
	Session    string         `json:"session,omitempty"` // where it was stored; neighbours share it
	Message    int64          `json:"message,omitempty"`
	Tainted    bool           `json:"tainted,omitempty"` // its conversation had read strangers' words
	Pinned     bool           `json:"pinned,omitempty"`
	ReplacedBy int64          `json:"replaced_by,omitempty"`
	Expires    time.Time      `json:"expires,omitzero"`
}

// Options tune Open. The zero value is right for tests.
type Options struct {
	Namespace string           // the items of other namespaces do not exist
	Now       func() time.Time // nil: time.Now
	TimeScale time.Duration    // of recency; 0: 168 h
	Embedder  Embedder         // nil: words only
	Changed   func()           // hears that items may need vectors; it must not wait
	Notice    func(string)     // hears what became of the graph of vectors, for logs; it must not wait
}

// Store is an open file of items. All methods are safe for concurrent use.
type Store struct {
	db        *sql.DB
	path      string
	namespace string
	now       func() time.Time
	timeScale time.Duration
	embedder  Embedder
	changed   func()
	notice    func(string)

	vectors vectorIndex
	closing sync.Once
}

// ErrNotFound is returned for an id that is not there.
var ErrNotFound = errors.New("nothing is remembered under that number")

// Open opens or creates the file at path, whose folder is made if need be.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	s := &Store{path: path, namespace: o.Namespace, now: o.Now, timeScale: o.TimeScale, embedder: o.Embedder, changed: o.Changed}
	if s.changed == nil {
		s.changed = func() {}
	}
	if s.notice = o.Notice; s.notice == nil {
		s.notice = func(string) {}
	}
	s.vectors.graphFrom = graphFrom
	if s.now == nil {
		s.now = time.Now
	}
	if s.timeScale <= 0 {
		s.timeScale = defaultTimeScale
	}
	if err := s.openFile(ctx); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, s.explainDamage(err))
	}
	return s, nil
}

// explainDamage says of a damaged file what to do.
func (s *Store) explainDamage(err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) || e.Code != sqlite3.ErrCorrupt && e.Code != sqlite3.ErrNotADB && e.Code != sqlite3.ErrFormat {
		return err
	}
	return fmt.Errorf("it is damaged (%w): move %s away, with the files beside it that begin so, and long-term memory begins anew; "+
		"`hermes memory store --lines FILE` reads an export back", err, s.path)
}

func (s *Store) openFile(ctx context.Context) error {
	file := url.URL{Scheme: "file", Path: s.path}
	db, err := sql.Open("sqlite3", file.String()+"?_txlock=immediate&_busy_timeout=20000&_foreign_keys=1&_synchronous=FULL&_journal_mode=WAL&_secure_delete=1")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(4)
	s.db = db
	if err := s.migrateSchema(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	return os.Chmod(s.path, 0o600)
}

// Close ends what is under way.
func (s *Store) Close() (err error) {
	s.closing.Do(func() {
		s.vectors.stopAndSave(s)
		err = s.db.Close()
	})
	return err
}

// inTransaction runs do in one transaction.
func (s *Store) inTransaction(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

const columns = `id,namespace,key,value,metadata,created_ms,used_ms,uses,origin,session,message,tainted,pinned,
 COALESCE(replaced_by,0),expires_ms`

func scanItem(r rows.Scanner) (it Item, err error) {
	var meta string
	var created, used, expires int64
	err = r.Scan(&it.ID, &it.Namespace, &it.Key, &it.Value, &meta, &created, &used, &it.Uses, &it.Origin, &it.Session,
		&it.Message, &it.Tainted, &it.Pinned, &it.ReplacedBy, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return it, ErrNotFound
	}
	if err != nil {
		return it, err
	}
	it.Created, it.LastUsed, it.Expires = timeOf(created), timeOf(used), timeOf(expires)
	it.Metadata = map[string]any{}
	if meta != "" {
		err = json.Unmarshal([]byte(meta), &it.Metadata)
	}
	return it, err
}

func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func unixMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
