package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"hermes/core/rows"
)

// errDamaged marks damage that SQLite itself does not report.
var errDamaged = errors.New("the database is damaged")

// timeStamp is a time as part of a file name.
func timeStamp(t time.Time) string { return t.UTC().Format("20060102T150405.000") }

// probes read the root and one edge of every tree: a page that is gone there would stop all work.
// The first is about the conversations, the second about the search index, which may be missing:
// then it is made anew.
var probes = []string{
	`SELECT (SELECT max(id) FROM messages), (SELECT seq FROM messages WHERE session_id=-1), (SELECT id FROM messages WHERE blob_id=-1),
 (SELECT max(id) FROM sessions), (SELECT id FROM sessions WHERE uid=''), (SELECT id FROM sessions WHERE parent_id=-1),
 (SELECT id FROM sessions WHERE repo_root='' ORDER BY last_ms DESC LIMIT 1),
 (SELECT preview FROM sessions WHERE archived=0 AND hidden=0 AND kind IN ('user','branch') ORDER BY pinned DESC, last_ms DESC, id DESC LIMIT 1),
 (SELECT max(id) FROM session_meta), (SELECT id FROM session_meta WHERE session_id=-1 AND key=''),
 (SELECT max(id) FROM prompts), (SELECT id FROM prompts WHERE hash=x''), (SELECT max(id) FROM blobs), (SELECT id FROM blobs WHERE hash=x''),
 (SELECT max(id) FROM attempts), (SELECT id FROM attempts WHERE message_id=-1 AND n=0),
 (SELECT max(session_id) FROM content_refs), (SELECT session_id FROM content_refs WHERE hash=''),
 (SELECT max(id) FROM spent), (SELECT id FROM spent WHERE at_ms=0), (SELECT id FROM spent WHERE session_id=-1),
 (SELECT max(rowid) FROM meta), (SELECT value FROM meta WHERE key=''), (SELECT max(rowid) FROM sqlite_sequence)`,
	`SELECT (SELECT max(id) FROM fts_talk_data), (SELECT length(block) FROM fts_talk_data WHERE id=10), (SELECT min(segid) FROM fts_talk_idx),
 (SELECT max(id) FROM fts_talk_docsize), (SELECT v FROM fts_talk_config WHERE k='version'),
 (SELECT max(id) FROM fts_tool_data), (SELECT length(block) FROM fts_tool_data WHERE id=10), (SELECT min(segid) FROM fts_tool_idx),
 (SELECT max(id) FROM fts_tool_docsize), (SELECT v FROM fts_tool_config WHERE k='version')`,
}

// probeDamage reads where damage shows at once. It costs a fraction of a millisecond.
func probeDamage(ctx context.Context, conn *sql.Conn) error {
	for i, q := range probes {
		_, err := conn.ExecContext(ctx, q) // all of it is one row
		if err == nil {
			continue
		}
		missing := strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such column")
		if missing && i == 0 {
			return fmt.Errorf("store: %w: %w", errDamaged, err)
		}
		if !missing {
			return err
		}
	}
	return nil
}

func damageFile(path string) string { return path + ".damaged" }

// Damaged returns what an earlier process found wrong with the database at path, "" when nothing.
// The next Open repairs it.
func Damaged(path string) string {
	text, err := os.ReadFile(damageFile(resolveLink(path)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Examine looks at the database at path, which nothing in this process may have open, until ctx
// ends, and changes nothing. It returns what is wrong with the file, "" for nothing, and whether it
// has seen all of it.
func Examine(ctx context.Context, path string) (wrong string, all bool) {
	path = resolveLink(path)
	if wrong := Damaged(path); wrong != "" {
		return wrong, true
	}
	if fileExists(rescuedFile(path)) {
		return "its repair was cut off", true
	}
	how := "immutable=1" // makes no files beside it
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		how = "_query_only=1"
	}
	db, err := sql.Open("sqlite3", dsn(path, "mode=ro", how))
	if err != nil {
		return "", false
	}
	defer func() { _ = db.Close() }() // it was only read
	conn, err := db.Conn(ctx)
	if err == nil {
		defer func() { _ = conn.Close() }()
		if _, err = schemaVersion(ctx, conn); err == nil {
			err = probeDamage(ctx, conn)
		}
	}
	if isDamage(err) || errors.Is(err, errDamaged) {
		return err.Error(), true
	}
	if err != nil {
		return "", false
	}
	var line string
	if err = conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&line); err == nil && line != "ok" {
		return line, true
	}
	if isDamage(err) {
		return err.Error(), true
	}
	return "", err == nil
}

// rememberDamage remembers damage that was met at work, so that the next Open repairs it.
func (s *Store) rememberDamage(err error) {
	if isDamage(err) || errors.Is(err, errDamaged) {
		_ = os.WriteFile(damageFile(s.path), []byte(err.Error()+"\n"), 0o600) // if not, the next one to meet it tries again
	}
}

// watchDamage is rememberDamage for the named result of a function.
func (s *Store) watchDamage(err *error) {
	s.rememberDamage(*err)
	if isDamage(*err) {
		*err = fmt.Errorf("%w%s", *err, errorHint(*err))
	}
}

// Check examines the whole database and returns what is wrong, nothing if all is well. It reads
// everything: seconds for some hundred megabytes. The index and the counters are put right at once;
// damage of the file is repaired by the next Open.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	return s.runChecks(ctx, s.quickCheck, s.checkCounters, s.checkIndex)
}

