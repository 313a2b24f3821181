package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

const salvageStep = 10 // ids read at a time: one bad page costs few rows

// salvageTables are read in this order; columns are those of format 1, later ones get their default.
var salvageTables = []struct{ name, columns string }{
	{"prompts", "id,hash,text"},
	{"blobs", "id,hash,gzip"},
	{"sessions", `id,uid,parent_id,kind,source,title,title_src,model,provider,cwd,repo_root,started_ms,last_ms,ended_ms,end_reason,
 last_seq,in_tok,out_tok,cache_tok,reason_tok,cost_micro,cost_known,preview,prompt_id,archived,pinned,hidden`},
	{"session_meta", "id,session_id,key,value"},
	{"messages", `id,session_id,seq,ts_ms,role,status,content,reasoning,tool_calls,tool_call_id,tool_name,backend,finish,tokens,
 model,extra,blob_id,active,compacted_into`},
	{"attempts", "id,message_id,n,provider,model,error_class,http,started_ms,ms,bytes"},
}

// salvage copies every row that can be read from the damaged file into the new database. It never fails: what
// it cannot read is counted.
func (s *Store) salvage(ctx context.Context, from string) {
	old, err := sql.Open("sqlite3", dsn(from, "mode=ro", "_query_only=1"))
	if err != nil {
		return
	}
	defer func() { _ = old.Close() }() // it was only read
	old.SetMaxOpenConns(1)
	for _, table := range salvageTables {
		kept, lost := s.salvageTable(ctx, old, table.name, table.columns)
		if table.name == "messages" {
			s.report.Salvaged, s.report.Lost = kept, lost
		}
	}
	if err := s.mend(ctx); err != nil {
		s.report.Notes = append(s.report.Notes, "after salvage: "+err.Error())
	}
}

func (s *Store) salvageTable(ctx context.Context, old *sql.DB, name, columns string) (kept, lost int) {
	last, err := lastID(ctx, old, name)
	if err != nil {
		return 0, 0
	}
	if _, err := s.conn.ExecContext(ctx, "PRAGMA foreign_keys=OFF; BEGIN IMMEDIATE"); err != nil {
		return 0, 0
	}
	insert := "INSERT OR IGNORE INTO " + name + "(" + columns + ") VALUES(?" + strings.Repeat(",?", strings.Count(columns, ",")) + ")"
	for id := int64(1); id <= last; id += salvageStep {
		rows, whole := readRange(ctx, old, name, columns, id)
		for _, values := range rows {
			if _, err := s.conn.ExecContext(ctx, insert, values...); err == nil {
				kept++
			}
		}
		if !whole {
			lost += min(salvageStep, int(last-id)+1) - len(rows)
		}
	}
	if _, err := s.conn.ExecContext(ctx, "COMMIT; PRAGMA foreign_keys=ON"); err != nil {
		return 0, kept
	}
	return kept, lost
}

// lastID asks the table, and if its end is unreadable the counter of ids.
func lastID(ctx context.Context, old *sql.DB, name string) (last int64, err error) {
	err = old.QueryRowContext(ctx, "SELECT COALESCE(max(id),0) FROM "+name).Scan(&last)
	if err != nil {
		err = old.QueryRowContext(ctx, "SELECT seq FROM sqlite_sequence WHERE name=?", name).Scan(&last)
	}
	return last, err
}

// readRange returns the rows from id on that can be read; whole is false if the read broke off.
func readRange(ctx context.Context, old *sql.DB, name, columns string, id int64) (out [][]any, whole bool) {
	rows, err := old.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE id>=%d AND id<%d", columns, name, id, id+salvageStep))
	if err != nil {
		return nil, false
	}
	defer rows.Close()
	n := strings.Count(columns, ",") + 1
	for rows.Next() {
		values, dest := make([]any, n), make([]any, n)
		for i := range values {
			dest[i] = &values[i]
		}
		if rows.Scan(dest...) != nil {
			return out, false
		}
		out = append(out, values)
	}
	return out, rows.Err() == nil
}

// mend makes the salvaged rows consistent: sessions for orphaned messages, no links into nothing, right counters,
// and an index to be rebuilt.
func (s *Store) mend(ctx context.Context) error {
	for _, q := range []string{
		`INSERT INTO sessions(id,uid,title,title_src,started_ms,last_ms)
 SELECT session_id,'recovered-'||session_id,'Recovered conversation','derived',min(ts_ms),max(ts_ms) FROM messages
 WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id`,
		"DELETE FROM session_meta WHERE session_id NOT IN (SELECT id FROM sessions)",
		"DELETE FROM attempts WHERE message_id NOT IN (SELECT id FROM messages)",
		"UPDATE sessions SET parent_id=NULL WHERE parent_id NOT IN (SELECT id FROM sessions)",
		"UPDATE sessions SET prompt_id=NULL WHERE prompt_id NOT IN (SELECT id FROM prompts)",
		"UPDATE messages SET blob_id=NULL WHERE blob_id NOT IN (SELECT id FROM blobs)",
		`UPDATE sessions SET
 last_seq=MAX(last_seq,COALESCE((SELECT max(seq) FROM messages WHERE session_id=sessions.id),0)),
 msg_count=(SELECT count(*) FROM messages WHERE session_id=sessions.id AND active=1),
 tool_count=(SELECT count(*) FROM messages WHERE session_id=sessions.id AND active=1 AND role='tool')`,
		"UPDATE meta SET value='stale' WHERE key='fts_version'",
	} {
		if _, err := s.conn.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
