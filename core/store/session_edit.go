package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"hermes/core/rows"
)

// Patch changes fields of a session; nil ones stay.
type Patch struct {
	Title, TitleSrc  *string
	UnlessUserTitle  bool // leave the title alone if a person chose it
	Provider, Model  *string
	Cwd, Project     *string
	Archived, Pinned *bool
	EndReason        *string // also sets the end time; "" opens the session again
}

// UpdateSession applies p and returns the row as it is then.
func (s *Store) UpdateSession(ctx context.Context, uid string, p Patch) (x Session, err error) {
	err = s.runInWriter(ctx, nil, func(t *tx) error {
		if x, err = sessionBy(t.ctx, t.conn, "s.uid=?", uid); err != nil {
			return err
		}
		return t.patchSession(&x, p)
	})
	return x, err
}

func (t *tx) patchSession(x *Session, p Patch) error {
	if p.Title != nil && (!p.UnlessUserTitle || x.TitleSrc != "user") {
		setIfGiven(&x.Title, p.Title)
		setIfGiven(&x.TitleSrc, p.TitleSrc)
		if err := t.indexTitle(x.ID, x.Title); err != nil {
			return err
		}
	}
	setIfGiven(&x.Provider, p.Provider)
	setIfGiven(&x.Model, p.Model)
	setIfGiven(&x.Cwd, p.Cwd)
	setIfGiven(&x.Project, p.Project)
	setIfGiven(&x.Archived, p.Archived)
	setIfGiven(&x.Pinned, p.Pinned)
	if p.EndReason != nil {
		x.EndReason, x.Ended = *p.EndReason, fromMS(t.now)
		if x.EndReason == "" {
			x.Ended = fromMS(0)
		}
	}
	_, err := t.exec(`UPDATE sessions SET title=?, title_src=?, provider=?, model=?, cwd=?, repo_root=?, archived=?, pinned=?,
 end_reason=?, ended_ms=? WHERE id=?`,
		x.Title, x.TitleSrc, x.Provider, x.Model, x.Cwd, x.Project, x.Archived, x.Pinned, x.EndReason, toMS(x.Ended), x.ID)
	return err
}

func setIfGiven[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// DeleteSession removes a session, its messages and what only they used. Sessions forked from it
// stay.
func (s *Store) DeleteSession(ctx context.Context, uid string) error {
	var held []string
	err := s.runInWriter(ctx, nil, func(t *tx) error {
		id, err := t.sessionID(uid)
		if err != nil {
			return err
		}
		if held, err = t.contentsOf(id); err != nil {
			return err
		}
		t.changeIndex("DELETE FROM fts_talk WHERE rowid IN (SELECT id FROM messages WHERE session_id=? UNION ALL SELECT -?)", id, id)
		t.changeIndex("DELETE FROM fts_tool WHERE rowid IN (SELECT id FROM messages WHERE session_id=?)", id)
		if _, err := t.exec("CREATE TEMP TABLE IF NOT EXISTS gone(id INTEGER PRIMARY KEY)"); err != nil {
			return err
		}
		for _, q := range []string{
			"DELETE FROM temp.gone",
			"INSERT OR IGNORE INTO temp.gone SELECT blob_id FROM messages WHERE session_id=?1 AND blob_id IS NOT NULL",
			"DELETE FROM messages WHERE session_id=?1",
			"DELETE FROM blobs WHERE id IN (SELECT id FROM temp.gone) AND NOT EXISTS(SELECT 1 FROM messages m WHERE m.blob_id=blobs.id)",
			"DELETE FROM sessions WHERE id=?1",
			"DELETE FROM prompts WHERE NOT EXISTS(SELECT 1 FROM sessions WHERE prompt_id=prompts.id)",
		} {
			if _, err := t.exec(q, argIfAsked(q, id)...); err != nil {
				return fmt.Errorf("store: delete session %s: %w", uid, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.swept.CompareAndSwap(false, true) {
		held = nil // the first time, also what a crash left
	} else if len(held) == 0 {
		return nil
	}
	return s.sweepContents(ctx, held)
}

// argIfAsked returns id if the query asks for it.
func argIfAsked(query string, id int64) []any {
	for i := range query {
		if query[i] == '?' {
			return []any{id}
		}
	}
	return nil
}

func (t *tx) sessionID(uid string) (id int64, err error) {
	err = t.row("SELECT id FROM sessions WHERE uid=?", uid).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("session %s %w", uid, ErrNotFound)
	}
	return id, err
}

// SetPrompt keeps the system prompt of a session. Equal texts are stored once.
func (s *Store) SetPrompt(ctx context.Context, uid, text string) error {
	return s.runInWriter(ctx, nil, func(t *tx) error {
		id, err := t.sessionID(uid)
		if err != nil {
			return err
		}
		return t.setPrompt(id, text)
	})
}

func (t *tx) setPrompt(session int64, text string) error {
	hash := sha256.Sum256([]byte(text))
	if _, err := t.exec("INSERT OR IGNORE INTO prompts(hash,text) VALUES(?,?)", hash[:], text); err != nil {
		return err
	}
	_, err := t.exec("UPDATE sessions SET prompt_id=(SELECT id FROM prompts WHERE hash=?) WHERE id=?", hash[:], session)
	return err
}

// Prompt returns the system prompt of a session, "" when none was set.
func (s *Store) Prompt(ctx context.Context, uid string) (text string, err error) {
	defer s.watchDamage(&err)
	err = s.read.QueryRowContext(ctx, "SELECT p.text FROM sessions s JOIN prompts p ON p.id=s.prompt_id WHERE s.uid=?", uid).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return text, err
}

// SetMeta keeps a value with a session; "" removes it.
func (s *Store) SetMeta(ctx context.Context, uid, key, value string) error {
	return s.runInWriter(ctx, nil, func(t *tx) error {
		id, err := t.sessionID(uid)
		if err != nil {
			return err
		}
		return t.setSessionMeta(id, key, value)
	})
}

func (t *tx) setSessionMeta(session int64, key, value string) error {
	if value == "" {
		_, err := t.exec("DELETE FROM session_meta WHERE session_id=? AND key=?", session, key)
		return err
	}
	_, err := t.exec(`INSERT INTO session_meta(session_id,key,value) VALUES(?,?,?)
 ON CONFLICT(session_id,key) DO UPDATE SET value=excluded.value`, session, key, value)
	return err
}

// Meta returns all values kept with a session.
func (s *Store) Meta(ctx context.Context, uid string) (values map[string]string, err error) {
	defer s.watchDamage(&err)
	answer := rows.Ask(ctx, s.read, "SELECT m.key, m.value FROM sessions s JOIN session_meta m ON m.session_id=s.id WHERE s.uid=?", uid)
	return rows.Map[string, string](answer)
}
