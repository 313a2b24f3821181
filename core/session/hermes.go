package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"hermes/core/event"
	"hermes/core/rows"
	"hermes/core/store"
)

// ImportReport says what an import did.
type ImportReport struct {
	Sessions, Messages int // new ones
	Skipped            int // sessions that were here already
	Problems           []string
}

const (
	hermesSource  = "import:hermes"
	hermesMetaKey = "hermes_source" // where the Python hermes said the session came from
)

// ImportHermes takes over the conversations of a Python hermes from its state.db. That file is
// copied and only the copy is opened, so that it is never locked or changed. Sessions keep their
// uid, which makes a second import add only what is new; a session that went on since is not
// updated. progress, which may be nil, counts sessions. A session that cannot be read is reported
// and left out; the others go on.
func (s *Service) ImportHermes(ctx context.Context, path string, progress func(done, total int)) (ImportReport, error) {
	var report ImportReport
	if sameFile(path, s.st.Path()) {
		return report, fmt.Errorf("import %s: this is the database that is open here", path)
	}
	db, done, err := store.OpenForeign(ctx, path)
	if err != nil {
		return report, fmt.Errorf("import %s: %w", path, err)
	}
	old := hermesDB{db: db}
	err = old.readColumns(ctx)
	var ids []string
	if err == nil {
		ids, err = old.sessionIDs(ctx)
	}
	for i, id := range ids {
		if err = ctx.Err(); err != nil {
			break
		}
		s.importHermesSession(ctx, &old, id, &report)
		if progress != nil {
			progress(i+1, len(ids))
		}
	}
	if err = errors.Join(err, done()); err != nil {
		return report, fmt.Errorf("import %s: %w", path, err)
	}
	return report, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func (s *Service) importHermesSession(ctx context.Context, old *hermesDB, id string, report *ImportReport) {
	if _, err := s.st.Session(ctx, id); err == nil {
		report.Skipped++
		return
	}
	in, err := old.importSession(ctx, id)
	if err == nil {
		in.Messages, err = old.importMessages(ctx, id)
	}
	var added bool
	if err == nil {
		fillFromMessages(&in)
		cleanImport(&in)
		added, err = s.st.ImportSession(ctx, in)
	}
	if err != nil {
		report.Problems = append(report.Problems, fmt.Sprintf("session %s: %v", id, err))
		return
	}
	if !added {
		report.Skipped++
		return
	}
	report.Sessions++
	report.Messages += len(in.Messages)
	if info, err := s.Get(ctx, id); err == nil {
		s.publish(id, event.SessionOpened{Info: info, How: event.OpeningImport})
	}
}

// fillFromMessages derives what the old row lacks.
func fillFromMessages(in *store.Import) {
	x := &in.Session
	for i := range in.Messages {
		m := &in.Messages[i]
		if m.At.After(x.Last) {
			x.Last = m.At
		}
		if m.Role != "user" || m.Text == "" {
			continue
		}
		if x.Preview == "" {
			x.Preview = previewLine(m.Text)
		}
		if x.Title == "" {
			if x.Title = deriveTitle(m.Text); x.Title != "" {
				x.TitleSrc = titleDerived
			}
		}
	}
}

// hermesDB reads a Python hermes database of any version: columns came over the years, so that each
// table is asked which ones it has. Its full-text tables are never touched; they may need a
// tokenizer that is not here.
type hermesDB struct {
	db      *sql.DB
	columns map[string]map[string]bool // table -> column
}

func (h *hermesDB) readColumns(ctx context.Context) error {
	h.columns = map[string]map[string]bool{}
	for _, table := range []string{"sessions", "messages", "system_prompts"} {
		answer := rows.Ask(ctx, h.db, "SELECT name FROM pragma_table_info(?)", table)
		names, err := rows.Column[string](answer)
		if err != nil {
			return err
		}
		h.columns[table] = map[string]bool{}
		for _, n := range names {
			h.columns[table][n] = true
		}
	}
	if !h.columns["sessions"]["id"] || !h.columns["messages"]["session_id"] {
		return errors.New("it is no database of a Python hermes: the tables sessions and messages are missing")
	}
	return nil
}

// selectList returns the columns as a SELECT list; a column that the table lacks is NULL.
func (h *hermesDB) selectList(table, columns string) string {
	names := strings.Fields(columns)
	for i, n := range names {
		if !h.columns[table][n] {
			names[i] = "NULL AS " + n
		}
	}
	return strings.Join(names, ", ")
}

// sessionIDs lists parents before their children, as far as time tells.
func (h *hermesDB) sessionIDs(ctx context.Context) ([]string, error) {
	answer := rows.Ask(ctx, h.db, "SELECT id FROM sessions ORDER BY started_at, rowid")
	return rows.Column[string](answer)
}
