package store

import (
	"context"
	"database/sql"
	"strings"

	"hermes/core/chat"
	"hermes/core/cjk"
)

// indexVersion names the rules by which the index is written. Another value in the database makes
// the index stale.
const indexVersion = "2"

// toolMax is how much of a tool's output and of a call's arguments is indexed, in bytes.
const toolMax = 2 << 10

// Automatic merging at 16 segments instead of 4: a message is indexed a quarter faster, and
// searches are as fast (make bench).
const indexSQL = `
DROP TABLE IF EXISTS fts_talk;
DROP TABLE IF EXISTS fts_tool;
CREATE VIRTUAL TABLE fts_talk USING fts5(content, content='', contentless_delete=1, tokenize='unicode61');
CREATE VIRTUAL TABLE fts_tool USING fts5(content, content='', contentless_delete=1, tokenize='unicode61');
INSERT INTO fts_talk(fts_talk,rank) VALUES('automerge',16);
INSERT INTO fts_tool(fts_tool,rank) VALUES('automerge',16);`

// createIndex makes empty index tables. rowid is messages.id; a title has the negative id of its
// session.
func createIndex(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, indexSQL); err != nil {
		return err
	}
	return setMeta(ctx, conn, "fts_version", indexVersion)
}

// changeIndex changes the index. A failure other than of the disk must not hurt the conversation:
// it marks the index as stale, and the rebuild repairs it.
func (t *tx) changeIndex(query string, args ...any) {
	if t.indexBroken {
		return
	}
	if _, err := t.exec(query, args...); err != nil {
		t.indexBroken = true
		t.indexErr = err
	}
}

// indexMessage adds a new or sealed message.
func (t *tx) indexMessage(id int64, r *row) {
	m := r.msg
	if !r.active && !r.compacted {
		return
	}
	talk, tool := "", toolText(r)
	if m.Role == chat.RoleUser || m.Role == chat.RoleAssistant {
		talk = talkText(m)
	}
	if r.delegated() { // what agents say to each other is bulk, and nobody remembers having read it
		talk, tool = "", strings.TrimSpace(clipBytes(talk, toolMax)+"\n"+tool)
	}
	if talk != "" {
		t.changeIndex("INSERT INTO fts_talk(rowid,content) VALUES(?,?)", id, cjk.IndexText(talk))
	}
	if tool != "" {
		t.changeIndex("INSERT INTO fts_tool(rowid,content) VALUES(?,?)", id, cjk.IndexText(tool))
	}
}

func (r *row) delegated() bool { return r.kind == "subagent" || r.kind == "cron" }

func talkText(m *chat.Message) string {
	text := m.Text
	for _, a := range m.Parts {
		if a.Kind == chat.PartQuote {
			continue // the message that it quotes is found
		}
		text += "\n" + a.Name + "\n" + a.Text
	}
	return text
}

// toolText is the name and the beginning of what a tool was asked or answered.
func toolText(r *row) string {
	if r.msg.Role == chat.RoleTool {
		return r.tool + "\n" + clipBytes(r.content, toolMax)
	}
	return callsText(r.msg.Calls)
}

func (t *tx) unindexMessage(id int64) {
	t.changeIndex("DELETE FROM fts_talk WHERE rowid=?", id)
	t.changeIndex("DELETE FROM fts_tool WHERE rowid=?", id)
}

func (t *tx) indexTitle(session int64, title string) error {
	t.changeIndex("DELETE FROM fts_talk WHERE rowid=?", -session)
	if title != "" {
		t.changeIndex("INSERT INTO fts_talk(rowid,content) VALUES(?,?)", -session, cjk.IndexText(title))
	}
	return nil
}
