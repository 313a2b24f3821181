package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/rows"
)

const (
	exactMax  = 5000    // matches up to here are all ranked
	newestMax = 500     // of more matches, this many of the newest are ranked
	walkMax   = "50000" // matches that a filter may walk over
	scanMax   = 20_000  // newest messages looked at while there is no index
	rankText  = 4096    // bytes of a text that ranking looks at
)

// Table is a part of the index.
type Table string

// Parts of the index: what people and models said, and what tools were asked and answered.
const (
	Talk  Table = "fts_talk"
	Tools Table = "fts_tool"
)

// SearchQuery is a search in one part of the index. Empty filters do not restrict.
type SearchQuery struct {
	Table        Table
	Terms        []string // from Terms; all must be found
	Typing       bool     // the last term may be unfinished
	Tool         string
	Backend      string
	Role         string
	Source       string
	ProjectHas   string
	Since, Until time.Time
	Limit        int
}

// Match is a message found, best first.
type Match struct {
	ID      int64 // of the message; 0 when it is the session's title
	Session int64
	Rank    float64 // lower is better
	At      time.Time
	Text    string // what was found, 64 KB of the content at most; see Texts
	Tool    string
	Role    string
	Seq     int
}

// Found is the answer to a SearchQuery.
type Found struct {
	Matches []Match
	Total   int  // counted up to 5,000
	Bounded bool // there were more; the newest were ranked
}

// Search finds messages by words. Its cost is bounded: it counts matches first, ranks all of them
// when they are few and the newest 500 when they are many. Without a complete index it scans the
// newest 20,000 messages.
func (s *Store) Search(ctx context.Context, q SearchQuery) (Found, error) {
	match := matchQuery(q.Terms, q.Typing)
	if match == "" {
		return Found{}, nil
	}
	if s.stale.Load() {
		return s.scanNewest(ctx, q)
	}
	f, err := s.lookUp(ctx, q, match)
	if err == nil || ctx.Err() != nil {
		return f, err
	}
	s.rememberDamage(err)
	s.Rebuild() // the index is derived: whatever is wrong with it is repaired, and meanwhile the scan answers
	return s.scanNewest(ctx, q)
}

func (s *Store) lookUp(ctx context.Context, q SearchQuery, match string) (Found, error) {
	var f Found
	t := string(q.Table)
	err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+t+" WHERE "+t+" MATCH ? LIMIT ?)", match, exactMax+1).Scan(&f.Total)
	if err != nil || f.Total == 0 {
		return f, err
	}
	where, args := q.filterConditions()
	inner := "SELECT rowid AS id, rank AS score FROM " + t + " WHERE " + t + " MATCH ?"
	order, limit, text := "score", q.Limit, 0
	if f.Total > exactMax {
		f.Total, f.Bounded = exactMax, true
		inner = "SELECT rowid AS id, 0.0 AS score FROM " + t + " WHERE " + t + " MATCH ? ORDER BY rowid DESC LIMIT " + walkLimit(where)
		order, limit, text = "f.id DESC", newestMax, rankText
	}
	f.Matches, err = s.readMatches(ctx, "("+inner+")", where, order, limit, text, append([]any{match}, args...))
	if err != nil {
		return f, err
	}
	if f.Bounded {
		rankNewest(f.Matches, q, s.now())
		f.Matches = f.Matches[:min(q.Limit, len(f.Matches))]
	} else if where != "1" {
		f.Total, err = s.countFiltered(ctx, inner, where, append([]any{match}, args...))
	}
	return f, err
}

func walkLimit(where string) string {
	if where == "1" {
		return strconv.Itoa(newestMax)
	}
	return walkMax
}

func (s *Store) countFiltered(ctx context.Context, inner, where string, args []any) (n int, err error) {
	inner = strings.Replace(inner, "rank AS score", "0.0 AS score", 1)
	err = s.read.QueryRowContext(ctx, "SELECT count(*) FROM ("+inner+") f"+joins+" WHERE "+visible+" AND "+where, args...).Scan(&n)
	return n, err
}

// A title has the negative id of its session. CROSS keeps the order of the tables: the matches must
// lead.
const joins = " LEFT JOIN messages m ON m.id=f.id CROSS JOIN sessions s ON s.id=COALESCE(m.session_id,-f.id)"

const visible = "s.hidden=0 AND (m.id IS NULL OR m.active=1 OR m.compacted_into IS NOT NULL)"

