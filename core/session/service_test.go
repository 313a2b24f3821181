package session

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/store"
)

func TestCreateListResolve(t *testing.T) {
	s, box := newService(t)
	a := create(t, s, NewSession{Cwd: "/src/alpha", Source: "tui", Title: "Alpha work"})
	if !regexp.MustCompile(`^\d{8}_\d{6}_[0-9a-f]{6}$`).MatchString(a.UID) {
		t.Errorf("uid %q", a.UID)
	}
	if a.Project != "/src/alpha" {
		t.Errorf("project %q", a.Project)
	}
	b := create(t, s, NewSession{UID: "20990101_000000_bbbbbb", Source: "run", Parent: a.UID, Kind: KindBranch})
	create(t, s, NewSession{UID: "20990101_000000_cccccc", Kind: KindSubagent})
	if got := kinds(box); !slices.Equal(got, []string{"SessionOpened", "SessionOpened", "SessionOpened"}) {
		t.Errorf("events %v", got)
	}
	for ref, want := range map[string]string{a.UID: a.UID, "Alpha work": a.UID, "20990101_000000_b": b.UID, "20990101_000000_cc": "20990101_000000_cccccc"} {
		got, err := s.Resolve(bg, ref)
		if err != nil || got.UID != want {
			t.Errorf("resolve %q: %q, %v", ref, got.UID, err)
		}
	}
	if _, err := s.Resolve(bg, "2099"); err == nil || !strings.Contains(err.Error(), "cccccc") {
		t.Errorf("an ambiguous start: %v", err)
	}
	if _, err := s.Resolve(bg, "alpha"); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "Alpha work") {
		t.Errorf("a near miss: %v", err)
	}
	add(t, s, a.UID, user("hello"))
	if got, err := s.Resolve(bg, "last"); err != nil || got.UID != a.UID {
		t.Errorf("last: %q %v", got.UID, err)
	}
	if b.Parent != a.UID {
		t.Errorf("parent %q", b.Parent)
	}
}

