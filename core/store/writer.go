package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	groupMax  = 64                   // requests in one transaction
	groupWait = 2 * time.Millisecond // longest wait for a group as large as the last one
	busyLimit = 20 * time.Second     // how long another process may hold the lock
)

// ErrClosed is returned by writes after Close.
var ErrClosed = errors.New("store: closed")

// request is one unit of work for the writer. It is answered after the transaction it ran in was
// committed.
type request struct {
	do    func(*tx) error
	spill []record // what to keep when the disk refuses the transaction; nil: nothing is lost by giving up
	done  chan error
}

// tx is an open write transaction. Only the writer goroutine has one.
type tx struct {
	ctx  context.Context
	conn *sql.Conn
	now  int64 // milliseconds

	indexBroken bool  // the index failed in this transaction: leave it alone
	indexErr    error // what it said
}

func (t *tx) exec(query string, args ...any) (affected int64, err error) {
	r, err := t.conn.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t *tx) insert(query string, args ...any) (id int64, err error) {
	r, err := t.conn.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

func (t *tx) row(query string, args ...any) *sql.Row {
	return t.conn.QueryRowContext(t.ctx, query, args...)
}

// runInWriter runs do in the writer's next transaction and returns after the commit. Once it is
// queued it is carried out even if ctx ends: the caller always learns what became of it.
func (s *Store) runInWriter(ctx context.Context, spill []record, do func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{do: do, spill: spill, done: make(chan error, 1)}
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return ErrClosed
	}
	select {
	case s.requests <- r:
		s.mu.RUnlock()
	case <-ctx.Done():
		s.mu.RUnlock()
		return ctx.Err()
	}
	return <-r.done
}

// writeLoop is the only goroutine that writes. While one commit syncs, the next group gathers.
func (s *Store) writeLoop() {
	defer close(s.written)
	last := 1
	for first := range s.requests {
		group := s.gatherRequests(first, last)
		last = len(group)
		s.commitGroup(group)
	}
}

// gatherRequests takes what waits. It waits itself only when the last group says that more writers
// are on their way.
func (s *Store) gatherRequests(first *request, last int) []*request {
	group := []*request{first}
	var timeout <-chan time.Time
	for len(group) < groupMax {
		select {
		case r, ok := <-s.requests:
			if !ok {
				return group
			}
			group = append(group, r)
			continue
		default:
		}
		if len(group) >= last {
			return group
		}
		if timeout == nil {
			timeout = time.After(groupWait)
		}
		select {
		case r, ok := <-s.requests:
			if !ok {
				return group
			}
			group = append(group, r)
		case <-timeout:
			return group
		}
	}
	return group
}

// commitGroup runs a group in one transaction and answers everybody.
func (s *Store) commitGroup(group []*request) {
	if err := s.replaySpilled(); err != nil { // what waits on the side comes first, so that order is kept
		s.refuseGroup(group, err)
		return
	}
	answers, err := s.runGroup(group)
	if err != nil {
		s.rememberDamage(err)
		s.refuseGroup(group, err)
		return
	}
	if s.broken { // before the answers, so that a rebuild that hears of its own failure starts anew itself
		s.broken = false
		s.Rebuild()
	}
	for i, r := range group {
		r.done <- answers[i]
	}
}

// runGroup returns one answer a request, or the error that kept the whole group from being written.
func (s *Store) runGroup(group []*request) ([]error, error) {
	ctx := context.Background()
	if err := beginImmediate(ctx, s.conn); err != nil {
		return nil, err
	}
	t := &tx{ctx: ctx, conn: s.conn, now: s.now().UnixMilli()}
	answers := make([]error, len(group))
	err := s.markOpen(t)
	for i, r := range group {
		if err != nil {
			break
		}
		answers[i], err = t.attemptNested(r.do)
	}
	if err == nil {
		err = s.commitTx(t)
	}
	if err != nil {
		// SQLite has often rolled back by itself; then this one fails and that is fine.
		_, _ = s.conn.ExecContext(ctx, "ROLLBACK")
		return nil, err
	}
	return answers, nil
}

// commitTx marks the index as stale if it failed, and commits.
func (s *Store) commitTx(t *tx) error {
	if t.indexBroken {
		s.broken = true
		if err := setMeta(t.ctx, t.conn, "fts_version", "stale"); err != nil {
			return err
		}
	}
	_, err := t.exec("COMMIT")
	return err
}

// attemptNested runs do so that its failure undoes its own work only. fatal ends the transaction.
func (t *tx) attemptNested(do func(*tx) error) (answer, fatal error) {
	if _, err := t.exec("SAVEPOINT r"); err != nil {
		return nil, err
	}
	answer = do(t)
	if err := t.indexErr; isDisk(err) || isBusy(err) {
		return nil, err
	}
	if answer != nil {
		if isDisk(answer) || isBusy(answer) || isDamage(answer) {
			return nil, answer
		}
		if _, err := t.exec("ROLLBACK TO r"); err != nil {
			return nil, errors.Join(answer, err)
		}
	}
	_, fatal = t.exec("RELEASE r")
	return answer, fatal
}

// markOpen notes before the first write of this process that the store is in use.
func (s *Store) markOpen(t *tx) error {
	if s.marked {
		return nil
	}
	if err := setMeta(t.ctx, t.conn, "clean_shutdown", "0"); err != nil {
		return err
	}
	s.marked = true
	return nil
}

// refuseGroup answers a group that could not be written. What must not be lost goes to the spill
// file.
func (s *Store) refuseGroup(group []*request, cause error) {
	for _, r := range group {
		if len(r.spill) == 0 {
			r.done <- fmt.Errorf("store: not saved: %w%s", cause, errorHint(cause))
			continue
		}
		if err := s.spill.keepRecords(r.spill); err != nil {
			r.done <- fmt.Errorf("store: not saved: %w, and not kept aside either: %w%s", cause, err, errorHint(cause))
			continue
		}
		r.done <- &SpilledError{Path: s.spill.path, Cause: cause}
	}
}

func errorHint(err error) string {
	switch {
	case isBusy(err):
		return "; another hermes holds the database: close it, or try again"
	case isDisk(err):
		return "; free some disk space and check that the folder can be written"
	case isDamage(err):
		return "; hermes repairs it when it starts next, and says what became of it"
	default:
		return ""
	}
}

// beginImmediate takes the write lock. Beyond SQLite's own wait it retries with jitter, so that two
// busy processes do not meet at the same moment again and again.
func beginImmediate(ctx context.Context, conn *sql.Conn) error {
	deadline := time.Now().Add(busyLimit)
	for {
		_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		wait := 20*time.Millisecond + rand.N(130*time.Millisecond)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
