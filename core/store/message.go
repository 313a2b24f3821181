package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"hermes/core/chat"
	"hermes/core/rows"
)

// StoredMessage is a message with its state in the conversation.
type StoredMessage struct {
	chat.Message
	Active    bool // part of what the model sees
	Compacted bool // not active: a summary stands for it; still shown and found
	kind      string
}

// Derived is what a session's row takes from its first user message. Empty fields change nothing.
type Derived struct {
	Title   string `json:"title,omitempty"`
	Preview string `json:"preview,omitempty"`
}

// Append adds m at the end of session uid and sets its ID, Session, Seq and, when zero, At. It
// returns after the commit.
func (s *Store) Append(ctx context.Context, uid string, m *chat.Message, d Derived) (titled bool, err error) {
	if m.At.IsZero() {
		m.At = s.now()
	}
	m.At = time.UnixMilli(m.At.UnixMilli()) // what a reader will see
	m.Session = uid
	r, err := encodeRow(m)
	if err != nil {
		return false, err
	}
	packed := Pack(m)
	err = s.runInWriter(ctx, []record{{UID: uid, Append: &packed, Derived: d}}, func(t *tx) error {
		titled, err = t.appendRow(uid, r, d)
		return err
	})
	if err != nil {
		m.ID, m.Seq = 0, 0
	}
	return titled, err
}

func (t *tx) appendMessage(uid string, m *chat.Message, d Derived) (bool, error) {
	r, err := encodeRow(m)
	if err != nil {
		return false, err
	}
	return t.appendRow(uid, r, d)
}

// appendRow updates the session's row first: that gives the next seq and proves that the session
// exists.
func (t *tx) appendRow(uid string, r row, d Derived) (titled bool, err error) {
	m := r.msg
	var title string
	err = t.row(`UPDATE sessions SET last_seq=last_seq+1, msg_count=msg_count+1, tool_count=tool_count+?,
 last_ms=MIN(MAX(last_ms,?),MAX(?,started_ms)), preview=CASE WHEN preview='' THEN ? ELSE preview END,
 title_src=CASE WHEN title='' AND ?<>'' THEN 'derived' ELSE title_src END,
 title=CASE WHEN title='' THEN ? ELSE title END
 WHERE uid=? RETURNING id, last_seq, title, kind`,
		m.Role == chat.RoleTool, toMS(m.At), t.now, d.Preview, d.Title, d.Title, uid).Scan(&r.sessionID, &m.Seq, &title, &r.kind)
	if errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("store: append: session %s %w", uid, ErrNotFound)
	}
	if err != nil {
		return false, err
	}
	if err := t.insertRow(&r); err != nil {
		return false, err
	}
	if d.Title == "" || title != d.Title {
		return false, nil
	}
	return true, t.indexTitle(r.sessionID, title)
}

