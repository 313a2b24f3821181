package sessions

import (
	"sort"
	"time"

	"hermes/core/chat"
	"hermes/core/session"
)

// The JSON forms of results. Their names are for scripts and do not change with the types of the
// core.

type hitsView struct {
	Hits       []hitView `json:"hits"`
	Total      int       `json:"total"`
	Bounded    bool      `json:"bounded"`
	Rebuilding float64   `json:"rebuilding,omitempty"`
}

type hitView struct {
	Session   string    `json:"session"`
	Title     string    `json:"title"`
	MessageID int64     `json:"message_id,omitempty"`
	Seq       int       `json:"seq,omitempty"`
	Role      chat.Role `json:"role,omitempty"`
	At        time.Time `json:"at"`
	Snippet   string    `json:"snippet"`
	Marks     [][2]int  `json:"marks"`
	Tool      string    `json:"tool,omitempty"`
}

func viewHits(r session.Results) hitsView {
	v := hitsView{Hits: make([]hitView, 0, len(r.Hits)), Total: r.Total, Bounded: r.Bounded, Rebuilding: r.Rebuilding}
	for _, h := range r.Hits {
		v.Hits = append(v.Hits, hitView{
			Session: h.Session.UID, Title: h.Session.Title, MessageID: h.MessageID, Seq: h.Seq, Role: h.Role, At: h.At,
			Snippet: h.Snippet, Marks: h.Marks, Tool: h.Tool,
		})
	}
	return v
}

type statsView struct {
	Sessions  int            `json:"sessions"`
	Archived  int            `json:"archived"`
	Messages  int            `json:"messages"`
	ToolCalls int            `json:"tool_calls"`
	Usage     chat.Usage     `json:"usage"`
	Bytes     int64          `json:"bytes"`
	BySource  map[string]int `json:"by_source"`
	ByModel   map[string]int `json:"by_model"`
	Oldest    time.Time      `json:"oldest,omitzero"`
	Newest    time.Time      `json:"newest,omitzero"`
}

func viewStats(s session.Stats) statsView {
	return statsView{s.Sessions, s.Archived, s.Messages, s.ToolCalls, s.Usage, s.Bytes, s.BySource, s.ByModel, s.Oldest, s.Newest}
}

type checkView struct {
	Problems []string `json:"problems"`
	Messages int      `json:"messages"`
	Seconds  float64  `json:"seconds"`
}

func viewCheck(r session.CheckReport) checkView {
	problems := r.Problems
	if problems == nil {
		problems = []string{}
	}
	return checkView{problems, r.Messages, r.Took.Seconds()}
}

func keysOf(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
