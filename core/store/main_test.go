package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/testwait"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("STORE_TEST_WRITER"); path != "" {
		os.Exit(childWriter(path))
	}
	goleak.VerifyTestMain(m)
}

var bg = context.Background()

func openAt(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(bg, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func open(t testing.TB) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "home", "workbench.db"), Options{})
}

func create(t testing.TB, s *Store, uid string) {
	t.Helper()
	now := time.Now()
	must(t, s.CreateSession(bg, Session{UID: uid, Kind: "user", Started: now, Last: now}))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func say(t testing.TB, s *Store, uid, text string) *chat.Message {
	t.Helper()
	m := &chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: text}
	_, err := s.Append(bg, uid, m, Derived{})
	must(t, err)
	return m
}

func search(t testing.TB, s *Store, query string) Found {
	t.Helper()
	f, err := s.Search(bg, SearchQuery{Table: Talk, Terms: Terms(query), Limit: 1000})
	must(t, err)
	return f
}

func ids(f Found) map[int64]bool {
	out := map[int64]bool{}
	for _, m := range f.Matches {
		out[m.ID] = true
	}
	return out
}

// fill writes n messages into one session.
func fill(t testing.TB, s *Store, uid string, n int) {
	t.Helper()
	in := Import{Session: Session{UID: uid, Kind: "user", Started: time.Now(), Last: time.Now()}}
	for i := range n {
		m := chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, At: time.Now(), Text: fmt.Sprintf("message number%d about the harbour 数据库", i)}
		in.Messages = append(in.Messages, StoredMessage{Message: m, Active: true})
	}
	added, err := s.ImportSession(bg, in)
	must(t, err)
	if !added {
		t.Fatalf("session %s was there already", uid)
	}
}

// eventually polls for a condition that another goroutine or process brings about.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testwait.Hang); time.Now().Before(deadline); {
		if cond() {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}

func checkClean(t testing.TB, s *Store) {
	t.Helper()
	problems, err := s.Check(bg)
	must(t, err)
	if len(problems) > 0 {
		t.Fatalf("check: %q", problems)
	}
}