// insertRow writes r at r.msg.Seq, sets the message's ID and indexes it.
func (t *tx) insertRow(r *row) (err error) {
	m := r.msg
	if err = t.keepBlob(r); err != nil {
		return err
	}
	m.ID, err = t.insert(`INSERT INTO messages(session_id,seq,ts_ms,role,status,content,reasoning,tool_calls,tool_call_id,
 tool_name,backend,finish,tokens,model,extra,blob_id,active) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		r.sessionID, m.Seq, toMS(m.At), string(m.Role), string(m.Status), r.content, m.Reasoning, r.calls, r.callID,
		r.tool, r.backend, string(m.Finish), m.Usage.Output, m.Model, r.extra, nullIfZero(r.blobID), r.active)
	if err != nil {
		return fmt.Errorf("store: insert message: %w", err)
	}
	if m.Status != chat.StatusPartial {
		t.indexMessage(m.ID, r)
	}
	return nil
}

func (t *tx) keepBlob(r *row) error {
	if r.hash == nil {
		return nil
	}
	if _, err := t.exec("INSERT OR IGNORE INTO blobs(hash,gzip) VALUES(?,?)", r.hash, r.gzip); err != nil {
		return err
	}
	return t.row("SELECT id FROM blobs WHERE hash=?", r.hash).Scan(&r.blobID)
}

func nullIfZero(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// UpdatePartial replaces the text of a message that streams. It is not indexed before Seal.
func (s *Store) UpdatePartial(ctx context.Context, id int64, text, reasoning string) error {
	return s.runInWriter(ctx, nil, func(t *tx) error {
		n, err := t.exec("UPDATE messages SET content=?, reasoning=? WHERE id=? AND status='partial'", text, reasoning, id)
		if err == nil && n == 0 {
			err = fmt.Errorf("store: streaming message %d %w", id, ErrNotFound)
		}
		return err
	})
}

// Seal writes the final state of message m.ID and indexes it.
func (s *Store) Seal(ctx context.Context, m *chat.Message) error {
	m.At = time.UnixMilli(m.At.UnixMilli())
	packed := Pack(m)
	return s.runInWriter(ctx, []record{{Seal: &packed}}, func(t *tx) error { return t.sealMessage(m) })
}

func (t *tx) sealMessage(m *chat.Message) error {
	r, err := encodeRow(m)
	if err != nil {
		return err
	}
	if err := t.keepBlob(&r); err != nil {
		return err
	}
	err = t.row(`UPDATE messages SET status=?, content=?, reasoning=?, tool_calls=?, tool_call_id=?, tool_name=?, backend=?,
 finish=?, tokens=?, model=?, extra=?, blob_id=? WHERE id=?
 RETURNING active, (SELECT kind FROM sessions s WHERE s.id=session_id)`,
		string(m.Status), r.content, m.Reasoning, r.calls, r.callID, r.tool, r.backend,
		string(m.Finish), m.Usage.Output, m.Model, r.extra, nullIfZero(r.blobID), m.ID).Scan(&r.active, &r.kind)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("store: seal: message %d %w", m.ID, ErrNotFound)
	}
	if err != nil {
		return err
	}
	t.unindexMessage(m.ID)
	if m.Status != chat.StatusPartial {
		t.indexMessage(m.ID, &r)
	}
	return nil
}

// Discard removes one message for good.
func (s *Store) Discard(ctx context.Context, id int64) error {
	return s.runInWriter(ctx, nil, func(t *tx) error {
		var session int64
		var tool, active int
		err := t.row("DELETE FROM messages WHERE id=? RETURNING session_id, role='tool', active", id).Scan(&session, &tool, &active)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("store: discard: message %d %w", id, ErrNotFound)
		}
		if err != nil {
			return err
		}
		t.unindexMessage(id)
		_, err = t.exec("UPDATE sessions SET msg_count=msg_count-?, tool_count=tool_count-? WHERE id=?", active, tool*active, session)
		return err
	})
}

// MessageQuery selects messages of one session; set at most one position.
type MessageQuery struct {
	BeforeSeq, AfterSeq int
	Limit               int
	Hidden              bool // also those taken back by undo
	ActiveOnly          bool // what the model sees
}

// Messages returns messages in order of seq: those just before or after a position, or the newest.
// more says that there are further ones beyond the far end.
func (s *Store) Messages(ctx context.Context, uid string, q MessageQuery) (out []StoredMessage, more bool, err error) {
	defer s.watchDamage(&err)
	var c conditions
	c.add("m.session_id=(SELECT id FROM sessions WHERE uid=?)", uid)
	c.addIf(q.ActiveOnly, "m.active=1")
	c.addIf(!q.ActiveOnly && !q.Hidden, "(m.active=1 OR m.compacted_into IS NOT NULL)")
	c.addIf(q.BeforeSeq > 0, "m.seq<?", q.BeforeSeq)
	c.addIf(q.AfterSeq > 0, "m.seq>?", q.AfterSeq)
	order := " ORDER BY m.seq DESC LIMIT ?"
	if q.AfterSeq > 0 {
		order = " ORDER BY m.seq LIMIT ?"
	}
	answer := rows.Ask(ctx, s.read, "SELECT "+messageColumns+withWhole+messageFrom+"WHERE "+c.String()+order, append(c.args, q.Limit+1)...)
	if out, err = rows.Collect(answer, scanMessage); err != nil {
		return nil, false, err
	}
	if len(out) > q.Limit {
		out, more = out[:q.Limit], true
	}
	if q.AfterSeq == 0 {
		slices.Reverse(out)
	}
	return out, more, nil
}

// All is a Limit without a limit.
const All = 1 << 40

// Message returns one message.
func (s *Store) Message(ctx context.Context, id int64) (m StoredMessage, err error) {
	defer s.watchDamage(&err)
	m, err = scanMessage(s.read.QueryRowContext(ctx, "SELECT "+messageColumns+withWhole+messageFrom+"WHERE m.id=?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return m, fmt.Errorf("message %d %w", id, ErrNotFound)
	}
	return m, err
}
