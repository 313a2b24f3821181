package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"hermes/core/chat"
	"hermes/core/testwait"
)

// The writer goroutine asks for a rebuild when it meets a damaged index. Close waits then for a
// sender, and the sender for the writer.
func TestRebuildNeverWaitsForClose(t *testing.T) {
	s := open(t)
	s.mu.RLock() // a sender
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	eventually(t, "close waits for the sender", func() bool {
		free := s.mu.TryRLock()
		if free {
			s.mu.RUnlock()
		}
		return !free
	})
	asked := make(chan struct{})
	go func() {
		s.Rebuild()
		close(asked)
	}()
	select {
	case <-asked:
	case <-time.After(testwait.Hang):
		t.Error("Rebuild waits for Close")
	}
	s.mu.RUnlock()
	must(t, <-closed)
	<-asked
}

// A record that another process keeps aside while this one replays is not thrown away with the
// file.
func TestSpillOfTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	s := openAt(t, path, Options{})
	create(t, s, "u")
	other, err := openSpill(path)
	must(t, err)
	packed := Pack(&chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: "first"})
	must(t, other.keepRecords([]record{{UID: "u", Append: &packed}}))
	mine, err := openSpill(path)
	must(t, err)
	late := Pack(&chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: "second"})
	must(t, other.keepRecords([]record{{UID: "u", Append: &late}}))
	must(t, mine.settleReplayed(false, "x")) // as after replaying "first"
	if len(mine.waiting) != 2 || !fileExists(path+".spill.jsonl") {
		t.Fatalf("%d wait, want both", len(mine.waiting))
	}
	must(t, s.Close())
	s = openAt(t, path, Options{})
	got, _, err := s.Messages(bg, "u", MessageQuery{Limit: All})
	must(t, err)
	if len(got) != 2 || got[1].Text != "second" || fileExists(path+".spill.jsonl") {
		t.Errorf("%d messages: %+v", len(got), got)
	}
}

// A column that cannot be read costs itself, not the conversation.
func TestDamagedColumnsKeepTheConversation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	s := openAt(t, path, Options{})
	create(t, s, "u")
	say(t, s, "u", "the question")
	whole := make([]byte, wholeMax+100)
	for i := range whole {
		whole[i] = 'a' + byte(i%26)
	}
	for _, m := range []*chat.Message{
		{Role: chat.RoleAssistant, Status: chat.StatusFinal, Text: "calls", Calls: []chat.ToolCall{{ID: "c", Name: "terminal"}}},
		{Role: chat.RoleTool, Status: chat.StatusFinal, Result: &chat.ToolResult{CallID: "c", Name: "terminal", Text: string(whole)}},
	} {
		_, err := s.Append(bg, "u", m, Derived{})
		must(t, err)
	}
	must(t, s.Close())
	execFile(t, path, `UPDATE blobs SET gzip=x'00'; UPDATE messages SET tool_calls='[{' WHERE role='assistant';
 UPDATE messages SET extra='{"result' WHERE role='tool'; UPDATE meta SET value='0' WHERE key='fts_version'`)
	s = openAt(t, path, Options{})
	got, _, err := s.Messages(bg, "u", MessageQuery{Limit: All})
	must(t, err)
	const lost = "[damaged in the database: "
	if len(got) != 3 || got[1].Text != "calls\n"+lost+"the tool calls]" {
		t.Fatalf("%+v", got)
	}
	r := got[2].Result
	if r == nil || r.CallID != "c" || r.Text[:26] != "abcdefghijklmnopqrstuvwxyz" || got[2].Text != "" {
		t.Fatalf("result %+v text %q", r, got[2].Text)
	}
	eventually(t, "the index is rebuilt all the same", func() bool { _, on := s.Rebuilding(); return !on })
}

// A half made index that breaks is begun anew, not gone on with and taken for whole.
func TestHalfMadeIndexThatBreaksIsBegunAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	s := openAt(t, path, Options{})
	fill(t, s, "u", rebuildChunk+100)
	must(t, s.Close())
	execFile(t, path, fmt.Sprintf(`DROP TABLE fts_tool; DELETE FROM fts_talk WHERE rowid<=%d;
 INSERT INTO meta VALUES('fts_done_to','%d'); INSERT INTO meta VALUES('fts_high','%d')`, rebuildChunk, rebuildChunk+1, rebuildChunk+101))
	s = openAt(t, path, Options{})
	eventually(t, "rebuilt", func() bool { _, on := s.Rebuilding(); return !on })
	for query, want := range map[string]int{"number5": 1, "number77": 1} {
		if f := search(t, s, query); f.Total != want {
			t.Errorf("%s: %d, want %d", query, f.Total, want)
		}
	}
	checkClean(t, s)
}

// What a damaged database refuses is kept aside like what a full disk refuses.
func TestDamageSpills(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	s := openAt(t, path, Options{})
	create(t, s, "u")
	packed := Pack(&chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: "kept"})
	err := s.runInWriter(bg, []record{{UID: "u", Append: &packed}}, func(*tx) error { return sqlite3.Error{Code: sqlite3.ErrCorrupt} })
	var spilled *SpilledError
	if !errors.As(err, &spilled) || !fileExists(spilled.Path) {
		t.Fatalf("%v", err)
	}
	say(t, s, "u", "after it")
	got, _, err := s.Messages(bg, "u", MessageQuery{Limit: All})
	must(t, err)
	if len(got) != 2 || got[0].Text != "kept" {
		t.Errorf("%+v", got)
	}
}

// Who reads late gets an error.
func TestReadAfterClose(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	must(t, s.Close())
	if _, err := s.Session(bg, "u"); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("session: %v", err)
	}
	if _, _, err := s.Messages(bg, "u", MessageQuery{Limit: 1}); err == nil {
		t.Error("messages: no error")
	}
}

// Who opens a database that another process is just salvaging waits for it.
func TestOpenWaitsForASalvage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	must(t, openAt(t, path, Options{}).Close())
	other := lockShared(path + ".lock")
	if !lockExclusive(other) {
		t.Fatal("no exclusive lock")
	}
	opened := make(chan *Store)
	go func() {
		s, err := Open(bg, path, Options{})
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	select {
	case <-opened:
		t.Fatal("it did not wait")
	case <-time.After(60 * time.Millisecond):
	}
	must(t, other.Close())
	s := <-opened
	if s.lock == nil {
		t.Error("it has no lock of its own")
	}
	must(t, s.Close())
}
