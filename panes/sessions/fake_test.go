package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

var start = time.Date(2026, 3, 4, 14, 2, 0, 0, time.UTC)

// shelf is a store of a few sessions. It notes what it is asked.
type shelf struct {
	infos []event.SessionInfo
	log   []string
	fail  error
	held  map[string][]string
}

func newShelf(n int) *shelf {
	titles := []string{"fix the flaky test in analytics", "docker networking on the build host", "容器里的网络怎么配置", "release notes\tand\nnews", "👨‍👩‍👧 family photos", "日本語のテスト", "\x1b[2Jhostile\x1b]0;title\a name", ""}
	s := &shelf{}
	for i := range n {
		s.infos = append(s.infos, event.SessionInfo{
			UID: fmt.Sprintf("u%d", i), Title: titles[i%len(titles)], Source: "tui", Model: "sonnet", Project: "/src/app",
			Last: start.Add(-time.Duration(i*i) * 17 * time.Minute), Messages: 1 + i*3, Pinned: i == 0,
		})
	}
	return s
}

func (s *shelf) note(format string, args ...any) error {
	s.log = append(s.log, fmt.Sprintf(format, args...))
	return s.fail
}

func (s *shelf) List(_ context.Context, which ArchiveMode, limit, offset int) ([]event.SessionInfo, error) {
	err := s.note("list %v %d", which, offset)
	list := slices.DeleteFunc(slices.Clone(s.infos), func(i event.SessionInfo) bool {
		return which == HideArchived && i.Archived || which == OnlyArchived && !i.Archived
	})
	from := min(offset, len(list))
	return list[from:min(len(list), from+limit)], err
}

// Search finds the query in made up lines, twice in the first session.
func (s *shelf) Search(_ context.Context, query string, _ int) (Found, error) {
	err := s.note("search %q", query)
	var f Found
	for i, info := range s.infos {
		for k := range 1 + (len(s.infos)-i)/len(s.infos) {
			line := strings.Repeat("before it ", 3*(i%3)) + "the " + query + " stands here 网络 after"
			at := strings.Index(line, query)
			f.Hits = append(f.Hits, Hit{Info: info, Message: int64(10*i + k + 2), Snippet: line, Marks: [][2]int{{at, at + len(query)}}})
		}
	}
	if query == "nothing" {
		f.Hits = nil
	}
	f.Total = len(f.Hits)
	return f, err
}

func (s *shelf) Preview(_ context.Context, uid string, at int64, _ int) ([]chat.Message, error) {
	err := s.note("preview %s %d", uid, at)
	code := 1
	return []chat.Message{
		{ID: 1, Role: chat.RoleUser, Text: "Run the tests. Why do they fail?"},
		{ID: 2, Role: chat.RoleAssistant, Text: "I'll run the suite first.\n\n" + strings.Repeat("A long explanation with docker and 网络 in it. ", 12), Calls: []chat.ToolCall{{ID: "c", Name: "terminal"}}},
		{ID: 3, Role: chat.RoleTool, Result: &chat.ToolResult{Name: "terminal", Text: "1 failed\t2 passed\x1b[31m red", ExitCode: &code}},
		{ID: 4, Role: chat.RoleAssistant, Text: "One test fails: 容器 idle time is 31 s."},
	}, err
}

func (s *shelf) Rename(_ context.Context, uid, title string) error {
	return s.note("rename %s %q", uid, title)
}
func (s *shelf) Delete(_ context.Context, uid string) error { return s.note("delete %s", uid) }
func (s *shelf) Archive(_ context.Context, uid string, on bool) error {
	return s.note("archive %s %v", uid, on)
}

func (s *shelf) Pin(_ context.Context, uid string, on bool) error {
	return s.note("pin %s %v", uid, on)
}

func (s *shelf) Fork(_ context.Context, uid string, at int64) (event.SessionInfo, error) {
	return event.SessionInfo{UID: uid + "-fork"}, s.note("fork %s %d", uid, at)
}

func (s *shelf) Export(_ context.Context, uid string) (string, error) {
	return uid + ".md", s.note("export %s", uid)
}

func (s *shelf) Unexport(path string) error { return s.note("unexport %s", path) }

func (s *shelf) Holds(_ context.Context, uid string) ([]string, error) { return s.held[uid], nil }

// opened is a pane with n sessions in its list.
func opened(t testing.TB, n int) (*Pane, *shelf) {
	t.Helper()
	s := newShelf(n)
	p := New(s)
	p.SetClock(func() time.Time { return start })
	p.Restyle(uitest.Styles(t, style.None))
	p.Resize(40, 20)
	uitest.Pump(p, p.Update(ui.SessionFocused{UID: "u1"}))
	p.Focus(true)
	return p, s
}

// act runs an action by its id and returns what the frame was asked for.
func act(t testing.TB, p *Pane, id, arg string) []any {
	t.Helper()
	for _, a := range p.Actions() {
		if a.ID != id {
			continue
		}
		if a.Why != nil && a.Why() != "" {
			t.Fatalf("%s: %s", id, a.Why())
		}
		var out []any
		for _, m := range uitest.Pump(p, a.Run(arg)) {
			out = append(out, m)
		}
		return out
	}
	t.Fatalf("there is no action %s", id)
	return nil
}

var errBroken = errors.New("the disk is gone")
