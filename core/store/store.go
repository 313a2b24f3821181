// Package store keeps conversations in one SQLite file: the rows of sessions and messages, and a
// full-text index that is derived from them.
//
// The contract:
//
//   - What a write method acknowledged by returning nil was committed and synced; it survives a
//     kill at any moment.
//   - One goroutine writes. Writes that arrive together share one transaction. The order of a
//     session's messages is their Seq, given in that transaction, never the clock.
//   - What the disk refuses goes to a synced spill file beside the database (SpilledError) and into
//     the database as soon as it can be written again.
//   - The index can be missing, old or damaged without harm to a conversation: searches then scan
//     the newest messages while it is built again in the background.
//   - A damaged database is moved aside, never overwritten, and what can be read of it is taken
//     over. One that a newer program wrote is refused (ErrNewer). One in a folder that cannot be
//     written is opened as a throw-away copy.
//   - Several processes may use one file at the same time. A process that works in a session has
//     its Lease.
//   - No code in this process may open the database file other than through SQLite: closing any
//     descriptor of it drops SQLite's locks.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"hermes/core/crash"
)

// Options tune Open. The zero value is right for the program.
type Options struct {
	Now      func() time.Time        // nil: time.Now
	Progress func(done, total int64) // advance of an index rebuild, in messages; called from the rebuild's goroutine
}

// Report says what Open found and did. Banner and Notes are for people; the rest is for tests and
// `doctor`.
type Report struct {
	Created  bool     // the database is new
	NotSaved bool     // the folder cannot be written: a throw-away copy is open
	Banner   string   // shown all the time when not empty
	MovedTo  string   // where a damaged file was put
	Salvaged int      // messages read out of it
	Lost     int      // messages known to be unreadable
	Replayed int      // writes taken over from a spill file
	Unclean  bool     // the last process did not close the store
	Notes    []string // one sentence each
}

// Store is an open database. All methods are safe for concurrent use.
type Store struct {
	path     string
	contents string // folder of what parts hold
	temp     string // folder of the throw-away copy
	now      func() time.Time
	progress func(done, total int64)
	report   Report
	lock     *os.File
	leases   leases

	writer *sql.DB
	conn   *sql.Conn // used by Open and then by the writer goroutine only
	read   *sql.DB
	spill  *spillFile
	marked bool        // clean_shutdown was reset
	swept  atomic.Bool // contents that a crash left were looked for
	broken bool        // the index failed, and nobody was told to rebuild it yet

	mu       sync.RWMutex // guards closed, and requests against sends after close
	closed   bool
	requests chan *request
	written  chan struct{} // closed when the writer has ended

	background                      sync.WaitGroup
	stale, rebuildOn                atomic.Bool
	rebuilt, rebuildTotal, replayed atomic.Int64
	rebuildErr                      atomic.Pointer[error]
	closing                         sync.Once
	closeErr                        error
}

