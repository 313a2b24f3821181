package session

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"hermes/core/chat"
)

// The tables of a Python hermes, as far as it has them at a version. [18] is schema 17, [21] is
// schema 30.
const (
	sessions17 = `id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id, session_key, chat_id, chat_type, thread_id, model, model_config,
 system_prompt, parent_session_id REFERENCES sessions(id), started_at REAL NOT NULL, ended_at REAL, end_reason, message_count INTEGER DEFAULT 0,
 tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
 cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, api_call_count INTEGER DEFAULT 0, cwd, git_branch, git_repo_root,
 billing_provider, billing_base_url, billing_mode, estimated_cost_usd REAL, actual_cost_usd REAL, cost_status, cost_source, pricing_version,
 title, handoff_state, handoff_platform, handoff_error, rewind_count INTEGER DEFAULT 0, archived INTEGER DEFAULT 0`
	sessions30 = sessions17 + `, created_source, display_name, system_prompt_hash, git_metadata_generation, title_source, last_activity_at REAL,
 last_activity_description, pinned INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0, last_read_at, tool_names, profile_name`
	messages17 = `id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT,
 tool_call_id, tool_calls, tool_name, timestamp REAL NOT NULL, token_count INTEGER, finish_reason, reasoning, reasoning_content,
 reasoning_details, codex_reasoning_items, codex_message_items, platform_message_id, observed INTEGER DEFAULT 0, active INTEGER DEFAULT 1,
 compacted INTEGER DEFAULT 0`
	messages30 = messages17 + `, effect_disposition, _compressed_summary INTEGER DEFAULT 0, api_content, display_kind, display_metadata,
 display_identity BLOB, display_order INTEGER`
)

