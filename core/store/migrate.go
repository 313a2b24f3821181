package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
)

//go:embed schema.sql
var schemaV1 string

//go:embed schema2.sql
var schemaV2 string

//go:embed schema3.sql
var schemaV3 string

//go:embed schema4.sql
var schemaV4 string

// migrations[i] brings a database from version i to i+1. They only add; a release never edits an
// old one.
var migrations = []string{schemaV1, schemaV2, schemaV3, schemaV4}

// applicationID marks our files ("HRMW"), for tools that look at file headers.
const applicationID = 0x48524d57

// ErrNewer says that a newer hermes wrote the database.
var ErrNewer = errors.New("the database was written by a newer hermes")

// ErrForeign says that the file is a database of another program.
var ErrForeign = errors.New("the file is a database of another program")

// migrateSchema brings the schema up to date in one transaction, so that two processes that start
// together cannot collide. It reports whether the database was empty.
func migrateSchema(ctx context.Context, conn *sql.Conn, now int64) (created bool, err error) {
	version, err := schemaVersion(ctx, conn)
	if err != nil || version == len(migrations) {
		return false, err
	}
	if version > len(migrations) {
		return false, fmt.Errorf("%w (format %d, this program knows %d): update hermes, or set HERMES_HOME to another folder", ErrNewer, version, len(migrations))
	}
	if err := beginImmediate(ctx, conn); err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(ctx, "ROLLBACK")
		}
	}()
	if version, err = schemaVersion(ctx, conn); err != nil { // again, now under the lock
		return false, err
	}
	for v := version; v < len(migrations); v++ {
		if _, err = conn.ExecContext(ctx, migrations[v]); err != nil {
			return false, fmt.Errorf("store: bring the database from format %d to %d: %w", v, v+1, err)
		}
	}
	if version == 0 {
		if err = createIndex(ctx, conn); err != nil {
			return false, err
		}
		if _, err = conn.ExecContext(ctx, "PRAGMA application_id="+strconv.Itoa(applicationID)); err != nil {
			return false, err
		}
		if err = setMeta(ctx, conn, "created_ms", strconv.FormatInt(now, 10)); err != nil {
			return false, err
		}
	}
	if err = setMeta(ctx, conn, "schema_version", strconv.Itoa(len(migrations))); err != nil {
		return false, err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return version == 0, err
}

// schemaVersion returns 0 for an empty database.
func schemaVersion(ctx context.Context, conn *sql.Conn) (int, error) {
	var tables, ours int
	err := conn.QueryRowContext(ctx, "SELECT count(*), COALESCE(sum(name IN ('meta','sessions','messages')),0) FROM sqlite_schema WHERE type='table'").Scan(&tables, &ours)
	if err != nil {
		return 0, err
	}
	if ours != 3 {
		if err := mayBeNew(ctx, conn, tables); err != nil || tables == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("store: %w; move it away, or set HERMES_HOME to another folder", ErrForeign)
	}
	text, err := getMeta(ctx, conn, "schema_version")
	if err != nil {
		return 0, err
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 {
		return 0, fmt.Errorf("store: the format version %q of the database makes no sense: %w", text, errDamaged)
	}
	return v, nil
}

// mayBeNew reports our own file whose list of tables has lost some: to make them anew in it would
// write over what is still there.
func mayBeNew(ctx context.Context, conn *sql.Conn, tables int) error {
	var id, pages int
	if err := conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	if id == applicationID || tables == 0 && pages > 1 {
		return fmt.Errorf("store: %w: its list of tables is not whole", errDamaged)
	}
	return nil
}

// isNewerVersion reports whether a format version is one that this program does not know.
func isNewerVersion(version string) bool {
	v, err := strconv.Atoi(version)
	return err == nil && v > len(migrations)
}

// queryer is what *sql.DB and *sql.Conn have in common for reading.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// getMeta returns "" for a key that is not set.
func getMeta(ctx context.Context, q queryer, key string) (string, error) {
	var v string
	err := q.QueryRowContext(ctx, "SELECT value FROM meta WHERE key=?", key).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return v, err
}

func setMeta(ctx context.Context, conn *sql.Conn, key, value string) error {
	_, err := conn.ExecContext(ctx, "INSERT INTO meta(key,value) VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value", key, value)
	return err
}
