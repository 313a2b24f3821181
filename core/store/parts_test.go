package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/chat"
)

// The first versions wrote "attachments": their rows and files are read as before, and found by
// their words.
func TestRowsOfTheFirstVersions(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	m := &chat.Message{
		Role: chat.RoleUser, Status: chat.StatusFinal, Text: "look",
		Parts: []chat.Part{{Kind: chat.PartPaste, Name: "paste 1", Text: "quagga"}},
	}
	_, err := s.Append(bg, "u", m, Derived{})
	must(t, err)
	must(t, s.runInWriter(bg, nil, func(tx *tx) error {
		n, err := tx.exec(`UPDATE messages SET extra=replace(extra,'{"parts":','{"attachments":') WHERE extra LIKE '{"parts":%'`)
		if err == nil && n != 1 {
			t.Errorf("%d rows made old", n)
		}
		return err
	}))
	got, _, err := s.Messages(bg, "u", MessageQuery{Limit: All})
	must(t, err)
	if len(got) != 1 || !reflect.DeepEqual(got[0].Parts, m.Parts) {
		t.Errorf("read as %+v", got)
	}
	found := search(t, s, "quagga").Matches
	if must(t, s.Texts(bg, found)); len(found) != 1 || found[0].Text != "look\npaste 1\nquagga" {
		t.Errorf("found %+v", found)
	}
	var p Packed
	must(t, json.Unmarshal([]byte(`{"text":"x","attachments":[{"kind":"paste","name":"p","text":"y"}]}`), &p))
	if parts := p.Unpack().Parts; len(parts) != 1 || parts[0].Text != "y" {
		t.Errorf("unpacked as %+v", parts)
	}
}

// attach appends a message that carries data as an image.
func attach(t testing.TB, s *Store, uid string, data []byte) string {
	t.Helper()
	hash, err := s.KeepContent(bg, uid, data)
	must(t, err)
	m := &chat.Message{
		Role: chat.RoleTool, Status: chat.StatusFinal,
		Result: &chat.ToolResult{CallID: "1", Name: "x", Parts: []chat.Part{{Kind: chat.PartImage, Name: "i", Blob: hash, Width: 3, Height: 2}}},
	}
	_, err = s.Append(bg, uid, m, Derived{})
	must(t, err)
	return hash
}

// files counts what lies in the folder of contents, and checks that nobody else can read it.
func files(t testing.TB, s *Store) (n int) {
	t.Helper()
	must(t, filepath.WalkDir(s.contents, func(_ string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		must(t, err)
		info, err := e.Info()
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
		if !e.IsDir() {
			n++
		}
		return nil
	}))
	return n
}

func TestContentsAreKeptOnceAndGoWithTheirLastSession(t *testing.T) {
	s := open(t)
	for _, uid := range []string{"a", "b"} {
		create(t, s, uid)
	}
	one, two := attach(t, s, "a", []byte("one")), attach(t, s, "b", []byte("one"))
	only := attach(t, s, "a", []byte("only a"))
	if one != two || files(t, s) != 2 {
		t.Fatalf("%s and %s in %d files", one, two, files(t, s))
	}
	must(t, s.Fork(bg, "a", 0, Session{UID: "c", Kind: "branch", Started: time.Now(), Last: time.Now()}))
	must(t, s.TakeBack(bg, "c", 1))
	must(t, s.DeleteSession(bg, "a"))
	for _, hash := range []string{one, only} { // the fork refers to both, though it has taken its messages back
		if _, err := s.Content(hash); err != nil {
			t.Error(err)
		}
	}
	if found, err := s.FindContent(bg, "c", only[:12]); err != nil || found != only {
		t.Errorf("found %s, %v", found, err)
	}
	if _, err := s.FindContent(bg, "b", only[:12]); !errors.Is(err, ErrNotFound) {
		t.Errorf("another session's content is found: %v", err)
	}
	must(t, s.DeleteSession(bg, "c"))
	if _, err := s.Content(only); err == nil || files(t, s) != 1 {
		t.Errorf("%d files are left", files(t, s))
	}
	left := filepath.Join(s.contents, "ab", strings.Repeat("c", 62)) // a crash between the two halves of a deletion
	must(t, os.MkdirAll(filepath.Dir(left), 0o700))
	must(t, os.WriteFile(left, []byte("x"), 0o600))
	s.swept.Store(false)
	must(t, s.DeleteSession(bg, "b"))
	if n := files(t, s); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

func TestDamagedContentIsSaidAndHeals(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	hash := attach(t, s, "u", []byte("picture"))
	must(t, os.WriteFile(s.ContentPath(hash), []byte("rubbish"), 0o600))
	if _, err := s.Content(hash); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("read: %v", err)
	}
	attach(t, s, "u", []byte("picture"))
	if data, err := s.Content(hash); err != nil || string(data) != "picture" {
		t.Errorf("kept again: %q, %v", data, err)
	}
	for _, bad := range []string{"", "x", "../../etc/passwd", strings.Repeat("/", 64), strings.Repeat("A", 64)} {
		if _, err := s.Content(bad); err == nil || s.ContentPath(bad) != "" {
			t.Errorf("%q is a content", bad)
		}
	}
	if _, err := s.KeepContent(bg, "nobody", []byte("x")); !errors.Is(err, ErrNotFound) {
		t.Errorf("kept for nobody: %v", err)
	}
	if _, err := s.KeepContent(bg, "u", make([]byte, MaxContent+1)); err == nil {
		t.Error("too much is kept")
	}
}

