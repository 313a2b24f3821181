package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/testwait"
)

func found(t testing.TB, s *Service, q Query) (Results, []string) {
	t.Helper()
	r, err := s.Search(bg, q)
	must(t, err)
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.Snippet)
	}
	return r, out
}

func TestSearch(t *testing.T) {
	s, _ := newService(t)
	a := create(t, s, NewSession{Title: "Harbour lights", Cwd: "/src/alpha", Source: "tui"}).UID
	b := create(t, s, NewSession{Title: "Other", Cwd: "/src/beta", Source: "run"}).UID
	add(t, s, a, user("where is the lighthouse"))
	add(t, s, a, assistant("The LIGHTHOUSE stands on the cliff; a lighthouse keeper lives there", chat.ToolCall{ID: "1", Name: "terminal", Args: []byte(`{"command":"grep keeper"}`)}))
	tool := result("1", "terminal", "needle in the output")
	tool.Result.Backend = "analytics"
	add(t, s, a, tool)
	add(t, s, b, user("lighthouse and 数据库索引"))

	r, _ := found(t, s, Query{Text: "lighthouse"})
	if len(r.Hits) != 3 || r.Hits[0].Session.UID == r.Hits[1].Session.UID || r.Total != 3 || r.Bounded || r.Rebuilding != 0 {
		t.Errorf("one hit a session first: %+v", r)
	}
	for _, h := range r.Hits {
		for _, m := range h.Marks {
			if !strings.EqualFold(h.Snippet[m[0]:m[1]], "lighthouse") {
				t.Errorf("mark %q in %q", h.Snippet[m[0]:m[1]], h.Snippet)
			}
		}
		if len(h.Marks) == 0 {
			t.Errorf("no mark in %q", h.Snippet)
		}
	}
	for text, want := range map[string]int{
		"lighthouse in:beta": 1, "lighthouse source:tui": 2, "role:user lighthouse": 2, "lighthouse since:1d": 3, "lighthouse until:2020-01-01": 0,
		"tool:terminal needle": 1, "backend:analytics needle": 1, "backend:@other needle": 0, "needle": 1, "keeper tool:terminal": 1,
		"数据": 1, "引": 1, "据索": 0, "Harbour": 1, "nothing:special": 0, "light*": 4, "": 0, "since:2w": 0, "since:nonsense": 0,
		"cliff OR 数据": 2, "cliff OR nowhere": 1, "OR cliff OR": 1, "OR": 0, "keeper cliff OR beta 数据": 1, "cliff or 数据": 0,
		`"OR" cliff`: 0, "cliff OR needle tool:terminal": 1, "grep": 1, "terminal": 2, "grep OR needle": 2,
	} {
		if r, _ := found(t, s, Query{Text: text}); len(r.Hits) != want {
			t.Errorf("%q: %d hits, want %d: %+v", text, len(r.Hits), want, r.Hits)
		}
	}
	if r, _ = found(t, s, Query{Text: "cliff OR nowhere"}); !strings.Contains(r.Hits[0].Snippet, "cliff") || len(r.Hits[0].Marks) != 1 {
		t.Errorf("either of two: %+v", r.Hits)
	}
	if r, _ = found(t, s, Query{Text: "lightho", Typing: true}); len(r.Hits) != 3 {
		t.Errorf("while typing: %d hits", len(r.Hits))
	}
	if r, _ = found(t, s, Query{Text: "Harbour"}); r.Hits[0].MessageID != 0 || r.Hits[0].Session.UID != a {
		t.Errorf("a title: %+v", r.Hits[0])
	}
	for range 10 { // each hit that is a title once kept one of four connections for ever
		ctx, cancel := context.WithTimeout(bg, testwait.Hang)
		_, err := s.Search(ctx, Query{Text: "Harbour"})
		cancel()
		must(t, err)
	}
	if r, _ = found(t, s, Query{Text: "needle"}); r.Hits[0].Tool != "terminal" || r.Hits[0].Role != chat.RoleTool {
		t.Errorf("a tool: %+v", r.Hits[0])
	}
}

// More than 5,000 matches: the count is bounded, and the newest are found.
func TestSearchOfACommonWord(t *testing.T) {
	s, _ := newService(t)
	buildCorpus(t, s, 5_600)
	r, _ := found(t, s, Query{Text: "common", Limit: 10})
	if !r.Bounded || r.Total != 5000 || len(r.Hits) != 10 {
		t.Errorf("bounded %v total %d hits %d", r.Bounded, r.Total, len(r.Hits))
	}
	seen := map[string]bool{}
	for _, h := range r.Hits {
		if seen[h.Session.UID] {
			t.Error("a session twice before others once")
		}
		seen[h.Session.UID] = true
	}
	if r, _ = found(t, s, Query{Text: "common in:project3"}); !r.Bounded || len(r.Hits) == 0 {
		t.Errorf("filtered: %+v", r)
	}
	for _, h := range r.Hits {
		if h.Session.Project != "/src/project3" {
			t.Errorf("hit in %s", h.Session.Project)
		}
	}
}