// QuickCheck is Check without the search index.
func (s *Store) QuickCheck(ctx context.Context) ([]string, error) {
	return s.runChecks(ctx, s.quickCheck, s.checkCounters)
}

func (s *Store) runChecks(ctx context.Context, checks ...func(context.Context) ([]string, error)) ([]string, error) {
	var all []string
	for _, check := range checks {
		problems, err := check(ctx)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if err != nil {
			problems = append(problems, "database: "+err.Error())
		}
		if all = append(all, problems...); err != nil {
			break
		}
	}
	return all, nil
}

func (s *Store) quickCheck(ctx context.Context) (out []string, err error) {
	defer s.watchDamage(&err)
	answer := rows.Ask(ctx, s.read, "PRAGMA integrity_check(20)")
	lines, err := rows.Column[string](answer)
	for _, line := range lines {
		if line != "ok" {
			out = append(out, "database: "+line)
			s.rememberDamage(fmt.Errorf("%w: %s", errDamaged, line))
		}
	}
	return out, err
}

func (s *Store) checkCounters(ctx context.Context) ([]string, error) {
	answer := rows.Ask(ctx, s.read, `SELECT s.uid, s.msg_count, count(m.id) FROM sessions s
 LEFT JOIN messages m ON m.session_id=s.id AND m.active=1 GROUP BY s.id HAVING s.msg_count<>count(m.id)
 OR s.tool_count<>COALESCE(sum(m.role='tool'),0) LIMIT 20`)
	out, err := rows.Collect(answer, func(r rows.Scanner) (string, error) {
		var uid string
		var have, want int
		err := r.Scan(&uid, &have, &want)
		return fmt.Sprintf("session %s: counted %d messages, has %d (put right)", uid, have, want), err
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return out, s.runInWriter(ctx, nil, func(t *tx) error {
		_, err := t.exec(countAgain)
		return err
	})
}

// checkIndex runs the index's own check, which is a write to SQLite, and compares it with the rows.
func (s *Store) checkIndex(ctx context.Context) ([]string, error) {
	for s.stale.Load() { // a rebuild under way is waited for
		if err := s.rebuildErr.Swap(nil); err != nil {
			s.Rebuild()
			return []string{"search index: it could not be rebuilt (" + (*err).Error() + "); this is tried again now"}, nil
		}
		if !s.rebuildOn.Load() && s.stale.Load() {
			s.Rebuild()
		}
		select {
		case <-ctx.Done():
			return []string{"search index: is being rebuilt"}, nil
		case <-time.After(10 * time.Millisecond):
		}
	}
	var out []string
	err := s.runInWriter(ctx, nil, func(t *tx) error {
		for _, table := range []string{"fts_talk", "fts_tool"} {
			if _, err := t.exec("INSERT INTO " + table + "(" + table + ") VALUES('integrity-check')"); err != nil {
				out = append(out, "search index "+table+": "+err.Error()+" (it is being rebuilt)")
			}
		}
		var missing int
		err := t.row(`SELECT count(*) FROM messages m JOIN sessions s ON s.id=m.session_id AND s.kind NOT IN ('subagent','cron')
 WHERE role IN ('user','assistant') AND status<>'partial' AND content<>''
 AND (active=1 OR compacted_into IS NOT NULL) AND NOT EXISTS(SELECT 1 FROM fts_talk_docsize d WHERE d.id=m.id)`).Scan(&missing)
		if missing > 0 {
			out = append(out, fmt.Sprintf("search index: %d messages are missing (it is being rebuilt)", missing))
		}
		return err
	})
	if len(out) > 0 {
		if err := s.runInWriter(ctx, nil, func(t *tx) error { return setMeta(t.ctx, t.conn, "fts_version", "stale") }); err != nil {
			return out, err
		}
		s.Rebuild()
	}
	return out, err
}
