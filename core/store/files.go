package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// canWrite also tells about read-only mounts, where permission bits say nothing.
func canWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }

func isReadOnly(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

// copyAway goes on with a copy in a temporary folder. A database in a folder that cannot be written
// cannot be opened in place: SQLite would need to create files beside it, and in its immutable mode
// it ignores the log.
func (s *Store) copyAway() error {
	dir, err := os.MkdirTemp("", "hermes-readonly-")
	if err != nil {
		return err
	}
	copied, err := CopyDatabase(s.path, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.RemoveAll(dir))
	}
	s.report.NotSaved = true
	s.report.Banner = "read-only, not saved: " + filepath.Dir(s.path) + " cannot be written"
	s.temp, s.path = dir, copied
	return nil
}

// CopyDatabase copies the SQLite file at path and its log into dir and returns the copy's path.
// Nothing in this process may have the original open.
func CopyDatabase(path, dir string) (string, error) {
	to := filepath.Join(dir, filepath.Base(path))
	// The log first would lose commits that a checkpoint moves meanwhile; the database first may
	// get a log that is newer than it, which SQLite replays.
	if err := copyFile(path, to); err != nil {
		return to, err
	}
	if err := copyFile(path+"-wal", to+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return to, err
	}
	return to, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// lockWait is how long another process may take to make a damaged database anew.
const lockWait = 2 * time.Minute

// lockShared says to other processes that the database is in use, so that nobody moves it aside. It
// waits while another one does that. It returns nil where locks do not work; then the database is
// never moved.
func lockShared(path string) *os.File {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil
	}
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if err == nil {
			return f
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Since(begun) > lockWait {
			f.Close()
			return nil
		}
	}
}

// lockExclusive reports whether nobody else uses the database, and keeps others out until
// lockShare.
func lockExclusive(f *os.File) bool {
	if f == nil {
		return false
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		return true
	}
	lockShare(f) // the attempt may have cost it
	return false
}

func lockShare(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_SH) }

// OpenForeign opens another program's SQLite file to read it, through a copy in a temporary folder:
// the original is never locked, repaired or changed. Call close when done.
func OpenForeign(ctx context.Context, path string) (db *sql.DB, done func() error, err error) {
	dir, err := os.MkdirTemp("", "hermes-import-")
	if err != nil {
		return nil, nil, err
	}
	cleanup := func() error { return os.RemoveAll(dir) }
	copied, err := CopyDatabase(path, dir)
	if err == nil {
		db, err = sql.Open("sqlite3", dsn(copied, "mode=rw", "_query_only=1"))
	}
	if err == nil {
		if err = db.PingContext(ctx); err != nil {
			err = errors.Join(err, db.Close())
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, cleanup())
	}
	db.SetMaxOpenConns(2)
	return db, func() error { return errors.Join(db.Close(), cleanup()) }, nil
}
