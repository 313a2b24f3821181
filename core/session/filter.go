package session

import (
	"strings"
	"time"
)

// OnlyFilters reads a query that has no word to look for, only filter words that a list of sessions
// can answer: since:2w in:project. ok is false when there is anything else, or nothing at all.
func OnlyFilters(text string) (f Filter, ok bool) {
	q := parseQuery(Query{Text: text}, time.Now())
	if len(q.Terms) > 0 || q.Tool != "" || q.Backend != "" || q.Role != "" || strings.TrimSpace(text) == "" {
		return Filter{}, false
	}
	f = Filter{Project: q.ProjectHas, Source: q.Source, Since: q.Since, Until: q.Until}
	return f, f.Project != "" || f.Source != "" || !f.Since.IsZero() || !f.Until.IsZero()
}