// A sweep that runs beside sessions that come and go never takes what is in use.
func TestSweepRaces(t *testing.T) {
	s := open(t)
	create(t, s, "keeper")
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 15 {
				uid := fmt.Sprintf("u%d-%d", w, i)
				create(t, s, uid)
				hash := attach(t, s, uid, []byte{byte(i)})
				if _, err := s.Content(hash); err != nil {
					t.Error(err)
				}
				must(t, s.DeleteSession(bg, uid))
			}
		})
	}
	hash := attach(t, s, "keeper", []byte{3})
	wg.Wait()
	if _, err := s.Content(hash); err != nil || files(t, s) != 1 {
		t.Errorf("%d files, %v", files(t, s), err)
	}
}

// A database of version 1 is brought up to date with all that it holds.
func TestMigrationFromVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	execFile(t, path, schemaV1+indexSQL+`INSERT INTO meta VALUES('schema_version','1'),('fts_version','`+indexVersion+`'),('created_ms','7');
 INSERT INTO sessions(id,uid,started_ms,last_ms,last_seq,msg_count) VALUES(1,'old',5,5,1,1);
 INSERT INTO messages(session_id,seq,ts_ms,role,status,content,extra)
 VALUES(1,1,5,'user','final','hello','{"attachments":[{"kind":"image","name":"x.png","path":"/x.png"}]}');`)
	s := openAt(t, path, Options{})
	if r := s.Report(); r.Created || r.MovedTo != "" || len(r.Notes) > 0 {
		t.Errorf("opened as %+v", r)
	}
	got, _, err := s.Messages(bg, "old", MessageQuery{Limit: All})
	must(t, err)
	if len(got) != 1 || got[0].Text != "hello" || len(got[0].Parts) != 1 || got[0].Parts[0].Path != "/x.png" {
		t.Errorf("read as %+v", got)
	}
	if created, err := getMeta(bg, s.read, "created_ms"); err != nil || created != "7" {
		t.Errorf("created %s, %v", created, err)
	}
	if hash := attach(t, s, "old", []byte("new")); s.ContentPath(hash) == "" {
		t.Error("no content")
	}
}

