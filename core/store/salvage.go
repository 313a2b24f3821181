package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"hermes/core/rows"
	"hermes/core/store/dbfile"
)

// salvageTables are taken over when a database is made anew; everything else is derived from them.
var salvageTables = []string{"prompts", "blobs", "sessions", "session_meta", "messages", "attempts", "spent", "meta", "sqlite_sequence"}

const salvageBatch = 10_000 // rows in one transaction

func rescuedFile(path string) string { return path + ".rescued" }

// rescueDamaged makes a damaged database anew from the rows that can be read and keeps the damaged
// one beside it. Nothing is given up before the new one is whole: a crash in between costs nothing.
func (s *Store) rescueDamaged(ctx context.Context, cause error) error {
	if s.temp == "" {
		if !lockExclusive(s.lock) {
			return fmt.Errorf("%w: close that one first (%w)", errInUse, cause)
		}
		defer lockShare(s.lock) // at the end: a row that another process adds meanwhile could have the number of an old one
	}
	if err := s.closeConns(); err != nil {
		cause = errors.Join(cause, err)
	}
	fresh := s.path + ".new"
	defer removeDatabase(fresh)
	if removeDatabase(fresh); fileExists(fresh) {
		return fmt.Errorf("the database is damaged (%w), and %s is in the way of a new one: move it away", cause, fresh)
	}
	v := &salvage{store: s}
	if err := v.buildDatabase(ctx, fresh); err != nil {
		if errors.Is(err, ErrNewer) {
			return err
		}
		return fmt.Errorf("the database is damaged (%w) and could not be made anew: %w%s", cause, err, errorHint(err))
	}
	if err := os.Rename(fresh, rescuedFile(s.path)); err != nil {
		return err
	}
	if err := s.swapRescued(); err != nil {
		return err
	}
	s.report.Salvaged, s.report.Lost = v.kept["messages"], v.lost
	s.report.Notes = append(s.report.Notes, fmt.Sprintf("the database was damaged (%v) and was made anew from what could be read: %s. The damaged file is kept as %s",
		cause, v.summary(), s.report.MovedTo))
	return nil
}

var errInUse = errors.New("the database is damaged and another hermes uses it")

// finishRescue ends what a crash in swap left.
func (s *Store) finishRescue() error {
	if !fileExists(rescuedFile(s.path)) {
		return nil
	}
	if !lockExclusive(s.lock) {
		return errInUse
	}
	defer lockShare(s.lock)
	return s.swapRescued()
}

// damageBefore says what is known to be wrong before SQLite looks at the file: what an earlier
// process met, a log that breaks off in the middle, a database that was emptied while its log or
// its reserve is there.
func (s *Store) damageBefore() error {
	if found := Damaged(s.path); found != "" {
		return fmt.Errorf("%w: %s", errDamaged, strings.TrimPrefix(found, errDamaged.Error()+": "))
	}
	info, err := os.Stat(s.path)
	_, errLog := os.Stat(s.path + "-wal")
	switch {
	case errLog == nil && (os.IsNotExist(err) || err == nil && info.Size() == 0):
		return fmt.Errorf("%w: it is empty, and its log is not", errDamaged)
	case errLog == nil && s.isOnlyProcess() && (dbfile.LogBroken(s.path) || !dbfile.IsDatabase(s.path)): // SQLite would empty the log without a word
		return fmt.Errorf("%w: its log goes on behind a break, or its beginning is gone", errDamaged)
	case err == nil && info.Size() == 0 && fileExists(reserveFile(s.path)):
		return fmt.Errorf("%w: it is empty", errDamaged)
	}
	return nil
}

// isOnlyProcess reports whether no other process uses the database at this moment.
func (s *Store) isOnlyProcess() bool {
	if !lockExclusive(s.lock) {
		return s.temp != ""
	}
	lockShare(s.lock)
	return true
}

// swapRescued puts a rescued database in the place of the damaged one, which is moved aside. A
// crash leaves it to the next Open.
func (s *Store) swapRescued() error {
	aside := s.path + ".corrupt-" + timeStamp(s.now())
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Rename(s.path+suffix, aside+suffix); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("move the damaged database aside: %w", err)
		}
	}
	if err := os.Remove(s.path + "-shm"); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Rename(rescuedFile(s.path), s.path); err != nil {
		return err
	}
	s.report.MovedTo = aside
	if err := os.Remove(damageFile(s.path)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func removeDatabase(path string) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(path + suffix) // what stays is met, and told, by who opens it
	}
}

// salvage is the making of a new database from a damaged one.
type salvage struct {
	store *Store
	file  *dbfile.File
	conn  *sql.Conn
	kept  map[string]int // rows by table
	open  int            // rows of the transaction
	lost  int            // messages that a session counted and that are not there
	bad   int            // pages

	sessions bool // the table of sessions was whole: what belongs to none was deleted
}