// hermesFile writes a database of that schema version; it stays open in WAL mode with everything in
// the log, as under a running gateway.
func hermesFile(t *testing.T, version int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL")
	must(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	sessions, messages := sessions17, messages17
	if version >= 30 {
		sessions, messages = sessions30, messages30
	}
	run := func(query string, args ...any) {
		t.Helper()
		_, err := db.Exec(query, args...)
		must(t, err)
	}
	run("PRAGMA wal_autocheckpoint=0")
	run("CREATE TABLE schema_version(version INTEGER NOT NULL)")
	run("INSERT INTO schema_version VALUES(?)", version)
	run("CREATE TABLE sessions(" + sessions + ")")
	run("CREATE TABLE messages(" + messages + ")")
	run("CREATE VIRTUAL TABLE messages_fts USING fts5(content)")
	s := "INSERT INTO sessions(id,source,title,model,model_config,parent_session_id,started_at,end_reason,system_prompt,cwd,git_repo_root,input_tokens,output_tokens,estimated_cost_usd,archived) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
	run(s, "20250101_100000_aaaaaa", "cli", "Old work", "m1", "{}", nil, 1735725600.5, "compression", "you are kind", "/src/a/sub", "/src/a", 100, 50, 0.25, 0)
	run(s, "20250101_110000_bbbbbb", "telegram", nil, "m1", nil, "20250101_100000_aaaaaa", 1735729200.0, nil, nil, nil, nil, 0, 0, nil, 1)
	run(s, "20250101_120000_cccccc", "subagent", nil, "m2", `{"_delegate_from":"x"}`, "20250101_110000_bbbbbb", 1735732800.0, nil, nil, nil, nil, 0, 0, nil, 0)
	run(s, "20250101_130000_dddddd", "cli", "A branch", "m2", `{"_branched_from":"x"}`, "20250101_110000_bbbbbb", 1735736400.0, nil, nil, nil, nil, 0, 0, nil, 0)
	m := "INSERT INTO messages(session_id,role,content,tool_call_id,tool_calls,tool_name,timestamp,finish_reason,reasoning,active,compacted) VALUES(?,?,?,?,?,?,?,?,?,?,?)"
	const a = "20250101_100000_aaaaaa"
	run(m, a, "user", "please look at the lighthouse", nil, nil, nil, 1735725601.0, nil, nil, nil, 0)
	run(m, a, "assistant", "", nil, `[{"id":"c1","type":"function","function":{"name":"terminal","arguments":"{\"command\": \"ls\"}"}},{"id":"c2","type":"function","function":{"name":"patch","arguments":"{broken"}}]`, nil, 1735725600.0, "tool_calls", "thinking", 1, 0)
	run(m, a, "tool", "file list", "c1", nil, nil, 1735725602.0, nil, nil, 1, 0)
	run(m, a, "tool", "no", "c2", nil, "patch", 1735725602.0, nil, nil, 1, 0)
	run(m, a, "session_meta", "a note to itself", nil, nil, nil, 1735725602.0, nil, nil, 1, 0)
	run(m, a, "assistant", "taken back 灯塔", nil, nil, nil, 1735725603.0, "stop", nil, 0, 0)
	run(m, a, "assistant", "replaced 数据库", nil, nil, nil, 1735725604.0, "stop", nil, 0, 1)
	run(m, "20250101_110000_bbbbbb", "user", "\x00json:"+`[{"type":"text","text":"what is on it"},{"type":"image_url","image_url":{"url":"data:x"}}]`, nil, nil, nil, 1735729201.0, nil, nil, 1, 0)
	if version >= 30 {
		run("CREATE TABLE system_prompts(hash PRIMARY KEY, prompt)")
		run("INSERT INTO system_prompts VALUES('h','you are kind')")
		run("UPDATE sessions SET system_prompt=NULL, system_prompt_hash='h', title_source='llm', last_activity_at=1735725999.0, pinned=1 WHERE id=?", a)
		run("INSERT INTO messages(session_id,role,content,timestamp,display_kind) VALUES(?,?,?,?,?)", a, "user", "scaffold lighthouse", 1735725605.0, "hidden")
	}
	return path
}

func TestImportHermes(t *testing.T) {
	for _, version := range []int{17, 30} {
		t.Run(map[int]string{17: "schema 17", 30: "schema 30"}[version], func(t *testing.T) {
			path := hermesFile(t, version)
			before := snapshot(t, path)
			s, box := newService(t)
			var steps []int
			rep, err := s.ImportHermes(bg, path, func(done, _ int) { steps = append(steps, done) })
			must(t, err)
			if rep.Sessions != 4 || rep.Skipped != 0 || len(rep.Problems) != 0 || !slices.Equal(steps, []int{1, 2, 3, 4}) {
				t.Errorf("report %+v, steps %v", rep, steps)
			}
			if got := kinds(box); len(got) != 4 {
				t.Errorf("events %v", got)
			}
			imported(t, s, version)
			rep, err = s.ImportHermes(bg, path, nil)
			must(t, err)
			if rep.Sessions != 0 || rep.Skipped != 4 {
				t.Errorf("again: %+v", rep)
			}
			if snapshot(t, path) != before {
				t.Error("their files changed")
			}
			check(t, s)
		})
	}
}

func imported(t *testing.T, s *Service, version int) {
	t.Helper()
	const a = "20250101_100000_aaaaaa"
	x, err := s.st.Session(bg, a)
	must(t, err)
	if x.Kind != "compaction" || x.Title != "Old work" || x.Source != "import:hermes" || x.Project != "/src/a" || x.Usage.Cost != 250_000 || x.Pinned != (version == 30) {
		t.Errorf("session %+v", x)
	}
	if p, _ := s.Prompt(bg, a); p != "you are kind" {
		t.Errorf("prompt %q", p)
	}
	h := history(t, s, a)
	if len(h) != 4 || string(h[1].Calls[0].Args) != `{"command": "ls"}` || h[1].Calls[1].Invalid != "{broken" || h[1].Reasoning != "thinking" ||
		h[2].Result.Name != "terminal" || h[1].Finish != chat.FinishToolCalls {
		t.Errorf("history %+v", h)
	}
	list, err := s.List(bg, Filter{Archived: true})
	must(t, err)
	var uids []string
	for _, l := range list {
		uids = append(uids, l.UID[16:])
	}
	slices.Sort(uids)
	if !slices.Equal(uids, []string{"bbbbbb", "dddddd"}) {
		t.Errorf("listed %v", uids)
	}
	b := history(t, s, "20250101_110000_bbbbbb")
	if b[0].Text != "what is on it" || len(b[0].Parts) != 1 || b[0].Parts[0].Kind != chat.PartImage {
		t.Errorf("parts %+v", b[0])
	}
	for q, want := range map[string]int{
		"lighthouse": 1, "数据": 1, "灯塔": 0,
		"terminal": 2, "patch": 2, "ls": 1, "broken": 1, "tool:terminal list": 1, // a call and its answer
	} {
		if r, _ := found(t, s, Query{Text: q}); len(r.Hits) != want {
			t.Errorf("%s: %d hits, want %d", q, len(r.Hits), want)
		}
	}
}

// snapshot is the content of a database and its log, and the list of files beside it.
func snapshot(t *testing.T, path string) string {
	t.Helper()
	var all bytes.Buffer
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, e := range entries {
		all.WriteString(e.Name() + "\n")
		if !strings.HasSuffix(e.Name(), "-shm") {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
			must(t, err)
			all.Write(data)
		}
	}
	return all.String()
}

func TestImportHermesRefusals(t *testing.T) {
	s, _ := newService(t)
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	must(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600))
	for path, want := range map[string]string{
		s.st.Path(): "open here", filepath.Join(dir, "missing.db"): "no such file", text: "not a database",
	} {
		if _, err := s.ImportHermes(bg, path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}
