// Package recall holds the session_search tool: past conversations, found by words and read where
// they were found. No model is asked; what comes back is what was said.
//
// The contract: read-only; sessions of helpers and tools are not shown; every result names the
// session and message ids that the next call needs.
package recall

import (
	"cmp"
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/session"
	"hermes/core/tool"
)

//go:embed session_search.md
var searchDoc string

// Sessions is what the tool needs of the session service; *session.Service is one.
type Sessions interface {
	Search(ctx context.Context, q session.Query) (session.Results, error)
	List(ctx context.Context, f session.Filter) ([]event.SessionInfo, error)
	Messages(ctx context.Context, uid string, p session.Page) (msgs []chat.Message, more bool, err error)
	Resolve(ctx context.Context, ref string) (event.SessionInfo, error)
}

type searchArgs struct {
	Query   string `json:"query"`
	Limit   int    `json:"limit"`
	Sort    string `json:"sort"`
	Session string `json:"session_id"`
	Around  int64  `json:"around_message_id"`
	Window  int    `json:"window"`
	Roles   string `json:"role_filter"`
}

// Search returns the session_search tool.
func Search(s Sessions) tool.Tool {
	r := recall{s}
	return tool.Typed(tool.Spec{
		Name: "session_search", Toolset: "session_search", Description: searchDoc,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
			"query":{"type":"string","description":"Words to find, \"phrases\" and beginnings*; also tool:, since:2w, in:project, role:"},
			"limit":{"type":"integer","minimum":1,"maximum":10,"default":3,"description":"Sessions at most"},
			"sort":{"type":"string","enum":["relevance","newest","oldest"],"default":"relevance"},
			"session_id":{"type":"string","description":"Read this session"},
			"around_message_id":{"type":"integer","minimum":1,"description":"With session_id: the messages around this one"},
			"window":{"type":"integer","minimum":1,"maximum":20,"default":5,"description":"Messages on each side"},
			"role_filter":{"type":"string","default":"user,assistant","description":"Roles shown, separated by commas: user, assistant, tool"}}}`),
		Intent: tool.Arg(func(a searchArgs) intent.Intent {
			return intent.ReadsOnly(cmp.Or(a.Query, a.Session, "recent sessions"))
		}),
	}, r.runSearch)
}

type recall struct{ sessions Sessions }

func (r recall) runSearch(ctx context.Context, c tool.Call, a searchArgs) (tool.Result, error) {
	a.Limit, a.Window = cmp.Or(a.Limit, 3), cmp.Or(a.Window, 5)
	roles, err := parseRoles(a.Roles)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	w := writer{roles: roles}
	switch {
	case a.Around != 0 && a.Session == "":
		return tool.Fail("around_message_id needs session_id: a search result names both."), nil
	case a.Session != "":
		err = r.openSession(ctx, &w, a)
	case strings.TrimSpace(a.Query) != "":
		err = r.discoverByWords(ctx, &w, a, c.Session)
	default:
		err = r.listNewest(ctx, &w, a, c.Session)
	}
	if err != nil && ctx.Err() == nil {
		return tool.Fail("%v", err), nil
	}
	return tool.Result{Text: w.b.String()}, err
}

func parseRoles(s string) ([]chat.Role, error) {
	var roles []chat.Role
	for part := range strings.SplitSeq(cmp.Or(s, "user,assistant"), ",") {
		switch role := chat.Role(strings.ToLower(strings.TrimSpace(part))); role {
		case chat.RoleUser, chat.RoleAssistant, chat.RoleTool:
			roles = append(roles, role)
		case "":
		default:
			return nil, fmt.Errorf("role_filter: there is no role %q; roles are user, assistant and tool", role)
		}
	}
	return roles, nil
}

// discoverByWords finds sessions by words: of each the best place with its surroundings, and how it
// began and ended.
func (r recall) discoverByWords(ctx context.Context, w *writer, a searchArgs, self string) error {
	res, err := r.sessions.Search(ctx, session.Query{Text: a.Query, Limit: 60})
	if err != nil {
		return err
	}
	best := bestOfEach(res.Hits, self)
	sortHits(best, a.Sort)
	if len(best) == 0 {
		w.writeLine("No past message matches %q. Try fewer or other words; words are matched whole, add * for beginnings.", a.Query)
		return nil
	}
	w.writeLine("%d messages match; %d of the sessions:", res.Total, min(a.Limit, len(best)))
	for _, h := range best[:min(a.Limit, len(best))] {
		if err := r.writeHit(ctx, w, h, a.Window); err != nil {
			return err
		}
	}
	if res.Rebuilding > 0 {
		w.writeLine("[the index is being rebuilt: older messages may be missing]")
	}
	w.writeLine("Read on with session_id and around_message_id.")
	return nil
}

// bestOfEach keeps the best hit of each conversation. A fork repeats what its parent said, so a
// session and those forked from it count as one; the asking session and what it was forked from
// know it already.
func bestOfEach(hits []session.Hit, self string) []session.Hit {
	seen := map[string]bool{self: true}
	var out []session.Hit
	for _, h := range hits {
		line := cmp.Or(h.Session.Parent, h.Session.UID)
		if seen[line] || seen[h.Session.UID] {
			continue
		}
		seen[line], seen[h.Session.UID] = true, true
		out = append(out, h)
	}
	return out
}

// sortHits orders by time, or by relevance with scheduled runs last.
func sortHits(hits []session.Hit, order string) {
	slices.SortStableFunc(hits, func(a, b session.Hit) int {
		switch order {
		case "newest":
			return b.At.Compare(a.At)
		case "oldest":
			return a.At.Compare(b.At)
		}
		return cmp.Compare(orderOf(a), orderOf(b))
	})
}

func orderOf(h session.Hit) int {
	if strings.HasPrefix(h.Session.Source, "cron") {
		return 1
	}
	return 0
}

const edges = 3 // messages shown from the start and the end of a found session

func (r recall) writeHit(ctx context.Context, w *writer, h session.Hit, window int) error {
	w.writeSession(h.Session)
	if h.MessageID == 0 {
		w.writeLine("The title matches.")
	}
	head, _, err := r.sessions.Messages(ctx, h.Session.UID, session.Page{BeforeSeq: edges + 1, Limit: edges})
	if err != nil {
		return err
	}
	var around []chat.Message
	if h.MessageID != 0 {
		w.writeLine("Found in message %d: %s", h.MessageID, h.Snippet)
		if around, err = r.messagesAround(ctx, h.Session.UID, h.MessageID, window); err != nil {
			return err
		}
	}
	tail, _, err := r.sessions.Messages(ctx, h.Session.UID, session.Page{Limit: edges})
	if err != nil {
		return err
	}
	w.writePages(h.MessageID, head, around, tail)
	return nil
}

// messagesAround returns window messages on each side of one.
func (r recall) messagesAround(ctx context.Context, uid string, id int64, window int) ([]chat.Message, error) {
	msgs, _, err := r.sessions.Messages(ctx, uid, session.Page{AroundID: id, Limit: 2*window + 1})
	return msgs, err
}

// openSession is scroll, with an anchor, or read: the first 20 and the last 10 messages.
func (r recall) openSession(ctx context.Context, w *writer, a searchArgs) error {
	info, err := r.sessions.Resolve(ctx, a.Session)
	if err != nil {
		return err
	}
	w.writeSession(info)
	if a.Around != 0 {
		msgs, err := r.messagesAround(ctx, info.UID, a.Around, a.Window)
		if err != nil {
			return err
		}
		w.writePages(a.Around, msgs)
		return nil
	}
	const first, last = 20, 10
	head, _, err := r.sessions.Messages(ctx, info.UID, session.Page{BeforeSeq: first + 1, Limit: first})
	if err != nil {
		return err
	}
	tail, _, err := r.sessions.Messages(ctx, info.UID, session.Page{Limit: last})
	if err != nil {
		return err
	}
	w.writePages(0, head, tail)
	return nil
}

// listNewest lists the newest sessions.
func (r recall) listNewest(ctx context.Context, w *writer, a searchArgs, self string) error {
	all, err := r.sessions.List(ctx, session.Filter{Limit: 300})
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(i event.SessionInfo) bool { return i.UID == self })
	slices.SortStableFunc(all, func(x, y event.SessionInfo) int {
		if a.Sort == "oldest" {
			return x.Last.Compare(y.Last)
		}
		return y.Last.Compare(x.Last)
	})
	if len(all) == 0 {
		w.writeLine("There are no other sessions.")
		return nil
	}
	for _, i := range all[:min(a.Limit, len(all))] {
		w.writeSession(i)
		w.writeLine("%s", i.Preview)
	}
	return nil
}