func TestSearchNeverFails(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	add(t, s, uid, user("AND OR NOT tool:x 数据 \"quoted\" %_ \\"))
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`((tool|since|role|in):?["*()a-z0-9数据%]{0,5} ?){0,5}`)).Draw(rt, "query")
		r, err := s.Search(bg, Query{Text: text, Typing: rapid.Bool().Draw(rt, "typing")})
		if err != nil {
			rt.Fatal(err)
		}
		for _, h := range r.Hits {
			for _, m := range h.Marks {
				_ = h.Snippet[m[0]:m[1]]
			}
		}
	})
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("before ", 40) + "the NEEDLE is here" + strings.Repeat(" after", 60)
	line, marks := snippetOf(long, []string{"needle"})
	if len(marks) != 1 || line[marks[0][0]:marks[0][1]] != "NEEDLE" || !strings.HasPrefix(line, "…before") || !strings.HasSuffix(line, "…") {
		t.Errorf("%q %v", line, marks)
	}
	line, marks = snippetOf("İstanbul\n\tis\x1b[31m red 数据库", []string{"red", "数据"})
	if line != "İstanbul is red 数据库" || len(marks) != 2 || line[marks[1][0]:marks[1][1]] != "数据" {
		t.Errorf("%q %v", line, marks)
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		term := rapid.StringN(1, 4, -1).Draw(rt, "term")
		line, marks := snippetOf(text, []string{term, "a"})
		end := 0
		for _, m := range marks {
			if m[0] < end || m[1] <= m[0] || m[1] > len(line) {
				rt.Fatalf("marks %v in %q", marks, line)
			}
			end = m[1]
		}
		if strings.ContainsAny(line, "\n\x1b") {
			rt.Fatalf("line %q", line)
		}
	})
}

func TestWhen(t *testing.T) {
	now := time.Date(2026, 3, 15, 18, 30, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-01-02": "2026-01-02 00:00", "2025-12": "2025-12-01 00:00", "2025": "2025-01-01 00:00", "today": "2026-03-15 00:00",
		"yesterday": "2026-03-14 00:00", "90m": "2026-03-15 17:00", "12h": "2026-03-15 06:30", "3d": "2026-03-12 18:30",
		"2w": "2026-03-01 18:30", "1mo": "2026-02-15 18:30", "1y": "2025-03-15 18:30",
	} {
		got, ok := parseWhen(text, now)
		if !ok || got.Format("2006-01-02 15:04") != want {
			t.Errorf("%s: %v %v", text, got, ok)
		}
	}
	for _, bad := range []string{"", "soon", "-1d", "5", "5q", "2026-13-01"} {
		if got, ok := parseWhen(bad, now); ok {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestSpreadKeepsOrder(t *testing.T) {
	s, _ := newService(t)
	for i := range 3 {
		uid := create(t, s, NewSession{UID: fmt.Sprint("s", i)}).UID
		for range 3 - i {
			add(t, s, uid, user("tide"))
		}
	}
	r, _ := found(t, s, Query{Text: "tide", Limit: 4})
	var order []string
	for _, h := range r.Hits {
		order = append(order, h.Session.UID)
	}
	slices.Sort(order[:3])
	if !slices.Equal(order[:3], []string{"s0", "s1", "s2"}) || len(order) != 4 {
		t.Errorf("%v", order)
	}
}

// What was asked of a tool is found and shown as words: no JSON, no names of arguments.
func TestSnippetOfACallIsWords(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	args := `{"command":"grep \"zebra\"\n  -r .","options":{"depth":3,"quiet":true},"paths":["kraal","veld"]}`
	add(t, s, uid, assistant("", chat.ToolCall{ID: "offline_0_0", Name: "terminal", Args: []byte(args)}))
	add(t, s, uid, assistant("", chat.ToolCall{ID: "offline_0_1", Name: "terminal", Args: []byte(`{"command": okapi`)}))
	for query, want := range map[string]string{
		"zebra": `terminal grep "zebra" -r . 3 kraal veld`, "tool:terminal veld": `terminal grep "zebra" -r . 3 kraal veld`,
		"okapi": `terminal okapi`,
	} {
		r, _ := found(t, s, Query{Text: query})
		if len(r.Hits) != 1 || r.Hits[0].Snippet != want {
			t.Errorf("%s: %+v, want %s", query, r.Hits, want)
		}
	}
	for _, name := range []string{"depth", "offline_0_0"} {
		if r, _ := found(t, s, Query{Text: name}); len(r.Hits) != 0 {
			t.Errorf("%s is no word that anybody wrote: %+v", name, r.Hits)
		}
	}
	m := user("look at this")
	m.Parts = []chat.Part{{Name: "notes.txt", Text: "about the quagga"}}
	add(t, s, uid, m)
	if r, _ := found(t, s, Query{Text: "quagga"}); len(r.Hits) != 1 || r.Hits[0].Snippet != "look at this notes.txt about the quagga" {
		t.Errorf("attachment: %+v", r.Hits)
	}
}