func TestListFiltersAndOrder(t *testing.T) {
	s, _ := newService(t)
	for i := range 5 {
		at := day(i + 1)
		s.now = func() time.Time { return at }
		create(t, s, NewSession{UID: fmt.Sprint("s", i), Title: fmt.Sprint("100% title ", i), Cwd: fmt.Sprint("/p", i%2), Source: []string{"tui", "run"}[i%2]})
	}
	s.now = func() time.Time { return day(9) }
	must(t, s.Pin(bg, "s1", true))
	must(t, s.Archive(bg, "s3", true))
	uids := func(f Filter) string {
		t.Helper()
		list, err := s.List(bg, f)
		must(t, err)
		var out []string
		for _, x := range list {
			out = append(out, x.UID)
		}
		return strings.Join(out, " ")
	}
	for want, f := range map[string]Filter{
		"s1 s4 s2 s0":    {},
		"s1 s4":          {Limit: 2},
		"s2 s0":          {Offset: 2, Limit: 5},
		"s1 s4 s3 s2 s0": {Archived: true},
		"s4 s2":          {Since: day(2), Until: day(6), Source: "tui"},
		"s2":             {Query: "100% TITLE 2"},
		"s1":             {Project: "/p1"},
		"":               {Query: "%_%"},
	} {
		if got := uids(f); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
}

func TestAppendGivesTitlePreviewAndCounters(t *testing.T) {
	s, box := newService(t)
	uid := create(t, s, NewSession{}).UID
	box.Drain()
	m := add(t, s, uid, user("# Please fix **main.go**. It does not build."))
	if m.ID == 0 || m.Seq != 1 || m.Session != uid || m.At.IsZero() || m.Status != chat.StatusFinal {
		t.Errorf("after append: %+v", m)
	}
	add(t, s, uid, assistant("", chat.ToolCall{ID: "1", Name: "terminal"}))
	add(t, s, uid, result("1", "terminal", "ok"))
	info, err := s.Get(bg, uid)
	must(t, err)
	if info.Title != "Please fix main.go" || info.Messages != 3 || !strings.HasPrefix(info.Preview, "# Please fix") {
		t.Errorf("%+v", info)
	}
	if got := kinds(box); !slices.Equal(got, []string{"SessionChanged"}) {
		t.Errorf("events %v", got)
	}
	ok, err := s.SetTitleIfDerived(bg, uid, "Build of main.go")
	must(t, err)
	must(t, s.Rename(bg, uid, "  My\ttitle \x1b[31m"))
	no, err := s.SetTitleIfDerived(bg, uid, "Something else")
	must(t, err)
	if info, _ = s.Get(bg, uid); info.Title != "My title" || !ok || no {
		t.Errorf("title %q, set %v, then %v", info.Title, ok, no)
	}
	must(t, s.CountUsage(bg, uid, Spent{Usage: chat.Usage{Input: 10, Output: 5, Cost: 3, CostKnown: true}}))
	must(t, s.CountUsage(bg, uid, Spent{Usage: chat.Usage{Input: 1, Output: 1, Cost: 2, CostKnown: true}}))
	info, err = s.Get(bg, uid)
	must(t, err)
	if want := (chat.Usage{Input: 11, Output: 6, Cost: 5, CostKnown: true}); info.Usage != want {
		t.Errorf("usage %+v", info.Usage)
	}
}

func TestAPromptThatIsNothingButAPasteHasItsTitle(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	add(t, s, uid, chat.Message{Role: chat.RoleUser, Parts: []chat.Part{
		{Kind: chat.PartFile, Name: "picture.png", Path: "picture.png"},
		{Kind: chat.PartPaste, Name: "paste 1", Text: "\n\x1b[31mpanic: runtime error\n" + strings.Repeat("容", 5000)},
	}})
	info, err := s.Get(bg, uid)
	must(t, err)
	if info.Title != "panic: runtime error" || !strings.HasPrefix(info.Preview, "panic: runtime error 容") {
		t.Errorf("title %q, preview %q", info.Title, info.Preview)
	}
}

func TestPaging(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	talk(t, s, uid, 10) // 20 messages
	get := func(p Page) (first, last int, more bool) {
		t.Helper()
		ms, more, err := s.Messages(bg, uid, p)
		must(t, err)
		return ms[0].Seq, ms[len(ms)-1].Seq, more
	}
	all, err := s.History(bg, uid)
	must(t, err)
	for _, c := range []struct {
		p           Page
		first, last int
		more        bool
	}{
		{Page{}, 1, 20, false},
		{Page{Limit: 5}, 16, 20, true},
		{Page{BeforeSeq: 16, Limit: 5}, 11, 15, true},
		{Page{BeforeSeq: 4, Limit: 5}, 1, 3, false},
		{Page{AfterSeq: 3, Limit: 5}, 4, 8, true},
		{Page{AfterSeq: 18, Limit: 5}, 19, 20, false},
		{Page{AroundID: all[9].ID, Limit: 6}, 7, 12, true},
	} {
		if first, last, more := get(c.p); first != c.first || last != c.last || more != c.more {
			t.Errorf("%+v: %d..%d more=%v", c.p, first, last, more)
		}
	}
}

func TestStreamingMessage(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	m := add(t, s, uid, chat.Message{Role: chat.RoleAssistant, Status: chat.StatusPartial})
	must(t, s.UpdatePartial(bg, m.ID, "half a harbour", "thinking"))
	if r, err := s.Search(bg, Query{Text: "harbour"}); err != nil || len(r.Hits) != 0 {
		t.Errorf("a partial message is found: %v %v", r, err)
	}
	m.Text, m.Status, m.Finish = "the whole harbour", chat.StatusFinal, chat.FinishStop
	must(t, s.Seal(bg, &m))
	if r, err := s.Search(bg, Query{Text: "harbour"}); err != nil || len(r.Hits) != 1 {
		t.Errorf("a sealed message is not found: %v %v", r, err)
	}
	if err := s.UpdatePartial(bg, m.ID, "late", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a late update: %v", err)
	}
	must(t, s.Discard(bg, m.ID))
	if r, _ := s.Search(bg, Query{Text: "harbour"}); len(r.Hits) != 0 {
		t.Error("a discarded message is found")
	}
	again := add(t, s, uid, assistant("next"))
	if again.ID <= m.ID {
		t.Errorf("id %d was used again", again.ID)
	}
}

// What a killed program left open is closed when the session is opened, once, and stays closed.
func TestOpenClosesDanglingCalls(t *testing.T) {
	s, box := newService(t)
	uid := create(t, s, NewSession{}).UID
	add(t, s, uid, user("do it"))
	add(t, s, uid, assistant("", chat.ToolCall{ID: "a", Name: "terminal"}, chat.ToolCall{ID: "b", Name: "patch"}))
	add(t, s, uid, result("a", "terminal", "done"))
	m := add(t, s, uid, chat.Message{Role: chat.RoleAssistant, Status: chat.StatusPartial})
	must(t, s.UpdatePartial(bg, m.ID, "I was say", ""))
	for range 2 {
		box.Drain()
		_, err := s.Open(bg, uid, "resume")
		must(t, err)
		if got := kinds(box); !slices.Equal(got, []string{"SessionOpened"}) {
			t.Errorf("events %v", got)
		}
		h, err := s.History(bg, uid)
		must(t, err)
		if len(h) != 5 || h[3].Status != chat.StatusCancelled || h[3].Text != "I was say" {
			t.Fatalf("history %+v", h)
		}
		if r := h[4].Result; r == nil || r.CallID != "b" || !r.Interrupted || !r.IsError {
			t.Errorf("made-up result %+v", h[4])
		}
	}
}

func TestUndoForkCompact(t *testing.T) {
	s, box := newService(t)
	uid := create(t, s, NewSession{Title: "Work"}).UID
	talk(t, s, uid, 4)
	must(t, s.SetPrompt(bg, uid, "frozen"))
	must(t, s.SetMeta(bg, uid, "backend", "analytics"))
	box.Drain()

	prompt, err := s.Undo(bg, uid, 2)
	must(t, err)
	h, err := s.History(bg, uid)
	must(t, err)
	if prompt.Text != "question 3" || len(h) != 4 {
		t.Errorf("undo gave %q and left %v", prompt.Text, texts(h))
	}
	if r, _ := s.Search(bg, Query{Text: `"question 3"`}); len(r.Hits) != 0 {
		t.Error("what was taken back is found")
	}

	f, err := s.Fork(bg, uid, h[1].ID)
	must(t, err)
	fh, err := s.History(bg, f.UID)
	must(t, err)
	if f.Title != "Work #2" || f.Parent != uid || f.Messages != 2 || !slices.Equal(texts(fh), []string{"question 1", "answer 1"}) {
		t.Errorf("fork %+v %v", f, texts(fh))
	}
	if p, _ := s.Prompt(bg, f.UID); p != "frozen" {
		t.Errorf("prompt %q", p)
	}
	if v, _ := s.Meta(bg, f.UID, "backend"); v != "analytics" {
		t.Errorf("meta %q", v)
	}
	g, err := s.Fork(bg, f.UID, 0)
	must(t, err)
	if g.Title != "Work #3" {
		t.Errorf("the fork of a fork is called %q", g.Title)
	}

	summary := chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: "summary of it"}
	must(t, s.Compact(bg, uid, h[1].ID, &summary))
	h, err = s.History(bg, uid)
	must(t, err)
	if !slices.Equal(texts(h), []string{"summary of it", "question 2", "answer 2"}) {
		t.Errorf("compacted to %v", texts(h))
	}
	shown, _, err := s.Messages(bg, uid, Page{})
	must(t, err)
	if !slices.Equal(texts(shown), []string{"question 1", "answer 1", "summary of it", "question 2", "answer 2"}) {
		t.Errorf("shown %v", texts(shown))
	}
	if got := kinds(box); !slices.Equal(got, []string{"HistoryChanged", "SessionChanged", "SessionOpened", "SessionOpened", "HistoryChanged"}) {
		t.Errorf("events %v", got)
	}
	if _, err := s.Undo(bg, create(t, s, NewSession{}).UID, 1); err == nil {
		t.Error("an empty session had something to take back")
	}
	must(t, s.Delete(bg, uid))
	if _, err := s.Get(bg, uid); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after delete: %v", err)
	}
	if x, err := s.Get(bg, f.UID); err != nil || x.Parent != "" {
		t.Errorf("the fork of a deleted session: %+v %v", x, err)
	}
	check(t, s)
}

