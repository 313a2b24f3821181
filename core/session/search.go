package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/store"
)

// Query is a search over all past messages.
//
// Text holds words, "quoted phrases", beginnings*, OR between two of those groups, and filter
// words: tool:terminal backend:analytics since:2w until:2026-01-01 in:project source:run role:user.
// A filter word that makes no sense is looked for as text.
type Query struct {
	Text    string
	Limit   int  // hits at most; 0 means 20
	Typing  bool // the last word may be unfinished: match it as a beginning
	Project string
	Source  string
	Since   time.Time
	Until   time.Time
}

// Hit is one message found.
type Hit struct {
	Session   event.SessionInfo
	MessageID int64 // 0 when the title matched
	Seq       int
	Role      chat.Role
	At        time.Time
	Snippet   string   // one line around the first match
	Marks     [][2]int // byte ranges in Snippet that matched
	Tool      string   // of a tool's result
}

// Results is the answer to a Query: the best hit of each session first, then further ones.
type Results struct {
	Hits       []Hit
	Total      int     // matching messages, counted up to 5,000
	Bounded    bool    // there are more: the newest were ranked
	Rebuilding float64 // 0 when the index is complete; else which part of it is there, a little above 0 at least
}

// candidates looked at for each hit wanted, so that one talkative session does not push out the
// others
const hitsPerLimit = 10

// Search finds past messages. It looks at what people and models said; at tool calls and their
// output when the query has tool: or backend:, or when nothing else was found. Without words it
// returns nothing. It never fails because of what the query says.
func (s *Service) Search(ctx context.Context, q Query) (Results, error) {
	limit := orDefault(q.Limit, 20)
	f := parseQuery(q, s.now())
	f.Limit = limit * hitsPerLimit
	var out Results
	if part, running := s.st.Rebuilding(); running {
		out.Rebuilding = max(part, 0.001)
	}
	f.Table = store.Talk
	if f.Tool != "" || f.Backend != "" || f.Role == string(chat.RoleTool) {
		f.Table = store.Tools
	}
	found, err := s.st.Search(ctx, f)
	if err == nil && len(found.Matches) == 0 && f.Table == store.Talk {
		f.Table = store.Tools
		found, err = s.st.Search(ctx, f)
	}
	if err != nil {
		return Results{}, fmt.Errorf("search %q: %w", q.Text, err)
	}
	out.Total, out.Bounded = found.Total, found.Bounded
	out.Hits, err = s.hitsOf(ctx, spreadMatches(found.Matches, limit), f)
	return out, err
}

// spreadMatches picks the best match of each session, then the best of the rest.
func spreadMatches(ms []store.Match, limit int) []store.Match {
	seen := map[int64]bool{}
	var first, rest []store.Match
	for _, m := range ms {
		if seen[m.Session] {
			rest = append(rest, m)
			continue
		}
		seen[m.Session] = true
		first = append(first, m)
	}
	first = append(first, rest...)
	return first[:min(limit, len(first))]
}

func (s *Service) hitsOf(ctx context.Context, ms []store.Match, f store.SearchQuery) ([]Hit, error) {
	ids := make([]int64, len(ms))
	for i, m := range ms {
		ids[i] = m.Session
	}
	if err := s.st.Texts(ctx, ms); err != nil {
		return nil, err
	}
	sessions, err := s.st.SessionsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Hit, 0, len(ms))
	for _, m := range ms {
		x, ok := sessions[m.Session]
		if !ok { // deleted meanwhile
			continue
		}
		h := Hit{Session: s.infoOf(x), MessageID: m.ID, Seq: m.Seq, Role: chat.Role(m.Role), At: m.At, Tool: m.Tool}
		h.Snippet, h.Marks = snippetOf(m.Text, f.Terms)
		out = append(out, h)
	}
	return out, nil
}

// parseQuery takes the filter words out of the text.
func parseQuery(q Query, now time.Time) store.SearchQuery {
	f := store.SearchQuery{Typing: q.Typing, Source: q.Source, ProjectHas: q.Project, Since: q.Since, Until: q.Until}
	var words []string
	for _, field := range strings.Fields(q.Text) {
		if !applyFilter(&f, field, now) {
			words = append(words, field)
		}
	}
	if strings.HasSuffix(q.Text, " ") {
		f.Typing = false // the last word is finished
	}
	f.Terms = store.Terms(strings.Join(words, " "))
	return f
}

func applyFilter(f *store.SearchQuery, field string, now time.Time) bool {
	name, value, ok := strings.Cut(field, ":")
	if !ok || value == "" {
		return false
	}
	switch name {
	case "tool":
		f.Tool = value
	case "backend":
		f.Backend = strings.TrimPrefix(value, "@")
	case "role":
		f.Role = value
	case "source":
		f.Source = value
	case "in":
		f.ProjectHas = value
	case "since":
		f.Since, ok = parseWhen(value, now)
	case "until":
		f.Until, ok = parseWhen(value, now)
	default:
		return false
	}
	return ok
}

// parseWhen reads 2026-01-31, 2026-01, today, yesterday, or an age: 90m, 12h, 3d, 2w, 6mo, 1y.
func parseWhen(text string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02", "2006-01", "2006"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, true
		}
	}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "today":
		return midnight, true
	case "yesterday":
		return midnight.AddDate(0, 0, -1), true
	}
	var n int
	var unit string
	if _, err := fmt.Sscanf(text, "%d%s", &n, &unit); err != nil || n < 0 || n > 100_000 {
		return time.Time{}, false
	}
	switch unit {
	case "m", "min":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d":
		return now.AddDate(0, 0, -n), true
	case "w":
		return now.AddDate(0, 0, -7*n), true
	case "mo":
		return now.AddDate(0, -n, 0), true
	case "y":
		return now.AddDate(-n, 0, 0), true
	default:
		return time.Time{}, false
	}
}