func (q SearchQuery) filterConditions() (string, []any) {
	var c conditions
	c.addIf(q.Tool != "", "(m.tool_name=? OR instr(m.tool_calls,?)>0)", q.Tool, `"name":"`+q.Tool+`"`)
	c.addIf(q.Backend != "", "m.backend=?", q.Backend)
	c.addIf(q.Role != "", "m.role=?", q.Role)
	c.addIf(q.Source != "", "s.source=?", q.Source)
	c.addIf(q.ProjectHas != "", "s.repo_root LIKE ? ESCAPE '\\'", likePattern(q.ProjectHas))
	c.addIf(!q.Since.IsZero(), "COALESCE(m.ts_ms,s.last_ms)>=?", toMS(q.Since))
	c.addIf(!q.Until.IsZero(), "COALESCE(m.ts_ms,s.last_ms)<?", toMS(q.Until))
	return c.String(), c.args
}

// readMatches reads what ranking and grouping need: up to text bytes of each content, 0 for none.
func (s *Store) readMatches(ctx context.Context, from, where, order string, limit, text int, args []any) ([]Match, error) {
	answer := rows.Ask(ctx, s.read, "SELECT COALESCE(m.id,0), s.id, f.score, COALESCE(m.ts_ms,s.last_ms), COALESCE(m.role,''), COALESCE(m.seq,0),"+
		" CASE WHEN "+strconv.Itoa(text)+"=0 THEN '' ELSE substr(COALESCE(m.content,s.title),1,"+strconv.Itoa(text)+") END FROM "+
		from+" f"+joins+" WHERE "+visible+" AND "+where+" ORDER BY "+order+" LIMIT ?", append(args, limit)...)
	return rows.Collect(answer, func(r rows.Scanner) (m Match, err error) {
		var at int64
		err = r.Scan(&m.ID, &m.Session, &m.Rank, &at, &m.Role, &m.Seq, &m.Text)
		m.At = fromMS(at)
		return m, err
	})
}

// Texts fills in Text (what was asked of tools and parts included, as words) and Tool of matches
// that are shown.
func (s *Store) Texts(ctx context.Context, ms []Match) error {
	for i := range ms {
		err := s.readMatchText(ctx, &ms[i])
		if err != nil && !errors.Is(err, sql.ErrNoRows) { // deleted meanwhile: an empty text
			return err
		}
	}
	return nil
}

func (s *Store) readMatchText(ctx context.Context, m *Match) error {
	if m.ID == 0 {
		return s.read.QueryRowContext(ctx, "SELECT title FROM sessions WHERE id=?", m.Session).Scan(&m.Text)
	}
	var r row
	var hit chat.Message
	err := s.read.QueryRowContext(ctx, `SELECT substr(content,1,65536), tool_calls, tool_name,
 CASE WHEN extra LIKE '{"parts"%' OR extra LIKE '{"attachments"%' THEN extra ELSE '' END FROM messages WHERE id=?`, m.ID).
		Scan(&r.content, &r.calls, &m.Tool, &r.extra)
	if err != nil {
		return err
	}
	r.decode(&hit)
	m.Text = strings.TrimSpace(talkText(&hit) + "\n" + callsText(hit.Calls))
	if hit.Result != nil {
		m.Text = r.content
	}
	return nil
}

// containsTerms is the condition that all terms of one of their groups are in a text.
func containsTerms(text string, terms []string) (condition string, args []any) {
	var any []string
	for _, group := range splitAtOr(terms) {
		var all []string
		for _, term := range group {
			all = append(all, text+" LIKE ? ESCAPE '\\'")
			args = append(args, likePattern(strings.TrimRight(term, "*")))
		}
		any = append(any, strings.Join(all, " AND "))
	}
	return "(" + strings.Join(any, " OR ") + ")", args
}

// scanNewest looks without the index: exact parts of words in the newest messages.
func (s *Store) scanNewest(ctx context.Context, q SearchQuery) (f Found, err error) {
	defer s.watchDamage(&err)
	var high int64
	if err := s.read.QueryRowContext(ctx, "SELECT COALESCE(max(id),0) FROM messages").Scan(&high); err != nil {
		return Found{}, err
	}
	c := conditions{}
	where, args := q.filterConditions()
	c.add("m.id>?", high-scanMax)
	role, text := "m.role IN ('user','assistant')", "m.content"
	if q.Table == Tools {
		role = "(m.role='tool' OR m.tool_calls<>'')"
		text = "(m.tool_name||' '||m.tool_calls||' '||CASE m.role WHEN 'tool' THEN m.content ELSE '' END)"
	}
	c.add(role)
	part, words := containsTerms(text, q.Terms)
	c.add(part, words...)
	c.add(where, args...)
	from := "(SELECT m.id AS id, 0.0 AS score FROM messages m JOIN sessions s ON s.id=m.session_id WHERE " + c.String() + " ORDER BY m.id DESC LIMIT 500)"
	found, err := s.readMatches(ctx, from, "1", "f.id DESC", newestMax, rankText, c.args)
	if err != nil {
		return Found{}, err
	}
	rankNewest(found, q, s.now())
	return Found{Matches: found[:min(q.Limit, len(found))], Total: len(found), Bounded: true}, nil
}
