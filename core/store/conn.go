package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mattn/go-sqlite3"
)

const (
	minSQLite = 3_051_003 // older ones have the WAL-reset bug
	readers   = 4
)

// dsn returns the driver's address of path. The path is escaped: it may hold '?', '#' and '%'.
func dsn(path string, params ...string) string {
	u := url.URL{Scheme: "file", Path: path}
	return u.String() + "?" + strings.Join(params, "&")
}

func openReaders(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", dsn(path, "mode=ro", "_query_only=1", "_busy_timeout=5000", "_cache_size=-8000", "_stmt_cache_size=32"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return db, nil
}

// openWriter opens the one connection that writes. walAllowed is false on network file systems.
func openWriter(ctx context.Context, path string, walAllowed bool) (*sql.DB, *sql.Conn, error) {
	db, err := sql.Open("sqlite3", dsn(path, "mode=rwc", "_txlock=immediate", "_busy_timeout=5000", "_foreign_keys=1",
		"_cache_size=-16000", "_synchronous=FULL", "_stmt_cache_size=64"))
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err == nil {
		if err = configureConn(ctx, conn, walAllowed); err == nil {
			return db, conn, nil
		}
		err = errors.Join(err, conn.Close())
	}
	return nil, nil, errors.Join(err, db.Close())
}

func configureConn(ctx context.Context, conn *sql.Conn, walAllowed bool) error {
	if err := assertSQLite(ctx, conn); err != nil {
		return err
	}
	pragmas := "PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=1000; PRAGMA journal_size_limit=67108864"
	if _, err := conn.ExecContext(ctx, pragmas); err != nil {
		return err
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode == "wal" || !walAllowed {
		return nil // a live WAL is never taken down
	}
	return conn.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode)
}

// assertSQLite refuses a library that lacks what the format needs.
func assertSQLite(ctx context.Context, conn *sql.Conn) error {
	version, number, _ := sqlite3.Version()
	if number < minSQLite {
		return fmt.Errorf("store: built with SQLite %s, which can damage a write-ahead log; build with 3.51.3 or newer", version)
	}
	var fts bool
	if err := conn.QueryRowContext(ctx, "SELECT sqlite_compileoption_used('ENABLE_FTS5')").Scan(&fts); err != nil {
		return err
	}
	if !fts { // contentless_delete came with 3.43, so that the version above covers it
		return errors.New("store: this SQLite has no FTS5; build with -tags sqlite_fts5 (make build does)")
	}
	return nil
}

// errorCode returns SQLite's primary error code of err, 0 when it is no SQLite error.
func errorCode(err error) sqlite3.ErrNo {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// isDamage reports whether err says that the file's content is broken.
func isDamage(err error) bool {
	c := errorCode(err)
	unknown := c == sqlite3.ErrError && strings.Contains(err.Error(), "unsupported file format") // a number in the header
	return c == sqlite3.ErrCorrupt || c == sqlite3.ErrNotADB || c == sqlite3.ErrFormat || unknown
}

func isBusy(err error) bool {
	c := errorCode(err)
	return c == sqlite3.ErrBusy || c == sqlite3.ErrLocked
}

// isDisk reports whether err comes from the disk: full, failing, gone or read-only.
func isDisk(err error) bool {
	switch errorCode(err) {
	case sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrNomem:
		return true
	default:
		return false
	}
}
