package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/store"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("SESSION_TEST_HOLDER"); path != "" {
		os.Exit(holder(path))
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

var bg = context.Background()

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newService returns a service over an empty store, and a mailbox with its events.
func newService(t testing.TB) (*Service, *event.Mailbox) {
	t.Helper()
	st, err := store.Open(bg, filepath.Join(t.TempDir(), "workbench.db"), store.Options{})
	must(t, err)
	bus := event.NewBus()
	box := bus.Subscribe(event.Limits{})
	t.Cleanup(func() {
		box.Close()
		must(t, st.Close())
	})
	return New(st, bus), box
}

// kinds drains a mailbox to the names of its events.
func kinds(box *event.Mailbox) []string {
	var out []string
	for _, e := range box.Drain() {
		out = append(out, event.Kind(e.Event))
	}
	return out
}

func create(t testing.TB, s *Service, n NewSession) event.SessionInfo {
	t.Helper()
	info, err := s.Create(bg, n)
	must(t, err)
	return info
}

func add(t testing.TB, s *Service, uid string, m chat.Message) chat.Message {
	t.Helper()
	must(t, s.Append(bg, uid, &m))
	return m
}

func user(text string) chat.Message { return chat.Message{Role: chat.RoleUser, Text: text} }

func assistant(text string, calls ...chat.ToolCall) chat.Message {
	return chat.Message{Role: chat.RoleAssistant, Text: text, Calls: calls, Model: "m"}
}

func result(id, name, text string) chat.Message {
	return chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: id, Name: name, Text: text}}
}

// talk adds n exchanges.
func talk(t testing.TB, s *Service, uid string, n int) {
	t.Helper()
	for i := range n {
		add(t, s, uid, user(fmt.Sprintf("question %d", i+1)))
		add(t, s, uid, assistant(fmt.Sprintf("answer %d", i+1)))
	}
}

func texts(ms []chat.Message) []string {
	var out []string
	for _, m := range ms {
		if m.Result != nil {
			out = append(out, m.Result.Text)
			continue
		}
		out = append(out, m.Text)
	}
	return out
}

func day(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
