package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"hermes/core/cjk"
	"hermes/core/crash"
	"hermes/core/rows"
)

const rebuildChunk = 2000 // messages in one transaction, so that a message never waits long

// Rebuilding returns which part of the index is there (0..1) and whether a rebuild is under way.
func (s *Store) Rebuilding() (part float64, running bool) {
	done, total := s.rebuilt.Load(), s.rebuildTotal.Load()
	if !s.stale.Load() {
		return 1, false
	}
	return float64(done) / float64(max(1, total)), true
}

// Rebuild makes the index anew in the background and returns at once. It is safe to call at any
// time.
func (s *Store) Rebuild() {
	s.stale.Store(true)
	// Never wait here: the writer goroutine calls this too, and Close, which takes the lock, waits for
	// senders that wait for the writer. A store that is about to close leaves the rebuild to the next
	// start.
	if !s.mu.TryRLock() {
		return
	}
	defer s.mu.RUnlock()
	if s.closed || !s.rebuildOn.CompareAndSwap(false, true) {
		return
	}
	s.background.Add(1)
	crash.Go("store: rebuild the index", func() {
		defer s.background.Done()
		defer s.rebuildOn.Store(false)
		s.rebuildIndex()
	})
}

var errIndexBroken = errors.New("the index failed while it was made")

// rebuildIndex tries twice: an index that was half made and broke is begun anew.
func (s *Store) rebuildIndex() {
	err := s.rebuildAll()
	if errors.Is(err, errIndexBroken) {
		err = s.rebuildAll()
	}
	if err != nil {
		s.rebuildFailed(err)
		return
	}
	s.stale.Store(false)
}

// rebuildAll works from the newest message to the oldest, because the newest are looked for most.
// Where it stands is in the database: after a crash, or with a second process, it goes on from
// there.
func (s *Store) rebuildAll() error {
	ctx := context.Background()
	if err := s.runInWriter(ctx, nil, (*tx).rebuildStart); err != nil {
		return err
	}
	for {
		var left, total int64
		err := s.runInWriter(ctx, nil, func(t *tx) (err error) {
			left, total, err = t.rebuildStep()
			return err
		})
		if err != nil {
			return err
		}
		s.rebuilt.Store(total - left)
		s.rebuildTotal.Store(total)
		if s.progress != nil {
			s.progress(total-left, total)
		}
		if left == 0 {
			return nil
		}
	}
}

// rebuildFailed leaves the index stale: searches keep to the plain scan, and the next start tries
// again.
func (s *Store) rebuildFailed(err error) {
	if !errors.Is(err, ErrClosed) {
		s.rememberDamage(err)
		s.rebuildErr.Store(&err)
	}
}

// rebuildStart empties the index unless a rebuild by the same rules is half done.
func (t *tx) rebuildStart() error {
	version, err := getMeta(t.ctx, t.conn, "fts_version")
	if err != nil {
		return err
	}
	left, err := getMeta(t.ctx, t.conn, "fts_done_to")
	if err != nil || version == indexVersion && left != "" {
		return err
	}
	if err := createIndex(t.ctx, t.conn); err != nil {
		return err
	}
	var high int64
	if err := t.row("SELECT COALESCE(max(id),0) FROM messages").Scan(&high); err != nil {
		return err
	}
	if err := t.rebuildTitles(); err != nil {
		return err
	}
	at := strconv.FormatInt(high+1, 10)
	if err := setMeta(t.ctx, t.conn, "fts_high", at); err != nil {
		return err
	}
	return setMeta(t.ctx, t.conn, "fts_done_to", at)
}

func (t *tx) rebuildTitles() error {
	titles := rows.Ask(t.ctx, t.conn, "SELECT id, title FROM sessions WHERE title<>'' ORDER BY id DESC")
	return titles.Each(func(r rows.Scanner) error {
		var id int64
		var title string
		if err := r.Scan(&id, &title); err != nil {
			return err
		}
		t.changeIndex("INSERT INTO fts_talk(rowid,content) VALUES(?,?)", -id, cjk.IndexText(title))
		return nil
	})
}

// rebuildStep indexes the next chunk below fts_done_to. left and total count message ids.
func (t *tx) rebuildStep() (left, total int64, err error) {
	version, err := getMeta(t.ctx, t.conn, "fts_version")
	if err == nil && version != indexVersion { // it failed in another write
		err = errIndexBroken
	}
	if err != nil {
		return 0, 0, err
	}
	done, err := t.metaInt("fts_done_to")
	if err != nil {
		return 0, 0, err
	}
	high, err := t.metaInt("fts_high")
	if err != nil || done <= 1 { // another process finished it
		return 0, high, err
	}
	low, err := t.reindexBelow(done)
	if err == nil && t.indexBroken {
		err = fmt.Errorf("%w: %w", errIndexBroken, t.indexErr)
	}
	if err != nil {
		return 0, 0, err
	}
	if low <= 1 {
		_, err = t.exec("DELETE FROM meta WHERE key IN ('fts_done_to','fts_high')")
		return 0, high, err
	}
	return low, high, setMeta(t.ctx, t.conn, "fts_done_to", strconv.FormatInt(low, 10))
}

func (t *tx) metaInt(key string) (int64, error) {
	text, err := getMeta(t.ctx, t.conn, key)
	if err != nil || text == "" {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

// reindexBelow indexes the chunk of messages just below id and returns the lowest id it came to, 0
// at the end. Within the chunk it goes up: FTS5 writes rowids in ascending order without flushing
// in between.
func (t *tx) reindexBelow(id int64) (low int64, err error) {
	answer := rows.Ask(t.ctx, t.conn, "SELECT "+messageColumns+withEnds+messageFrom+
		"WHERE m.id IN (SELECT id FROM messages WHERE id<? ORDER BY id DESC LIMIT ?) ORDER BY m.id", id, rebuildChunk)
	chunk, err := rows.Collect(answer, scanMessage)
	if err != nil {
		return 0, err
	}
	for i := range chunk {
		m := &chunk[i]
		if m.Status == "partial" {
			continue
		}
		r, err := encodeRow(&m.Message)
		if err != nil {
			return 0, err
		}
		r.active, r.compacted, r.kind = m.Active, m.Compacted, m.kind
		t.unindexMessage(m.ID) // it may have been sealed since the rebuild began
		t.indexMessage(m.ID, &r)
	}
	if len(chunk) < rebuildChunk {
		return 0, nil
	}
	return chunk[0].ID, nil
}
