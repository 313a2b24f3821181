package store

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/cjk"
)

// Every character that we pair must be a word character to SQLite, else a pair falls apart and the
// phrase with it.
func TestEveryPairedCharacterIsAToken(t *testing.T) {
	s := open(t)
	var all []rune
	for r := rune(0x3000); r < 0x2FFFF; r++ {
		if cjk.Is(r) {
			all = append(all, r)
		}
	}
	err := s.runInWriter(bg, nil, func(t *tx) error {
		if _, err := t.exec(`CREATE VIRTUAL TABLE temp.chars USING fts5(c, tokenize='unicode61');
 CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(temp, chars, 'instance')`); err != nil {
			return err
		}
		for i, r := range all {
			if _, err := t.exec("INSERT INTO temp.chars(rowid,c) VALUES(?,?)", i+1, string(r)); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	seen := map[int64]bool{}
	err = s.runInWriter(bg, nil, func(t *tx) error {
		rows, err := t.conn.QueryContext(bg, "SELECT DISTINCT doc FROM temp.tokens")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var doc int64
			if err := rows.Scan(&doc); err != nil {
				return err
			}
			seen[doc] = true
		}
		return rows.Err()
	})
	must(t, err)
	var bad []string
	for i, r := range all {
		if !seen[int64(i+1)] {
			bad = append(bad, fmt.Sprintf("%U", r))
		}
	}
	if len(bad) > 0 {
		t.Fatalf("%d of %d are no tokens: %v", len(bad), len(all), bad[:min(20, len(bad))])
	}
}

// The promise of the pairs: search finds exactly the texts that hold the characters.
func TestRecallIsSubstring(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	text := rapid.StringOfN(rapid.SampledFrom([]rune("数据库索引测試한국かなカ,。 xy")), 0, 24, -1)
	texts := map[int64]string{}
	for i := range 300 {
		body := text.Example(i)
		m := say(t, s, "u", body)
		texts[m.ID] = body
	}
	needle := rapid.StringOfN(rapid.SampledFrom([]rune("数据库索引测試한국かなカ")), 1, 5, -1)
	rapid.Check(t, func(rt *rapid.T) {
		want := needle.Draw(rt, "needle")
		got := ids(search(t, s, want))
		for id, body := range texts {
			if got[id] != strings.Contains(body, want) {
				rt.Fatalf("search %q: text %q found=%v", want, body, got[id])
			}
		}
	})
}

// A query of any shape is an expression that SQLite takes.
func TestQueryNeverFails(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	say(t, s, "u", "AND OR NOT NEAR column:value \"quoted\" a-b_c 数据库")
	rapid.Check(t, func(rt *rapid.T) { lookUpRaw(rt, s, rapid.String().Draw(rt, "query")) })
	for _, q := range []string{`"`, `""`, `AND`, `NOT a`, `NEAR(a b)`, `a:b`, `*`, `"a`, `^a`, `{a}`, `a*b*`, "\x00", "(((", `-a`, "ａ＊", "´", "а́*"} {
		lookUpRaw(t, s, q)
	}
}

type fataler interface{ Fatalf(string, ...any) }

func lookUpRaw(t fataler, s *Store, query string) {
	for _, typing := range []bool{false, true} {
		q := SearchQuery{Table: Talk, Terms: Terms(query), Typing: typing, Limit: 5}
		match := matchQuery(q.Terms, typing)
		if match == "" {
			continue
		}
		if _, err := s.lookUp(bg, q, match); err != nil {
			t.Fatalf("query %q as %q: %v", query, match, err)
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"word", `"two words" x*`, "数据 OR NOT", `a"b`, "\x00\xff"} {
		f.Add(seed)
	}
	s, err := Open(bg, f.TempDir()+"/w.db", Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, q string) { lookUpRaw(t, s, q) })
}

func TestTerms(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	if n := len(Terms(long)); n != maxTerms {
		t.Errorf("%d terms, want %d", n, maxTerms)
	}
	for q, want := range map[string]string{
		"a b":           "a|b",
		`"two words" x`: "two words|x",
		"!!! a ***":     "a",
		"pre* b":        "pre*|b",
		"":              "",
	} {
		if got := strings.Join(Terms(q), "|"); got != want {
			t.Errorf("Terms(%q) = %q, want %q", q, got, want)
		}
	}
}

func TestWordsQuotedPhrasesAndBeginnings(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	a := say(t, s, "u", "The quick brown fox")
	b := say(t, s, "u", "brown bread and a Quicksand 检索")
	for q, want := range map[string][]int64{
		"quick": {a.ID}, "QUICK": {a.ID}, "quick*": {a.ID, b.ID}, "brown": {a.ID, b.ID}, `"quick brown"`: {a.ID},
		`"brown quick"`: nil, "brown bread": {b.ID}, "检索": {b.ID}, "检": {b.ID}, "索": {b.ID}, "检 bread": {b.ID}, "NOT": nil,
	} {
		got := ids(search(t, s, q))
		if len(got) != len(want) {
			t.Errorf("%s: found %v, want %v", q, got, want)
		}
		for _, id := range want {
			if !got[id] {
				t.Errorf("%s: %d is missing", q, id)
			}
		}
	}
	f, err := s.Search(bg, SearchQuery{Table: Talk, Terms: []string{"qui"}, Typing: true, Limit: 5})
	must(t, err)
	if len(f.Matches) != 2 {
		t.Errorf("while typing qui: %d, want 2", len(f.Matches))
	}
}

// While the index is made anew a plain scan answers, by the same rules.
func TestTheScanFindsWhatTheIndexFinds(t *testing.T) {
	s := open(t)
	create(t, s, "a")
	talk := say(t, s, "a", "the harbour master")
	call := &chat.Message{
		Role: chat.RoleAssistant, Status: chat.StatusFinal, Text: "I look.",
		Calls: []chat.ToolCall{{ID: "1", Name: "terminal", Args: []byte(`{"command":"grep anchor log"}`)}},
	}
	_, err := s.Append(bg, "a", call, Derived{})
	must(t, err)
	for _, c := range []struct {
		table Table
		query string
		want  int64 // 0: nothing
	}{
		{Talk, "harbour master", talk.ID},
		{Talk, "nowhere OR harbour", talk.ID},
		{Talk, "harbour nowhere", 0},
		{Tools, "terminal", call.ID},
		{Tools, "anchor log", call.ID},
		{Tools, "nowhere OR anchor", call.ID},
		{Tools, "harbour", 0},
	} {
		for _, stale := range []bool{false, true} {
			s.stale.Store(stale)
			f, err := s.Search(bg, SearchQuery{Table: c.table, Terms: Terms(c.query), Limit: 10})
			must(t, err)
			if got := ids(f); len(got) > 1 || got[c.want] != (c.want != 0) {
				t.Errorf("%s %q with a stale index %v: %v, want %d", c.table, c.query, stale, got, c.want)
			}
		}
	}
	s.stale.Store(false)
}
