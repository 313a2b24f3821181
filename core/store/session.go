package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/rows"
)

// ErrNotFound is wrapped by errors about a session or message that is not there.
var ErrNotFound = errors.New("not found")

// Session is a row of the sessions table. Times have milliseconds.
type Session struct {
	ID        int64      `json:"-"`
	UID       string     `json:"uid"`
	Parent    string     `json:"parent,omitempty"` // uid
	Kind      string     `json:"kind"`
	Source    string     `json:"source,omitempty"`
	Title     string     `json:"title,omitempty"`
	TitleSrc  string     `json:"title_src,omitempty"` // "", "derived", "model", "user"
	Model     string     `json:"model,omitempty"`
	Provider  string     `json:"provider,omitempty"`
	Cwd       string     `json:"cwd,omitempty"`
	Project   string     `json:"project,omitempty"`
	Started   time.Time  `json:"started"`
	Last      time.Time  `json:"last"`
	Ended     time.Time  `json:"ended,omitzero"`
	EndReason string     `json:"end_reason,omitempty"`
	Messages  int        `json:"messages"`
	ToolCalls int        `json:"tool_calls"`
	Usage     chat.Usage `json:"usage,omitzero"`
	Preview   string     `json:"preview,omitempty"`
	Archived  bool       `json:"archived,omitempty"`
	Pinned    bool       `json:"pinned,omitempty"`
	Hidden    bool       `json:"hidden,omitempty"`
}

const sessionColumns = `s.id, s.uid, COALESCE((SELECT p.uid FROM sessions p WHERE p.id=s.parent_id),''), s.kind, s.source,
 s.title, s.title_src, s.model, s.provider, s.cwd, s.repo_root, s.started_ms, s.last_ms, s.ended_ms, s.end_reason,
 s.msg_count, s.tool_count, s.in_tok, s.out_tok, s.cache_tok, s.reason_tok, s.cost_micro, s.cost_known,
 s.preview, s.archived, s.pinned, s.hidden`

func scanSession(row rows.Scanner, more ...any) (Session, error) {
	var x Session
	var started, last, ended int64
	u := &x.Usage
	dest := []any{
		&x.ID, &x.UID, &x.Parent, &x.Kind, &x.Source,
		&x.Title, &x.TitleSrc, &x.Model, &x.Provider, &x.Cwd, &x.Project, &started, &last, &ended, &x.EndReason,
		&x.Messages, &x.ToolCalls, &u.Input, &u.Output, &u.Cached, &u.Reasoning, &u.Cost, &u.CostKnown,
		&x.Preview, &x.Archived, &x.Pinned, &x.Hidden,
	}
	err := row.Scan(append(dest, more...)...)
	x.Started, x.Last, x.Ended = fromMS(started), fromMS(last), fromMS(ended)
	return x, err
}