// What an older program wrote is found by search, with the names of tools and what calls were
// given: after the index was made anew by the rules of now, and by the plain scan until then.
func TestOldMessagesAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	execFile(t, path, schemaV1+indexSQL+`INSERT INTO meta VALUES('schema_version','1'),('fts_version','1'),('created_ms','7');
 INSERT INTO sessions(id,uid,started_ms,last_ms,last_seq,msg_count) VALUES(1,'old',5,5,3,3);
 INSERT INTO messages(id,session_id,seq,ts_ms,role,status,content) VALUES(1,1,1,5,'user','final','what is in the harbour log');
 INSERT INTO messages(id,session_id,seq,ts_ms,role,status,tool_calls)
 VALUES(2,1,2,5,'assistant','final','[{"id":"c1","name":"terminal","args":"{\"command\":\"grep anchor log\"}"}]');
 INSERT INTO messages(id,session_id,seq,ts_ms,role,status,content,tool_call_id,tool_name) VALUES(3,1,3,5,'tool','final','rusty chain','c1','terminal');`)
	s := openAt(t, path, Options{})
	eventually(t, "the index is rebuilt", func() bool { _, on := s.Rebuilding(); return !on })
	for _, stale := range []bool{false, true} {
		s.stale.Store(stale)
		for _, c := range []struct {
			table Table
			query string
			want  []int64
		}{
			{Talk, "harbour", []int64{1}},
			{Tools, "terminal", []int64{2, 3}},
			{Tools, "grep anchor", []int64{2}},
			{Tools, "rusty", []int64{3}},
		} {
			f, err := s.Search(bg, SearchQuery{Table: c.table, Terms: Terms(c.query), Limit: 10})
			must(t, err)
			got := ids(f)
			if len(got) != len(c.want) || slices.ContainsFunc(c.want, func(id int64) bool { return !got[id] }) {
				t.Errorf("%s %q, stale %v: %v, want %v", c.table, c.query, stale, got, c.want)
			}
		}
	}
	s.stale.Store(false)
}

// After a salvage the contents are still referred to.
func TestSalvageKeepsContents(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	hash := attach(t, s, "u", []byte("picture"))
	must(t, s.runInWriter(bg, nil, func(t *tx) error {
		_, err := t.exec("DELETE FROM content_refs")
		return err
	}))
	must(t, s.runInWriter(bg, nil, func(t *tx) error {
		_, err := t.exec("INSERT INTO messages(session_id,seq,ts_ms,role,status,extra) VALUES(1,9,5,'user','final','{\"blob\": broken')")
		return err
	}))
	s.rememberDamage(errDamaged)
	must(t, s.Close())
	if s = openAt(t, s.path, Options{}); s.Report().Salvaged != 2 {
		t.Fatalf("%+v", s.Report())
	}
	if found, err := s.FindContent(bg, "u", hash[:12]); err != nil || found != hash {
		t.Errorf("%s, %v", found, err)
	}
}

// FuzzStoredParts: whatever stands in a row, reading it gives a message whose parts can be used.
func FuzzStoredParts(f *testing.F) {
	f.Add(`{"parts":[{"kind":"image","name":"a","blob":"../../x","width":-1,"size":-5}]}`, "tool", "1")
	f.Add(`{"attachments":[{"kind":7}],"result":{"parts":[{}]}}`, "user", "")
	f.Add(`{"result":{"text":"x","parts":[{"blob":"`+strings.Repeat("a", 64)+`"}]}}`, "tool", "c")
	f.Fuzz(func(t *testing.T, extra, role, call string) {
		r := row{content: "text", extra: extra, callID: call}
		m := chat.Message{Role: chat.Role(role)}
		r.decode(&m)
		m.EachPart(func(p *chat.Part) {
			if p.Blob != "" && !isHash(p.Blob) || p.Size < 0 || p.Width < 0 || p.Height < 0 || p.Tokens() < 0 || p.Data != nil {
				t.Errorf("%+v", *p)
			}
			_ = p.Describe()
		})
		if _, err := encodeRow(&m); err != nil {
			t.Error(err)
		}
	})
}

// TestTimesAndChangedArgumentsAreKept with the message that they belong to.
func TestTimesAndChangedArgumentsAreKept(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	for _, m := range []*chat.Message{
		{Role: chat.RoleAssistant, Status: chat.StatusFinal, Text: "done", Thought: 4 * time.Second, Took: 12 * time.Second},
		{Role: chat.RoleTool, Status: chat.StatusFinal, Result: &chat.ToolResult{CallID: "c", Name: "terminal", Ran: []byte(`{"command":"ls"}`)}},
	} {
		_, err := s.Append(bg, "u", m, Derived{})
		must(t, err)
	}
	got, _, err := s.Messages(bg, "u", MessageQuery{Limit: All})
	must(t, err)
	if len(got) != 2 || got[0].Thought != 4*time.Second || got[0].Took != 12*time.Second || string(got[1].Result.Ran) != `{"command":"ls"}` {
		t.Errorf("read as %+v", got)
	}
}
