package store

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/rows"
)

const (
	wholeMax = 32 << 10 // a longer tool result is stored compressed, with its ends in the row
	endsMax  = 4 << 10  // bytes of each end
)

// row is a message as its columns hold it.
type row struct {
	msg               *chat.Message
	content           string
	calls, extra      string
	callID, tool      string
	backend           string
	hash, gzip        []byte // of the whole content, nil when it is in the row
	active            bool
	compacted         bool
	sessionID, blobID int64
	kind              string // of the session
}

// extra holds what has no column. Raw JSON is kept as text, so that not one byte of it changes.
type extra struct {
	From   chat.Author      `json:"from,omitzero"`
	Parts  []chat.Part      `json:"parts,omitempty"`
	Old    []chat.Part      `json:"attachments,omitempty"` // Parts, in rows of the first versions
	Result *chat.ToolResult `json:"result,omitempty"`      // without its text
	Text   string           `json:"text,omitempty"`        // Message.Text beside a result
	Usage  *chat.Usage      `json:"usage,omitempty"`
	Opaque string           `json:"opaque,omitempty"`
	// Of an answer: nanoseconds.
	Thought time.Duration `json:"thought,omitempty"`
	Took    time.Duration `json:"took,omitempty"`
}

type callColumn struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Args    string `json:"args,omitempty"`
	Invalid string `json:"invalid,omitempty"`
}

// encodeRow takes m apart. It compresses, so that it runs before the request reaches the writer.
func encodeRow(m *chat.Message) (row, error) {
	r := row{msg: m, content: m.Text, active: true}
	x := extra{From: m.From, Parts: m.Parts, Opaque: string(m.Opaque), Thought: m.Thought, Took: m.Took}
	if !m.Usage.Empty() || m.Usage.CostKnown {
		x.Usage = &m.Usage
	}
	if m.Result != nil {
		res := *m.Result
		r.content, r.callID, r.tool, r.backend = res.Text, res.CallID, res.Name, res.Backend
		res.Text, res.CallID, res.Name = "", "", ""
		x.Result, x.Text = &res, m.Text
		r.cutContent()
	}
	if x.From != (chat.Author{}) || x.Parts != nil || x.Result != nil || x.Usage != nil || x.Opaque != "" || x.Took > 0 {
		data, err := json.Marshal(x)
		if err != nil {
			return r, fmt.Errorf("store: encode message: %w", err)
		}
		r.extra = string(data)
	}
	var err error
	r.calls, err = encodeCalls(m.Calls)
	return r, err
}

func encodeCalls(calls []chat.ToolCall) (string, error) {
	if len(calls) == 0 {
		return "", nil
	}
	cols := make([]callColumn, len(calls))
	for i, c := range calls {
		cols[i] = callColumn{c.ID, c.Name, string(c.Args), c.Invalid}
	}
	data, err := json.Marshal(cols)
	return string(data), err
}

// cutContent moves a long content aside and keeps its ends.
func (r *row) cutContent() {
	if len(r.content) <= wholeMax {
		return
	}
	hash := sha256.Sum256([]byte(r.content))
	var buf bytes.Buffer
	w, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed) // fails for a wrong level only
	_, _ = io.WriteString(w, r.content)               // a bytes.Buffer takes everything
	_ = w.Close()
	r.hash, r.gzip = hash[:], buf.Bytes()
	head := clipBytes(r.content, endsMax)
	tail := strings.ToValidUTF8(r.content[len(r.content)-endsMax:], "")
	r.content = fmt.Sprintf("%s\n[... %d bytes are stored compressed ...]\n%s", head, len(r.content)-2*endsMax, tail)
}

// clipBytes returns at most n bytes of s without half a character at the end.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

const messageColumns = `m.id, s.uid, m.seq, m.ts_ms, m.role, m.status, m.content, m.reasoning, m.tool_calls, m.tool_call_id,
 m.tool_name, m.finish, m.model, m.extra, m.active, m.compacted_into IS NOT NULL, s.kind, `

// What follows messageColumns: the whole of long contents, or only their ends, which is all that
// the index needs.
const (
	withWhole = "b.gzip"
	withEnds  = "NULL"
)

const messageFrom = " FROM messages m JOIN sessions s ON s.id=m.session_id LEFT JOIN blobs b ON b.id=m.blob_id "

// scanMessage is the inverse of encode.
func scanMessage(in rows.Scanner) (StoredMessage, error) {
	var m chat.Message
	var r row
	var at int64
	if err := in.Scan(&m.ID, &m.Session, &m.Seq, &at, &m.Role, &m.Status, &r.content, &m.Reasoning, &r.calls, &r.callID,
		&r.tool, &m.Finish, &m.Model, &r.extra, &r.active, &r.compacted, &r.kind, &r.gzip); err != nil {
		return StoredMessage{}, err
	}
	m.At = fromMS(at)
	r.decode(&m)
	return StoredMessage{Message: m, Active: r.active, Compacted: r.compacted, kind: r.kind}, nil
}

// firstSummaries is how the summaries of the first versions begin, which named no author.
const firstSummaries = "[Summary of the earlier conversation, for reference only: "

// decode fills in m from the columns. It never fails: a column that cannot be read must not keep a
// person from the rest of the conversation. What is missing is said in the message.
func (r *row) decode(m *chat.Message) {
	var lost []string
	if whole, err := unpack(r.gzip); err != nil {
		lost = append(lost, "the middle of the output") // its ends are in the row
	} else if whole != nil {
		r.content = string(whole)
	}
	var cols []callColumn
	if r.calls != "" && json.Unmarshal([]byte(r.calls), &cols) != nil {
		lost = append(lost, "the tool calls")
	}
	for _, c := range cols {
		m.Calls = append(m.Calls, chat.ToolCall{ID: c.ID, Name: c.Name, Args: rawJSON(c.Args), Invalid: c.Invalid})
	}
	var x extra
	if r.extra != "" && json.Unmarshal([]byte(r.extra), &x) != nil {
		x = extra{}
		lost = append(lost, "what was attached, or details")
	}
	if len(lost) > 0 {
		r.content = strings.TrimSpace(r.content + "\n[damaged in the database: " + strings.Join(lost, ", ") + "]")
	}
	m.From, m.Text, m.Parts, m.Opaque = x.From, r.content, slices.Concat(x.Parts, x.Old), rawJSON(x.Opaque)
	m.Thought, m.Took = max(0, x.Thought), max(0, x.Took)
	if x.Usage != nil {
		m.Usage = *x.Usage
	}
	if x.Result == nil && m.Role == chat.RoleTool && r.callID != "" { // the answer to a call stays one, whatever else is lost
		x.Result = &chat.ToolResult{}
	}
	if x.Result != nil {
		m.Result, m.Text = x.Result, x.Text
		m.Result.Text, m.Result.CallID, m.Result.Name = r.content, r.callID, r.tool
	}
	if m.Role == chat.RoleUser && m.From == (chat.Author{}) && strings.HasPrefix(m.Text, firstSummaries) {
		m.From = chat.Summary()
	}
	makeSound(m)
}

// unpack returns nil for nothing.
func unpack(packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func rawJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