// Open opens or creates the database at path, whose folder is made if need be.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	var s *Store
	for try := 0; ; try++ {
		s = &Store{path: resolveLink(path), now: o.Now, progress: o.Progress}
		s.contents = filepath.Join(filepath.Dir(s.path), "blobs")
		if s.now == nil {
			s.now = time.Now
		}
		err := s.openOrRescue(ctx)
		if err == nil {
			break
		}
		err = errors.Join(fmt.Errorf("open %s: %w", path, err), s.closeOpen())
		// SQLite does not wait for another process that makes the same new file at this moment: its
		// change to a log is not queued.
		if !isBusy(err) || try == 40 || ctx.Err() != nil {
			return nil, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.requests = make(chan *request, groupMax)
	s.written = make(chan struct{})
	crash.Go("store: writer", s.writeLoop)
	if s.stale.Load() {
		s.Rebuild()
	}
	return s, nil
}

// resolveLink follows a symbolic link, because the log lies beside the real file.
func resolveLink(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

func (s *Store) openOrRescue(ctx context.Context) error {
	if err := s.prepareFolder(); err != nil {
		return err
	}
	if err := s.finishRescue(); err != nil {
		return err
	}
	known := s.damageBefore()
	err := known
	if err == nil {
		err = s.openAndResume(ctx)
	}
	if errors.Is(err, errDamaged) || isDamage(err) || err != nil && s.isFolder() {
		if err = s.rescueDamaged(ctx, err); err == nil || known != nil && errors.Is(err, errInUse) { // which may go on without meeting the damage
			err = s.openAndResume(ctx)
		}
	}
	return err
}

// openAndResume opens the database and takes up where the last process stopped.
func (s *Store) openAndResume(ctx context.Context) (err error) {
	if s.report.Created, err = s.openConns(ctx); err != nil {
		return err
	}
	if s.spill, err = openSpill(s.path); err != nil {
		return err
	}
	if err = s.replaySpilled(); isDamage(err) {
		return err
	} else if err != nil { // kept, and tried again before the next write
		s.report.Notes = append(s.report.Notes, fmt.Sprintf("%d messages wait in %s: %v", len(s.spill.waiting), s.spill.path, err))
	}
	return s.readState(ctx)
}

func (s *Store) isFolder() bool {
	info, err := os.Stat(s.path)
	return err == nil && info.IsDir()
}

// prepareFolder makes the folder, or turns to a copy when it cannot be written.
func (s *Store) prepareFolder() error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil && !isReadOnly(err) {
		return err
	}
	if canWrite(dir) && (canWrite(s.path) || !fileExists(s.path)) {
		s.lock = lockShared(s.path + ".lock")
		return nil
	}
	return s.copyAway()
}

// openConns opens writer and readers and looks at the places where damage shows at once.
func (s *Store) openConns(ctx context.Context) (created bool, err error) {
	fsType, network := networkFS(s.path)
	if s.writer, s.conn, err = openWriter(ctx, s.path, !network); err != nil {
		return false, err
	}
	if network {
		s.report.Notes = append(s.report.Notes, "the database is on a network file system ("+fsType+"): slower, and best used by one process")
	}
	if created, err = migrateSchema(ctx, s.conn, s.now().UnixMilli()); err != nil {
		return false, err
	}
	if created {
		if err = makePrivate(s.path); err != nil {
			return false, err
		}
	}
	if err = probeDamage(ctx, s.conn); err != nil {
		return false, err
	}
	s.read, err = openReaders(s.path)
	return created, err
}

// makePrivate makes the files private. By path: opening them would break locks.
func makePrivate(path string) error {
	err := os.Chmod(path, 0o600)
	for _, suffix := range []string{"-wal", "-shm"} {
		if fileExists(path + suffix) {
			err = errors.Join(err, os.Chmod(path+suffix, 0o600))
		}
	}
	return err
}

func (s *Store) readState(ctx context.Context) error {
	clean, err := getMeta(ctx, s.conn, "clean_shutdown")
	if err != nil {
		return err
	}
	s.report.Unclean = clean == "0"
	version, err := getMeta(ctx, s.conn, "fts_version")
	if err != nil {
		return err
	}
	left, err := getMeta(ctx, s.conn, "fts_done_to")
	s.stale.Store(version != indexVersion || left != "")
	return err
}

// Report returns what Open found.
func (s *Store) Report() Report {
	r := s.report
	r.Replayed = int(s.replayed.Load())
	return r
}

// Path returns the database file that is open, symbolic links followed.
func (s *Store) Path() string { return s.path }

// Close commits what is queued, empties the log into the database and closes it. Only the first
// call does something.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Store) close() error {
	s.mu.Lock()
	s.closed = true
	close(s.requests)
	s.mu.Unlock()
	<-s.written
	s.background.Wait()
	var err error
	if s.marked {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		err = setMeta(ctx, s.conn, "clean_shutdown", "1")
		err = errors.Join(err, s.read.Close())                                             // a reader would keep the log from being emptied
		_, _ = s.conn.ExecContext(ctx, "PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE)") // saves time next time, nothing else
	}
	return errors.Join(err, s.closeOpen())
}

// closeOpen closes what is open; it is safe on a store that is half open.
func (s *Store) closeOpen() error {
	err := errors.Join(s.closeConns(), s.leases.close())
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	if s.temp != "" {
		err = errors.Join(err, os.RemoveAll(s.temp))
	}
	return err
}

func (s *Store) closeConns() error {
	var err error
	if s.read != nil {
		err = s.read.Close()
	}
	if s.conn != nil {
		err = errors.Join(err, s.conn.Close(), s.writer.Close())
	}
	s.conn, s.writer = nil, nil // read stays: who still asks is told that it is closed
	return err
}
