package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/tool"
)

// meta keeps values of sessions in memory.
type meta map[string]string

func (m meta) Meta(_ context.Context, session, key string) (string, error) {
	return m[session+"/"+key], nil
}

func (m meta) SetMeta(_ context.Context, session, key, value string) error {
	m[session+"/"+key] = value
	return nil
}

type fixture struct {
	reg       *tool.Registry
	published []event.TodoChanged
}

func newFixture(t testing.TB, s Store) *fixture {
	t.Helper()
	reg, err := tool.NewRegistry(Todo(s))
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{reg: reg}
}

func (f *fixture) run(session, args string) chat.ToolResult {
	return f.reg.Run(context.Background(), "todo", tool.Call{
		Session: session, Args: json.RawMessage(args),
		Publish: func(e event.Event) { f.published = append(f.published, e.(event.TodoChanged)) },
	})
}

func TestTodo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, InMeta(meta{}))
	for _, step := range []struct{ session, args, want string }{
		{"s", `{}`, "The todo list is empty."},
		{"s", `{"todos":[{"content":"one"},{"id":"b","content":"two","status":"in_progress"}]}`, "[ ] 1: one\n[>] b: two\n0 of 2 done"},
		{"s", `{"todos":[{"id":"b","content":"two","status":"completed"},{"content":"three"}],"merge":true}`, "[ ] 1: one\n[x] b: two\n[ ] 2: three\n1 of 3 done"},
		{"s", `{"todos":[{"id":"b","content":"two again"}],"merge":true}`, "[ ] 1: one\n[x] b: two again\n[ ] 2: three\n1 of 3 done"},
		{"other", `{}`, "The todo list is empty."},
		{"s", `{"todos":[{"content":"new"}]}`, "[ ] 1: new\n0 of 1 done"},
		{"s", `{}`, "[ ] 1: new\n0 of 1 done"},
		{"s", `{"todos":[]}`, "The todo list is empty."},
	} {
		if got := f.run(step.session, step.args); got.IsError || got.Text != step.want {
			t.Errorf("%s: %q, want %q", step.args, got.Text, step.want)
		}
	}
	if len(f.published) != 5 || len(f.published[1].Items) != 3 {
		t.Errorf("published %d lists: %+v", len(f.published), f.published)
	}
}

func TestTodoRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, InMeta(meta{}))
	many := strings.TrimSuffix(strings.Repeat(`{"content":"x"},`, maxItems), ",")
	if got := f.run("s", `{"todos":[`+many+`]}`); got.IsError {
		t.Error(got.Text)
	}
	for args, want := range map[string]string{
		`{"todos":[{"content":"y"}],"merge":true}`:                    "at most 256",
		`{"todos":[` + many + `,{"content":"x"}]}`:                    "todos is too long (257)",
		`{"todos":[{"content":" "}]}`:                                 "no content",
		`{"todos":[{"content":"` + strings.Repeat("x", 4001) + `"}]}`: "todo: ",
		`{"todos":[{"content":"x","status":"done"}]}`:                 "todo: ",
		`{"todos":[{"status":"pending"}]}`:                            "todo: ",
	} {
		if got := f.run("s", args); !got.IsError || !strings.Contains(got.Text, want) {
			t.Errorf("%.60s: %q, want %q", args, got.Text, want)
		}
	}
	if len(f.published) != 1 {
		t.Errorf("a refused call was published: %d", len(f.published))
	}
	broken := newFixture(t, InMeta(meta{"s/todo": "{"}))
	if got := broken.run("s", `{}`); !got.IsError || !strings.Contains(got.Text, "damaged") {
		t.Error(got.Text)
	}
}

type failing struct{}

func (failing) Load(context.Context, string) ([]event.TodoItem, error) { return nil, nil }
func (failing) Save(context.Context, string, []event.TodoItem) error   { return errors.New("disk full") }

func TestTodoPublishesOnlyWhatIsSaved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, failing{})
	if got := f.run("s", `{"todos":[{"content":"x"}]}`); !got.IsError || !strings.Contains(got.Text, "disk full") || f.published != nil {
		t.Errorf("%+v, published %v", got, f.published)
	}
}

// Merging keeps ids unique and the order of first mention.
func TestMergeKeepsIDsUnique(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := rapid.Custom(func(t *rapid.T) event.TodoItem {
			return event.TodoItem{ID: rapid.SampledFrom([]string{"", "1", "2", "a", "b"}).Draw(t, "id"), Content: "x"}
		})
		var items []event.TodoItem
		for i := range rapid.IntRange(1, 4).Draw(t, "calls") {
			before := fmt.Sprint(ids(items))
			next, err := mergeItems(items, rapid.SliceOfN(item, 0, 6).Draw(t, fmt.Sprint("call ", i)))
			if err != nil {
				t.Fatal(err)
			}
			items = next
			if after := fmt.Sprint(ids(items)); !strings.HasPrefix(after, strings.TrimSuffix(before, "]")) {
				t.Fatalf("order changed: %s to %s", before, after)
			}
			seen := map[string]bool{}
			for _, id := range ids(items) {
				if id == "" || seen[id] {
					t.Fatalf("ids %q", ids(items))
				}
				seen[id] = true
			}
		}
	})
}

func ids(items []event.TodoItem) (out []string) {
	for _, i := range items {
		out = append(out, i.ID)
	}
	return out
}