func toMS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMS(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// CreateSession adds a session. Its uid must be new.
func (s *Store) CreateSession(ctx context.Context, x Session) error {
	return s.runInWriter(ctx, []record{{Session: &x}}, func(t *tx) error {
		_, err := t.createSession(x)
		return err
	})
}

func (t *tx) createSession(x Session) (id int64, err error) {
	id, err = t.insert(`INSERT INTO sessions(uid,parent_id,kind,source,title,title_src,model,provider,cwd,repo_root,
 started_ms,last_ms,ended_ms,end_reason,in_tok,out_tok,cache_tok,reason_tok,cost_micro,cost_known,preview,archived,pinned,hidden)
 VALUES(?,(SELECT id FROM sessions WHERE uid=?),?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		x.UID, x.Parent, x.Kind, x.Source, x.Title, x.TitleSrc, x.Model, x.Provider, x.Cwd, x.Project,
		toMS(x.Started), toMS(x.Last), toMS(x.Ended), x.EndReason, x.Usage.Input, x.Usage.Output, x.Usage.Cached,
		x.Usage.Reasoning, x.Usage.Cost, x.Usage.CostKnown, x.Preview, x.Archived, x.Pinned, x.Hidden)
	if err != nil {
		return 0, fmt.Errorf("store: create session %s: %w", x.UID, err)
	}
	return id, t.indexTitle(id, x.Title)
}

// Session returns the session with that uid.
func (s *Store) Session(ctx context.Context, uid string) (x Session, err error) {
	defer s.watchDamage(&err)
	return sessionBy(ctx, s.read, "s.uid=?", uid)
}

func sessionBy(ctx context.Context, q queryer, where string, arg any) (Session, error) {
	x, err := scanSession(q.QueryRowContext(ctx, "SELECT "+sessionColumns+" FROM sessions s WHERE "+where, arg))
	if errors.Is(err, sql.ErrNoRows) {
		return x, fmt.Errorf("session %v %w", arg, ErrNotFound)
	}
	return x, err
}

// ListQuery selects sessions. Empty fields do not restrict.
type ListQuery struct {
	UIDPrefix    string
	Title        string // exact
	TitleHas     string // part, case folded for ASCII
	ProjectHas   string
	Source       string
	Since, Until time.Time
	Archived     bool     // archived ones too
	OnlyArchived bool     // with Archived: the others not
	Kinds        []string // nil: user and branch
	ByRecency    bool     // ignore pins
	Limit        int
	Offset       int
}

// Sessions lists, pinned ones first and then newest activity first.
func (s *Store) Sessions(ctx context.Context, q ListQuery) (out []Session, err error) {
	defer s.watchDamage(&err)
	where, args := q.whereClause()
	order := "s.pinned DESC, s.last_ms DESC, s.id DESC"
	if q.ByRecency {
		order = "s.last_ms DESC, s.id DESC"
	}
	args = append(args, q.Limit, q.Offset)
	answer := rows.Ask(ctx, s.read, "SELECT "+sessionColumns+" FROM sessions s WHERE "+where+" ORDER BY "+order+" LIMIT ? OFFSET ?", args...)
	return rows.Collect(answer, func(r rows.Scanner) (Session, error) { return scanSession(r) })
}

func (q ListQuery) whereClause() (string, []any) {
	var c conditions
	if !q.Archived {
		c.add("s.archived=0")
	}
	c.addIf(q.OnlyArchived, "s.archived=1")
	c.add("s.hidden=0")
	if len(q.Kinds) == 0 {
		c.add("s.kind IN ('user','branch')") // spelled like the partial index, which is used then
	} else {
		c.addIn("s.kind", q.Kinds)
	}
	c.addIf(q.UIDPrefix != "", "substr(s.uid,1,length(?))=?", q.UIDPrefix, q.UIDPrefix)
	c.addIf(q.Title != "", "s.title=?", q.Title)
	c.addIf(q.TitleHas != "", "s.title LIKE ? ESCAPE '\\'", likePattern(q.TitleHas))
	c.addIf(q.ProjectHas != "", "s.repo_root LIKE ? ESCAPE '\\'", likePattern(q.ProjectHas))
	c.addIf(q.Source != "", "s.source=?", q.Source)
	c.addIf(!q.Since.IsZero(), "s.last_ms>=?", toMS(q.Since))
	c.addIf(!q.Until.IsZero(), "s.last_ms<?", toMS(q.Until))
	return c.String(), c.args
}

// conditions gathers the parts of a WHERE.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

func (c *conditions) addIf(on bool, part string, args ...any) {
	if on {
		c.add(part, args...)
	}
}

func (c *conditions) addIn(column string, values []string) {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	c.add(column+" IN (?"+strings.Repeat(",?", len(values)-1)+")", args...)
}

func (c *conditions) String() string {
	if len(c.parts) == 0 {
		return "1"
	}
	return strings.Join(c.parts, " AND ")
}

// likePattern returns a LIKE pattern (ESCAPE '\') for text anywhere.
func likePattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%"
}

// SessionsByID returns the sessions with these row ids, as far as they exist.
func (s *Store) SessionsByID(ctx context.Context, ids []int64) (map[int64]Session, error) {
	out := make(map[int64]Session, len(ids))
	for _, id := range ids {
		if _, have := out[id]; have {
			continue
		}
		x, err := sessionBy(ctx, s.read, "s.id=?", id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[id] = x
	}
	return out, nil
}
