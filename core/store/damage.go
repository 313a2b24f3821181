package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// errDamaged marks damage that SQLite itself does not report.
var errDamaged = errors.New("the database is damaged")

// stamp is a time as part of a file name.
func stamp(t time.Time) string { return t.UTC().Format("20060102T150405.000") }

// probe reads where damage shows at once: every table's root and the newest rows.
func probe(ctx context.Context, conn *sql.Conn) error {
	for _, q := range []string{
		"SELECT count(*) FROM (SELECT id FROM messages ORDER BY id DESC LIMIT 1)",
		"SELECT count(*) FROM (SELECT uid, preview FROM sessions ORDER BY id DESC LIMIT 50)",
		"SELECT count(*) FROM (SELECT hash FROM prompts LIMIT 1)",
	} {
		var n int
		if err := conn.QueryRowContext(ctx, q).Scan(&n); err != nil {
			if strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such column") {
				return fmt.Errorf("store: %w: %w", errDamaged, err)
			}
			return err
		}
	}
	return nil
}

// moveAsideAndSalvage puts a broken database next to its place, makes a new one and reads over what can be read.
func (s *Store) moveAsideAndSalvage(ctx context.Context, cause error) (created bool, err error) {
	if err := s.disconnect(); err != nil {
		cause = errors.Join(cause, err)
	}
	if !lockExclusive(s.lock) {
		return false, fmt.Errorf("the database is damaged and another hermes uses it: close that one first (%w)", cause)
	}
	defer lockShare(s.lock) // after the salvage: a row that another process adds meanwhile could have the number of an old one
	aside := s.path + ".corrupt-" + stamp(s.now())
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Rename(s.path+suffix, aside+suffix); err != nil && !os.IsNotExist(err) {
			return false, fmt.Errorf("move the damaged database aside: %w", err)
		}
	}
	if err := os.Remove(s.path + "-shm"); err != nil && !os.IsNotExist(err) {
		return false, err
	}
	if created, err = s.connect(ctx); err != nil {
		return false, err
	}
	s.report.MovedTo = aside
	s.salvage(ctx, aside)
	s.report.Notes = append(s.report.Notes, fmt.Sprintf("the database was damaged (%v) and was moved to %s; %d messages were taken over, %d were not readable",
		cause, aside, s.report.Salvaged, s.report.Lost))
	return created, nil
}

// Check examines the whole database and returns what is wrong, nothing if all is well. It reads everything:
// seconds for some hundred megabytes.
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

func (s *Store) quickCheck(ctx context.Context) ([]string, error) {
	rows, err := s.read.QueryContext(ctx, "PRAGMA quick_check(20)")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		if line != "ok" {
			out = append(out, "database: "+line)
		}
	}
	return out, rows.Err()
}

func (s *Store) checkCounters(ctx context.Context) ([]string, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT s.uid, s.msg_count, count(m.id) FROM sessions s
 LEFT JOIN messages m ON m.session_id=s.id AND m.active=1 GROUP BY s.id HAVING s.msg_count<>count(m.id)
 OR s.tool_count<>COALESCE(sum(m.role='tool'),0) LIMIT 20`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var uid string
		var have, want int
		if err := rows.Scan(&uid, &have, &want); err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("session %s: counts %d messages, has %d", uid, have, want))
	}
	return out, rows.Err()
}

// checkIndex runs the index's own check, which is a write to SQLite, and compares it with the rows.
func (s *Store) checkIndex(ctx context.Context) ([]string, error) {
	if s.stale.Load() {
		if err := s.rebuildErr.Swap(nil); err != nil {
			s.Rebuild()
			return []string{"search index: it could not be rebuilt (" + (*err).Error() + "); this is tried again now"}, nil
		}
		return []string{"search index: is being rebuilt"}, nil
	}
	var out []string
	err := s.write(ctx, nil, func(t *tx) error {
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
		if err := s.write(ctx, nil, func(t *tx) error { return setMeta(t.ctx, t.conn, "fts_version", "stale") }); err != nil {
			return out, err
		}
		s.Rebuild()
	}
	return out, err
}
