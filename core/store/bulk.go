package store

import (
	"context"
	"fmt"

	"hermes/core/chat"
	"hermes/core/rows"
)

// Import is a whole session to add.
type Import struct {
	Session  Session
	Prompt   string
	Meta     map[string]string
	Messages []StoredMessage   // in order; their ID and Seq are assigned anew
	Contents map[string][]byte // of their parts, by name
}

// ImportSession adds a whole session in one transaction. It reports false when the uid exists
// already.
func (s *Store) ImportSession(ctx context.Context, in Import) (added bool, err error) {
	rows := make([]row, len(in.Messages))
	for i := range in.Messages {
		m := &in.Messages[i]
		if rows[i], err = encodeRow(&m.Message); err != nil {
			return false, err
		}
		rows[i].active, rows[i].compacted = m.Active, m.Compacted
	}
	err = s.runInWriter(ctx, nil, func(t *tx) error {
		var have int
		if err := t.row("SELECT count(*) FROM sessions WHERE uid=?", in.Session.UID).Scan(&have); err != nil || have > 0 {
			return err
		}
		added = true
		if err := t.importSession(in, rows); err != nil {
			return err
		}
		return s.importContents(t, in)
	})
	return added && err == nil, err
}

// importContents writes the files within the transaction: until it ends nobody can sweep them away.
func (s *Store) importContents(t *tx, in Import) error {
	id, err := t.sessionID(in.Session.UID)
	for hash, data := range in.Contents {
		if err == nil && (hash != hashOf(data) || len(data) > MaxContent) {
			err = fmt.Errorf("store: the content %.12s in the file is damaged or too large", hash)
		}
		if err == nil {
			err = s.writeContent(hash, data)
		}
		if err == nil {
			err = t.referToContent(id, hash)
		}
	}
	return err
}

func (t *tx) importSession(in Import, rows []row) error {
	id, err := t.createSession(in.Session)
	if err != nil {
		return err
	}
	if in.Prompt != "" {
		if err := t.setPrompt(id, in.Prompt); err != nil {
			return err
		}
	}
	for k, v := range in.Meta {
		if err := t.setSessionMeta(id, k, v); err != nil {
			return err
		}
	}
	for i := range rows {
		r := &rows[i]
		r.sessionID, r.msg.Seq, r.msg.Session, r.kind = id, i+1, in.Session.UID, in.Session.Kind
		if err := t.insertRow(r); err != nil {
			return err
		}
		if r.compacted { // the summary that stands for it is not known one by one
			if _, err := t.exec("UPDATE messages SET compacted_into=0 WHERE id=?", r.msg.ID); err != nil {
				return err
			}
		}
	}
	return t.recountSession(id)
}

// recountSession derives a session's counters from its rows.
func (t *tx) recountSession(id int64) error {
	_, err := t.exec(`UPDATE sessions SET
 last_seq=COALESCE((SELECT max(seq) FROM messages WHERE session_id=?1),0),
 msg_count=(SELECT count(*) FROM messages WHERE session_id=?1 AND active=1),
 tool_count=(SELECT count(*) FROM messages WHERE session_id=?1 AND active=1 AND role='tool') WHERE id=?1`, id)
	return err
}

// Fork copies the active messages of session from, up to and including seq (0: all), into the new
// session x.
func (s *Store) Fork(ctx context.Context, from string, seq int, x Session) error {
	return s.runInWriter(ctx, nil, func(t *tx) error {
		old, err := t.sessionID(from)
		if err != nil {
			return err
		}
		id, err := t.createSession(x)
		if err != nil {
			return err
		}
		if _, err := t.exec("UPDATE sessions SET prompt_id=(SELECT prompt_id FROM sessions WHERE id=?) WHERE id=?", old, id); err != nil {
			return err
		}
		if _, err := t.exec("INSERT INTO session_meta(session_id,key,value) SELECT ?,key,value FROM session_meta WHERE session_id=? AND key<>'queue'", id, old); err != nil {
			return err
		}
		if _, err := t.exec("INSERT INTO content_refs(session_id,hash) SELECT ?,hash FROM content_refs WHERE session_id=?", id, old); err != nil {
			return err
		}
		if seq == 0 {
			seq = All
		}
		if _, err := t.exec(`INSERT INTO messages(session_id,seq,ts_ms,role,status,content,reasoning,tool_calls,tool_call_id,
 tool_name,backend,finish,tokens,model,extra,blob_id)
 SELECT ?,row_number() OVER (ORDER BY seq),ts_ms,role,CASE status WHEN 'partial' THEN 'cancelled' ELSE status END,content,
 reasoning,tool_calls,tool_call_id,tool_name,backend,finish,tokens,model,extra,blob_id
 FROM messages WHERE session_id=? AND active=1 AND seq<=? ORDER BY seq`, id, old, seq); err != nil {
			return fmt.Errorf("store: fork %s: %w", from, err)
		}
		return t.recountAndIndex(id)
	})
}

