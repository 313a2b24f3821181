package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/core/tool"
)

// world is a real store with conversations in it.
type world struct {
	t   *testing.T
	svc *session.Service
	reg *tool.Registry
}

func newWorld(t *testing.T) *world {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "workbench.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	svc := session.New(st, event.NewBus())
	reg, err := tool.NewRegistry(Search(svc))
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, svc, reg}
}

// talk adds a session with texts, person and model in turn, and returns the ids of its messages.
func (w *world) talk(uid string, texts ...string) []int64 {
	w.t.Helper()
	ctx := w.t.Context()
	if _, err := w.svc.Create(ctx, session.NewSession{UID: uid, Title: "About " + uid, Cwd: "/p", Source: "tui"}); err != nil {
		w.t.Fatal(err)
	}
	var ids []int64
	for i, text := range texts {
		m := chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: text}
		if i%2 == 1 {
			m.Role = chat.RoleAssistant
		}
		if err := w.svc.Append(ctx, uid, &m); err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	return ids
}

func (w *world) run(args map[string]any) chat.ToolResult {
	w.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.reg.Run(context.Background(), "session_search", tool.Call{Session: "self", Args: raw})
}

func numbered(n int, special map[int]string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("message number%d.", i+1)
		if s, ok := special[i+1]; ok {
			out[i] = s
		}
	}
	return out
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.talk("long", numbered(40, map[int]string{20: "the zebra crossed"})...)
	w.talk("short", "what about the zebra", "nothing")
	w.talk("self", "zebra in this very session", "yes")
	got := w.run(map[string]any{"query": "zebra", "window": 2})
	for _, want := range []string{
		"session_id=long", "session_id=short", fmt.Sprintf("[%d assistant] <-- found here the zebra crossed", ids[19]), "number18.", "number22.",
		"number1.", "number3.", "number38.", "number40.", "[... 14 messages]", "[... 15 messages]",
	} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("lacks %q:\n%s", want, got.Text)
		}
	}
	for _, not := range []string{"session_id=self", "number17.", "number4.", "number23."} {
		if strings.Contains(got.Text, not) {
			t.Errorf("has %q:\n%s", not, got.Text)
		}
	}
	if got := w.run(map[string]any{"query": "zebra", "limit": 1, "sort": "oldest"}); strings.Contains(got.Text, "session_id=short") {
		t.Errorf("limit 1:\n%s", got.Text)
	}
	if got := w.run(map[string]any{"query": "giraffe"}); got.IsError || !strings.Contains(got.Text, "No past message matches") {
		t.Error(got.Text)
	}
}

func TestForksCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk("origin", "the okapi is shy", "indeed")
	fork, err := w.svc.Fork(t.Context(), "origin", 0)
	if err != nil {
		t.Fatal(err)
	}
	got := w.run(map[string]any{"query": "okapi", "limit": 10})
	if n := strings.Count(got.Text, "session_id="); n != 1 {
		t.Errorf("fork %s of origin found apart:\n%s", fork.UID, got.Text)
	}
}

func TestScrollReadBrowse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.talk("long", numbered(40, nil)...)
	w.talk("empty")
	got := w.run(map[string]any{"session_id": "long", "around_message_id": ids[9], "window": 1})
	if !strings.Contains(got.Text, "number9.") || !strings.Contains(got.Text, "found here message number10.") || !strings.Contains(got.Text, "number11.") ||
		strings.Contains(got.Text, "number12.") {
		t.Errorf("scroll:\n%s", got.Text)
	}
	got = w.run(map[string]any{"session_id": "long"})
	if !strings.Contains(got.Text, "number20.\n[... 10 messages]\n") || !strings.Contains(got.Text, "number31.") || strings.Contains(got.Text, "number21.") {
		t.Errorf("read:\n%s", got.Text)
	}
	if got = w.run(map[string]any{"session_id": "long", "role_filter": "assistant"}); strings.Contains(got.Text, "number1.") || !strings.Contains(got.Text, "number2.") {
		t.Errorf("roles:\n%s", got.Text)
	}
	if got = w.run(map[string]any{}); !strings.Contains(got.Text, "session_id=long") {
		t.Errorf("browse:\n%s", got.Text)
	}
	for args, want := range map[string]map[string]any{
		"needs session_id":       {"around_message_id": 5},
		`no role "robot"`:        {"session_id": "long", "role_filter": "robot"},
		"nowhere":                {"session_id": "nowhere"},
		"allowed is integer 1-1": {"query": "x", "limit": 11},
	} {
		if got := w.run(want); !got.IsError || !strings.Contains(got.Text, args) {
			t.Errorf("%v: %s", want, got.Text)
		}
	}
}