func check(t testing.TB, s *Service) {
	t.Helper()
	r, err := s.Check(bg)
	must(t, err)
	if len(r.Problems) > 0 {
		t.Errorf("check: %q", r.Problems)
	}
}

func TestQueueSurvives(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	q := []event.QueuedInput{{ID: "1", Text: "next", Mode: event.InputQueue}, {ID: "2", Text: "steer", Mode: event.InputSteer}}
	must(t, s.SaveQueue(bg, uid, q))
	got, err := s.LoadQueue(bg, uid)
	must(t, err)
	if !reflect.DeepEqual(got, q) {
		t.Errorf("%v", got)
	}
	must(t, s.SaveQueue(bg, uid, nil))
	if got, err = s.LoadQueue(bg, uid); err != nil || got != nil {
		t.Errorf("emptied: %v %v", got, err)
	}
}

func TestTitles(t *testing.T) {
	for in, want := range map[string]string{
		"hello":                                      "hello",
		"Fix the build. Then run it.":                "Fix the build",
		"/search what did we say about ports":        "what did we say about ports",
		"$ uname -a":                                 "uname -a",
		"```go\nfunc main() {}\n```":                 "func main() {}",
		"- [the docs](https://x.test/a) are wrong":   "the docs are wrong",
		"What is it?":                                "What is it?",
		"看看这个数据库。然后修复它":                              "看看这个数据库",
		"\x1b[31mred\x1b[0m text":                    "red text",
		"use v1.2.3 of main.go e.g. here":            "use v1.2.3 of main.go e.g. here",
		"":                                           "",
		"/":                                          "/",
		strings.Repeat("word ", 30):                  strings.Repeat("word ", 11) + "word…",
		strings.Repeat("数据", 40):                     strings.Repeat("数据", 14) + "数…",
		"   \n\n  second line counts\nthird":         "second line counts",
		"a. b. c. this goes on. And then some more.": "a. b. c. this goes on",
	} {
		if got := deriveTitle(in); got != want {
			t.Errorf("deriveTitle(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzTitle(f *testing.F) {
	for _, seed := range []string{"a. b", "[x](y)", "](", "数据", "\x1b]0;x\a", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if got := deriveTitle(in); len(got) > 4*titleCells+8 && !strings.ContainsRune(got, '\u200d') || strings.ContainsAny(got, "\n\x1b") {
			t.Errorf("%q -> %q", in, got)
		}
	})
}

// A turn of many steps is closed as well as a short one.
func TestOpenAfterALongTurn(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	add(t, s, uid, user("go"))
	add(t, s, uid, assistant("", chat.ToolCall{ID: "lost", Name: "terminal"}))
	for range 45 {
		add(t, s, uid, assistant("step"))
	}
	_, err := s.Open(bg, uid, "resume")
	must(t, err)
	h, err := s.History(bg, uid)
	must(t, err)
	if last := h[len(h)-1]; last.Result == nil || last.Result.CallID != "lost" {
		t.Errorf("the call was not closed: %+v", last)
	}
}

// Undo goes back through compressions: one that is the newest is taken back itself, of an older one
// comes back what it stands for when an exchange of it is asked for. A fork has only the summary.
func TestUndoRestoresWhatWasCompressed(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	talk(t, s, uid, 4)
	before := texts(history(t, s, uid))
	compact := func(through int) {
		t.Helper()
		m := chat.Message{Role: chat.RoleUser, From: chat.Summary(), Status: chat.StatusFinal, Text: "summary"}
		must(t, s.Compact(bg, uid, history(t, s, uid)[through].ID, &m))
	}
	compact(3)
	fork, err := s.Fork(bg, uid, 0)
	must(t, err)
	compact(2)
	if got := texts(history(t, s, uid)); !slices.Equal(got, []string{"summary", "question 4", "answer 4"}) {
		t.Fatalf("compressed to %q", got)
	}
	for range 2 {
		if prompt, err := s.Undo(bg, uid, 1); err != nil || prompt.ID != 0 {
			t.Fatalf("undo of a compression: %+v, %v", prompt, err)
		}
	}
	if got := texts(history(t, s, uid)); !slices.Equal(got, before) {
		t.Fatalf("restored to %q", got)
	}
	shown, _, err := s.Messages(bg, uid, Page{})
	must(t, err)
	if got := texts(shown); !slices.Equal(got, before) {
		t.Fatalf("shown %q", got)
	}
	compact(3)
	say := chat.Message{Role: chat.RoleUser, Text: "question 5"}
	must(t, s.Append(bg, uid, &say))
	if prompt, err := s.Undo(bg, uid, 4); err != nil || prompt.Text != "question 2" {
		t.Fatalf("four exchanges back: %q, %v", prompt.Text, err)
	}
	if got := texts(history(t, s, uid)); !slices.Equal(got, before[:2]) {
		t.Fatalf("left %q", got)
	}
	if prompt, err := s.Undo(bg, fork.UID, 9); err != nil || prompt.Text != "question 3" {
		t.Fatalf("a fork went back to %q, %v", prompt.Text, err)
	}
	if _, err := s.Undo(bg, fork.UID, 1); err == nil {
		t.Fatal("a fork took its summary back")
	}
	check(t, s)
}

func TestForkOfAnEndedSessionIsOpen(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	talk(t, s, uid, 1)
	why := "done"
	_, err := s.st.UpdateSession(bg, uid, store.Patch{EndReason: &why})
	must(t, err)
	f, err := s.Fork(bg, uid, 0)
	must(t, err)
	x, err := s.st.Session(bg, f.UID)
	must(t, err)
	if !x.Ended.IsZero() || x.EndReason != "" {
		t.Errorf("ended %v %q", x.Ended, x.EndReason)
	}
}