func (t *tx) recountAndIndex(id int64) error {
	answer := rows.Ask(t.ctx, t.conn, "SELECT "+messageColumns+withEnds+messageFrom+"WHERE m.session_id=? ORDER BY m.id", id)
	msgs, err := rows.Collect(answer, scanMessage)
	if err != nil {
		return err
	}
	for i := range msgs {
		r, err := encodeRow(&msgs[i].Message)
		if err != nil {
			return err
		}
		r.kind = msgs[i].kind
		t.indexMessage(msgs[i].ID, &r)
	}
	return t.recountSession(id)
}

// TakeBack hides the messages of a session from seq on, from the model and from search. They stay
// in the file.
func (s *Store) TakeBack(ctx context.Context, uid string, seq int) error {
	return s.runInWriter(ctx, nil, func(t *tx) error {
		id, err := t.sessionID(uid)
		if err != nil {
			return err
		}
		const which = "(SELECT id FROM messages WHERE session_id=? AND seq>=? AND active=1)"
		t.changeIndex("DELETE FROM fts_talk WHERE rowid IN "+which, id, seq)
		t.changeIndex("DELETE FROM fts_tool WHERE rowid IN "+which, id, seq)
		if _, err := t.exec("UPDATE messages SET active=0 WHERE session_id=? AND seq>=? AND active=1", id, seq); err != nil {
			return err
		}
		return t.recountSession(id)
	})
}

// Compact puts summary in the place of the active messages up to and including seq. Those stay
// readable and are found by search; the model sees the summary. Later messages move up by one.
func (s *Store) Compact(ctx context.Context, uid string, seq int, summary *chat.Message) error {
	r, err := encodeRow(summary)
	if err != nil {
		return err
	}
	return s.runInWriter(ctx, nil, func(t *tx) error {
		id, err := t.sessionID(uid)
		if err != nil {
			return err
		}
		// In two steps over negative numbers: (session_id, seq) is unique at every moment.
		for _, q := range []string{
			"UPDATE messages SET seq=-(seq+1) WHERE session_id=? AND seq>?",
			"UPDATE messages SET seq=-seq WHERE session_id=? AND seq<-?",
		} {
			if _, err := t.exec(q, id, seq); err != nil {
				return err
			}
		}
		r.sessionID, summary.Seq, summary.Session = id, seq+1, uid
		if err := t.insertRow(&r); err != nil {
			return err
		}
		if _, err := t.exec("UPDATE messages SET active=0, compacted_into=? WHERE session_id=? AND seq<=? AND active=1", summary.ID, id, seq); err != nil {
			return err
		}
		return t.recountSession(id)
	})
}

// Restore takes the summary with the given id away and puts what it stands for in its place. It
// returns how many messages came back: 0 when the summary stands for none of this session, and
// nothing has changed then.
func (s *Store) Restore(ctx context.Context, uid string, summary int64) (n int, err error) {
	err = s.runInWriter(ctx, nil, func(t *tx) error {
		id, err := t.sessionID(uid)
		if err != nil {
			return err
		}
		back, err := t.exec("UPDATE messages SET active=1, compacted_into=NULL WHERE session_id=? AND compacted_into=?", id, summary)
		if n = int(back); err != nil || n == 0 {
			return err
		}
		t.unindexMessage(summary)
		if _, err := t.exec("UPDATE messages SET active=0 WHERE session_id=? AND id=?", id, summary); err != nil {
			return err
		}
		return t.recountSession(id)
	})
	return n, err
}

// Attempt is one try to get an answer from a provider.
type Attempt struct {
	Message, N      int64 // set by Attempts: the message that was to be answered, and the how manieth try that was
	Provider, Model string
	ErrorClass      string // empty: it worked
	HTTP            int
	Started, Took   int64 // milliseconds
	Bytes           int64
}

// AddAttempt notes a try to answer message id; they are numbered 1, 2, 3 ...
func (s *Store) AddAttempt(ctx context.Context, id int64, a Attempt) error {
	return s.runInWriter(ctx, nil, func(t *tx) error {
		_, err := t.exec(`INSERT INTO attempts(message_id,n,provider,model,error_class,http,started_ms,ms,bytes)
 SELECT ?1,1+(SELECT count(*) FROM attempts WHERE message_id=?1),?2,?3,?4,?5,?6,?7,?8`,
			id, a.Provider, a.Model, a.ErrorClass, a.HTTP, a.Started, a.Took, a.Bytes)
		return err
	})
}

// Attempts are the tries of a session, the oldest first.
func (s *Store) Attempts(ctx context.Context, uid string) (out []Attempt, err error) {
	defer s.watchDamage(&err)
	answer := rows.Ask(ctx, s.read, `SELECT a.message_id,a.n,a.provider,a.model,a.error_class,a.http,a.started_ms,a.ms,a.bytes
 FROM sessions s JOIN messages m ON m.session_id=s.id JOIN attempts a ON a.message_id=m.id WHERE s.uid=? ORDER BY a.message_id,a.n`, uid)
	return rows.Collect(answer, func(r rows.Scanner) (a Attempt, err error) {
		err = r.Scan(&a.Message, &a.N, &a.Provider, &a.Model, &a.ErrorClass, &a.HTTP, &a.Started, &a.Took, &a.Bytes)
		return a, err
	})
}