// summary says with numbers what was taken over and what was lost.
func (v *salvage) summary() string {
	text := fmt.Sprintf("%s in %s", pluralOf(v.kept["messages"], "message"), pluralOf(v.kept["sessions"], "session"))
	if v.lost == 0 && v.bad == 0 {
		return text + "; nothing is missing"
	}
	return text + fmt.Sprintf("; %s missing (%s could not be read)", pluralOf(v.lost, "message"), pluralOf(v.bad, "page"))
}

func pluralOf(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// buildDatabase writes the new database at path, whole and closed.
func (v *salvage) buildDatabase(ctx context.Context, path string) (err error) {
	_, network := networkFS(path)
	db, conn, err := openWriter(ctx, path, !network)
	if err != nil {
		return err
	}
	v.conn, v.kept = conn, map[string]int{}
	defer func() { err = errors.Join(err, conn.Close(), db.Close()) }()
	if _, err := migrateSchema(ctx, conn, v.store.now().UnixMilli()); err != nil {
		return err
	}
	if err := makePrivate(path); err != nil {
		return err
	}
	if v.file, err = dbfile.Open(v.store.path); err == nil {
		err = v.fillTables(ctx)
		v.bad = v.file.Bad()
		err = errors.Join(err, v.file.Close())
		if err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// fillTables takes over the rows of every table, and makes them consistent.
func (v *salvage) fillTables(ctx context.Context) error {
	if _, err := v.conn.ExecContext(ctx, "PRAGMA foreign_keys=OFF; BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := v.takeAll(ctx); err != nil {
		return err
	}
	var err error
	if v.lost, err = v.mendRows(ctx); err != nil {
		return err
	}
	_, err = v.conn.ExecContext(ctx, "COMMIT; PRAGMA foreign_keys=ON")
	return err
}

// takeAll takes over rows, newest first: a row that is there already is not replaced.
func (v *salvage) takeAll(ctx context.Context) error {
	var targets []*target
	for _, name := range salvageTables {
		t, err := v.findTarget(ctx, name)
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	var failed error
	take := func(t *target, r dbfile.Row) (belongs bool) {
		if failed == nil {
			belongs, failed = t.takeRow(ctx, r)
		}
		return belongs
	}
	takeFirst := func(r dbfile.Row) { // into the table that it fits
		_ = slices.ContainsFunc(targets, func(t *target) bool { return take(t, r) })
	}
	v.file.Behind(takeFirst)
	roots, whole := v.file.Roots(), true
	for _, t := range targets {
		all := v.file.Table(roots[t.name], func(r dbfile.Row) bool { return take(t, r) })
		v.sessions = v.sessions || all && t.name == "sessions"
		whole = whole && all
	}
	if !whole {
		v.file.Strays(takeFirst)
	}
	v.file.Leftovers(!whole, takeFirst)
	return failed
}

// target is a table of the new database.
type target struct {
	v       *salvage
	name    string
	columns []column
	insert  string
}

type column struct {
	name, kind    string
	needed, rowid bool
}

func (v *salvage) findTarget(ctx context.Context, name string) (*target, error) {
	t := &target{v: v, name: name}
	if name == "sqlite_sequence" {
		t.columns = []column{{name: "name", kind: "TEXT", needed: true}, {name: "seq", kind: "INTEGER", needed: true}}
		return t, nil
	}
	answer := rows.Ask(ctx, v.conn, "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)", name)
	var err error
	t.columns, err = rows.Collect(answer, func(r rows.Scanner) (c column, err error) {
		err = r.Scan(&c.name, &c.kind, &c.needed, &c.rowid)
		c.rowid = c.rowid && c.kind == "INTEGER"
		return c, err
	})
	if err != nil {
		return nil, err
	}
	t.insert = "INSERT OR IGNORE INTO " + name + " VALUES(?" + strings.Repeat(",?", len(t.columns)-1) + ")"
	return t, nil
}

// takeRow adds a row if it is one of this table. An error is one of the new database.
func (t *target) takeRow(ctx context.Context, r dbfile.Row) (belongs bool, err error) {
	if !t.fitsShape(r) {
		return false, nil
	}
	values := r.Values
	for len(values) < len(t.columns) {
		values = append(values, int64(0))
	}
	for i, c := range t.columns[:len(values)] {
		if c.rowid {
			values[i] = r.ID
		}
	}
	switch t.name {
	case "meta":
		return t.takeMeta(ctx, values)
	case "sqlite_sequence": // numbers are never used again
		_, err := t.v.conn.ExecContext(ctx, `INSERT INTO sqlite_sequence(name,seq) SELECT ?1,0 WHERE NOT EXISTS(SELECT 1 FROM sqlite_sequence WHERE name=?1);
 UPDATE sqlite_sequence SET seq=max(seq,?2) WHERE name=?1`, values[0], values[0], values[1], values[0])
		return true, err
	}
	done, err := t.v.conn.ExecContext(ctx, t.insert, values...)
	if err != nil {
		return true, err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return true, err
	}
	t.v.kept[t.name]++
	if t.v.open++; t.v.open%salvageBatch == 0 {
		_, err = t.v.conn.ExecContext(ctx, "COMMIT; BEGIN IMMEDIATE")
	}
	return true, err
}

// takeMeta keeps which spilled writes are in the database already. A newer hermes must do its
// salvage itself.
func (t *target) takeMeta(ctx context.Context, values []any) (bool, error) {
	key, _ := values[0].(string)
	if version, ok := values[1].(string); ok && key == "schema_version" && isNewerVersion(version) {
		return true, fmt.Errorf("%w, and it is damaged: let that one repair it", ErrNewer)
	}
	if !strings.HasPrefix(key, "spill:") {
		return true, nil
	}
	_, err := t.v.conn.ExecContext(ctx, "INSERT OR IGNORE INTO meta(key,value) VALUES(?,?)", values...)
	return true, err
}

// addedColumns is how many numbers migrations added at the end of a table. A row that was written
// before ends without them; they are 0.
var addedColumns = map[string]int{"spent": 1}

// fitsShape reports whether a row has the shape of this table: as many values as columns, each of
// the kind of its own.
func (t *target) fitsShape(r dbfile.Row) bool {
	if n := len(t.columns); len(r.Values) > n || len(r.Values) < n-addedColumns[t.name] {
		return false
	}
	for i, c := range t.columns[:len(r.Values)] {
		switch r.Values[i].(type) {
		case nil:
			if c.needed && !c.rowid {
				return false
			}
		case int64:
			if c.kind != "INTEGER" || c.rowid {
				return false
			}
		case string:
			if c.kind != "TEXT" {
				return false
			}
		case []byte:
			if c.kind != "BLOB" {
				return false
			}
		default:
			return false
		}
	}
	return r.ID > 0
}

// mendRows makes the salvaged rows consistent: sessions for orphaned messages, no links into
// nothing, right counters, and an index to be rebuilt. Lost is how many messages the sessions
// counted that are not there.
func (v *salvage) mendRows(ctx context.Context) (lost int, err error) {
	conn := v.conn
	if v.sessions {
		done, err := conn.ExecContext(ctx, "DELETE FROM messages WHERE session_id NOT IN (SELECT id FROM sessions)")
		if err != nil {
			return 0, err
		}
		n, err := done.RowsAffected()
		if v.kept["messages"] -= int(n); err != nil {
			return 0, err
		}
	}
	err = conn.QueryRowContext(ctx, `SELECT COALESCE(sum(max(0, s.msg_count - (SELECT count(*) FROM messages WHERE session_id=s.id AND active=1))),0)
 FROM sessions s`).Scan(&lost)
	if err != nil {
		return 0, err
	}
	for _, q := range []string{
		`INSERT INTO sessions(id,uid,title,title_src,started_ms,last_ms)
 SELECT session_id,'recovered-'||session_id,'Recovered conversation','derived',min(ts_ms),max(ts_ms) FROM messages
 WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id`,
		"DELETE FROM session_meta WHERE session_id NOT IN (SELECT id FROM sessions)",
		"DELETE FROM attempts WHERE message_id NOT IN (SELECT id FROM messages)",
		"UPDATE spent SET session_id=NULL WHERE session_id NOT IN (SELECT id FROM sessions)",
		"UPDATE sessions SET parent_id=NULL WHERE parent_id NOT IN (SELECT id FROM sessions)",
		"UPDATE sessions SET prompt_id=NULL WHERE prompt_id NOT IN (SELECT id FROM prompts)",
		`INSERT OR IGNORE INTO content_refs(session_id,hash) SELECT m.session_id,p.value FROM messages m,
 json_tree(CASE WHEN json_valid(m.extra) THEN m.extra ELSE '{}' END) p WHERE m.extra LIKE '%"blob":%' AND p.key='blob'`,
		"UPDATE messages SET blob_id=NULL WHERE blob_id NOT IN (SELECT id FROM blobs)",
		"UPDATE sessions SET last_seq=MAX(last_seq,COALESCE((SELECT max(seq) FROM messages WHERE session_id=sessions.id),0))",
		countAgain,
		"UPDATE meta SET value='stale' WHERE key='fts_version'",
	} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// countAgain makes the counters of the sessions right.
const countAgain = `UPDATE sessions SET
 msg_count=(SELECT count(*) FROM messages WHERE session_id=sessions.id AND active=1),
 tool_count=(SELECT count(*) FROM messages WHERE session_id=sessions.id AND active=1 AND role='tool')`
