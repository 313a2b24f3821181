package sessions

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func typed(p *Pane, s string) {
	for _, r := range s {
		uitest.Press(p, string(r))
	}
}

func TestGolden(t *testing.T) {
	states := map[string]func(t *testing.T) *Pane{
		"empty": func(t *testing.T) *Pane { p, _ := opened(t, 0); return p },
		"list": func(t *testing.T) *Pane {
			p, _ := opened(t, 12)
			p.Apply(slices.Concat(
				uitest.Envelopes(event.Header{Session: "u2"}, event.TurnStarted{}),
				uitest.Envelopes(event.Header{Session: "u3"}, event.TurnStarted{}, event.ApprovalAsked{ID: "a"}),
				uitest.Envelopes(event.Header{Session: "u4"}, event.TurnStarted{}, event.TurnEnded{})))
			return p
		},
		"search": func(t *testing.T) *Pane {
			p, _ := opened(t, 8)
			act(t, p, "sessions.search", "")
			typed(p, "网络")
			return p
		},
		"nothing": func(t *testing.T) *Pane {
			p, _ := opened(t, 8)
			act(t, p, "sessions.search", "nothing")
			return p
		},
		"rename": func(t *testing.T) *Pane {
			p, _ := opened(t, 8)
			act(t, p, "sessions.rename", "")
			typed(p, " 名")
			return p
		},
	}
	for name, make := range states {
		for _, size := range uitest.Sizes() {
			for level, colour := range map[style.Level]string{style.True: "colour", style.None: "plain"} {
				t.Run(fmt.Sprintf("%s-%s-%dx%d", name, colour, size.W, size.H), func(t *testing.T) {
					p := make(t)
					s := uitest.Styles(t, level)
					uitest.Render(t, p, s, size.W, size.H)
					uitest.Pump(p, p.Wake())
					uitest.Golden(t, fmt.Sprintf("%s-%s-%dx%d", name, colour, size.W, size.H), uitest.Render(t, p, s, size.W, size.H))
				})
			}
		}
	}
}

// In the narrow column of the usual arrangement the match must still be seen.
func TestNarrowSearchShowsTheMatch(t *testing.T) {
	p, _ := opened(t, 6)
	p.Resize(24, 30)
	act(t, p, "sessions.search", "docker")
	if got := strings.Count(text.Sanitize(p.View()), "«docker»"); got != 7 {
		t.Errorf("%d of 7 matches are seen:\n%s", got, p.View())
	}
}

func TestSearchKeepsItsKeysAndItsOrder(t *testing.T) {
	p, s := opened(t, 5)
	act(t, p, "sessions.search", "")
	if !p.Typing() || !p.Catches("delete") || !p.Catches("enter") || p.Catches("up") {
		t.Error("while one types, editing keys belong to the field, and the arrows to the list")
	}
	typed(p, "docker")
	uitest.Press(p, "space")
	if got := s.log[len(s.log)-1]; got != `search "docker "` {
		t.Errorf("asked %s: the blank tells that the word is finished", got)
	}
	if p.cursor != 0 {
		t.Errorf("the best hit is not selected: row %d", p.cursor)
	}
}

// A result that comes late must not replace a newer one, and enter must not open what an older
// query found.
func TestAnswersOfOldQueriesAreDropped(t *testing.T) {
	p, _ := opened(t, 5)
	act(t, p, "sessions.search", "")
	first := p.Update(uitest.Key("a"))
	second := p.Update(uitest.Key("b"))
	if msgs := uitest.Pump(p, p.Update(uitest.Key("enter"))); len(msgs) != 0 {
		t.Fatalf("enter opened %v before the answer came", msgs)
	}
	late := first()
	asked := uitest.Pump(p, second)
	if want := (ui.OpenSession{UID: "u0", At: 2}); len(asked) != 1 || asked[0] != want {
		t.Fatalf("asked %v, want %v", asked, want)
	}
	uitest.Pump(p, p.Update(late))
	if !strings.Contains(p.rows[0].Snippet, "ab") {
		t.Errorf("the late answer won: %q", p.rows[0].Snippet)
	}
}

func TestDeeds(t *testing.T) {
	tests := []struct{ id, want string }{
		{"sessions.pin", "pin u1 true"},
		{"sessions.archive", "archive u1 true"},
		{"sessions.export", "export u1"},
		{"sessions.fork", "fork u1 0"},
		{"sessions.delete", "delete u1"},
	}
	for _, tt := range tests {
		p, s := opened(t, 5)
		asked := act(t, p, tt.id, "")
		if !slices.Contains(s.log, tt.want) || len(asked) != 1 {
			t.Errorf("%s: store was asked %v, the frame %v", tt.id, s.log, asked)
		}
		s.fail = errBroken
		asked = act(t, p, tt.id, "")
		if toast, ok := asked[0].(ui.ShowToast); !ok || toast.Level != event.Error || !strings.Contains(toast.Text, "disk") {
			t.Errorf("%s swallows its error: %v", tt.id, asked)
		}
	}
}

// TestWhatALetterDoesCanBeTakenBack: a letter in the list asks before what cannot be.
func TestWhatALetterDoesCanBeTakenBack(t *testing.T) {
	for _, tt := range []struct {
		id   string
		keys []string
		want []string
	}{
		{"sessions.pin", nil, []string{"pin u1 true", "pin u1 false"}},
		{"sessions.archive", nil, []string{"archive u1 true", "archive u1 false"}},
		{"sessions.export", nil, []string{"export u1", "unexport u1.md"}},
		{"sessions.rename", []string{"ctrl+u", "n", "e", "w", "enter"}, []string{`rename u1 "new"`, `rename u1 "docker networking on the build host"`}},
	} {
		p, s := opened(t, 5)
		s.log = nil
		out := act(t, p, tt.id, "")
		for _, m := range uitest.Press(p, tt.keys...) {
			out = append(out, m)
		}
		did, ok := out[len(out)-1].(ui.ShowUndo)
		if !ok {
			t.Fatalf("%s cannot be taken back: %v", tt.id, out)
		}
		uitest.Pump(p, did.Undo)
		got := slices.DeleteFunc(s.log, func(l string) bool { return !slices.Contains(tt.want, l) })
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v", tt.id, got)
		}
	}
}

func TestArchivingAsksBeforeContainersGo(t *testing.T) {
	p, s := opened(t, 5)
	s.held = map[string][]string{"u1": {"analytics"}}
	s.log = nil
	out := act(t, p, "sessions.archive", "")
	ask, ok := out[len(out)-1].(ui.ShowOverlay)
	if !ok || slices.Contains(s.log, "archive u1 true") {
		t.Fatalf("not asked: %v, %v", out, s.log)
	}
	ask.Overlay.Restyle(p.styles)
	if v := ask.Overlay.View(64, 8); !strings.Contains(v, "analytics") || !strings.Contains(v, "docker networking") {
		t.Errorf("the question does not say what goes:\n%s", v)
	}
	if cmd, done := ask.Overlay.Update(uitest.Key("n")); !done || cmd != nil || slices.Contains(s.log, "archive u1 true") {
		t.Errorf("no means %v", s.log)
	}
	time.Sleep(600 * time.Millisecond) // the first half second hears no yes
	cmd, _ := ask.Overlay.Update(uitest.Key("y"))
	uitest.Pump(p, cmd)
	if !slices.Contains(s.log, "archive u1 true") {
		t.Errorf("yes means %v", s.log)
	}
}

func TestRenameIsBoundToItsSession(t *testing.T) {
	p, s := opened(t, 5)
	act(t, p, "sessions.rename", "")
	uitest.Press(p, "ctrl+u", "n", "e", "w")
	p.Apply(uitest.Envelopes(event.Header{Session: "fresh"}, event.SessionOpened{Info: event.SessionInfo{UID: "fresh"}, How: "new"}))
	uitest.Press(p, "enter")
	if got := s.log[len(s.log)-1]; got != `rename u1 "new"` {
		t.Errorf("got %s", got)
	}
}

func TestDeletedSessionLeavesWithAllItsHits(t *testing.T) {
	p, _ := opened(t, 5)
	act(t, p, "sessions.search", "docker")
	p.Apply(uitest.Envelopes(event.Header{Session: "u0"}, event.SessionDeleted{}))
	for _, r := range p.rows {
		if r.Info.UID == "u0" {
			t.Error("a hit of the deleted session is still listed")
		}
	}
}

// activityIn is what the list says of a session.
func activityIn(p *Pane, uid string) activity {
	return p.activityOf(Hit{Info: event.SessionInfo{UID: uid}})
}

func TestWhatWaitsIsCountedById(t *testing.T) {
	p, _ := opened(t, 3)
	h := event.Header{Session: "u2"}
	p.Apply(uitest.Envelopes(h, event.ApprovalAsked{ID: "a"}, event.QuestionAsked{ID: "q"}, event.ApprovalSettled{ID: "a"}, event.ApprovalSettled{ID: "a"}))
	if activityIn(p, "u2") != waiting {
		t.Error("a question waits, yet the list does not say so")
	}
	p.Apply(uitest.Envelopes(h, event.QuestionAnswered{ID: "q"}))
	if activityIn(p, "u2") == waiting {
		t.Error("nothing waits any more, yet the list says so")
	}
}

func TestNothingWorksForEverAfterLostEvents(t *testing.T) {
	p, _ := opened(t, 3)
	h := event.Header{Session: "u2"}
	p.Apply(uitest.Envelopes(h, event.TurnStarted{}, event.ApprovalAsked{ID: "a"}))
	p.Apply(uitest.Envelopes(event.Header{}, event.Resync{}))
	if got := activityIn(p, "u2"); got != quiet {
		t.Errorf("after a resync: %v", got)
	}
	p.Apply(uitest.Envelopes(h, event.TurnPhase{Kind: event.PhaseStreaming}))
	if got := activityIn(p, "u2"); got != working {
		t.Errorf("a turn that goes on: %v", got)
	}
}

func TestResyncAndNewOrderReadAgain(t *testing.T) {
	for name, e := range map[string]event.Event{
		"resync": event.Resync{}, "pinned": event.SessionChanged{Info: event.SessionInfo{UID: "u3", Pinned: true}},
		"archived": event.SessionChanged{Info: event.SessionInfo{UID: "u3", Archived: true}},
	} {
		p, s := opened(t, 5)
		before := len(s.log)
		p.Apply(uitest.Envelopes(event.Header{Session: "u3"}, e))
		uitest.Pump(p, p.Wake())
		if !slices.Contains(s.log[before:], "list 0 0") {
			t.Errorf("%s: the list is not read again", name)
		}
	}
}

func TestPagesAreReadAsOneMovesDown(t *testing.T) {
	p, s := opened(t, 250)
	for range 3 {
		act(t, p, "sessions.last", "")
	}
	if len(p.rows) != 250 || p.Title().Right != "250" {
		t.Errorf("%d rows, title %q, asked %v", len(p.rows), p.Title().Right, s.log)
	}
}

func TestErrorsAreShown(t *testing.T) {
	p, s := opened(t, 3)
	s.fail = errBroken
	act(t, p, "sessions.reload", "")
	if v := p.View(); !strings.Contains(v, "disk is gone") || !strings.Contains(v, "ctrl+r") {
		t.Errorf("the error is not shown with what to do:\n%s", v)
	}
}

// After anything at all the picture has its shape and equals one drawn anew.
func TestAnythingKeepsTheShapeAndTheMemo(t *testing.T) {
	styles := uitest.Styles(t, style.True)
	info := func(t *rapid.T) event.SessionInfo {
		return event.SessionInfo{
			UID: fmt.Sprintf("u%d", rapid.IntRange(0, 15).Draw(t, "uid")), Title: rapid.SampledFrom([]string{"a", "容器 网络", "\x1b[31mred\t", "👨‍👩‍👧", "e\u0301\u202e", ""}).Draw(t, "title"),
			Pinned: rapid.Bool().Draw(t, "pinned"), Archived: rapid.Bool().Draw(t, "archived"), Messages: 2, Last: start,
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		p, _ := opened(t, rapid.IntRange(0, 12).Draw(rt, "n"))
		p.Restyle(styles)
		keys := []string{"enter", "esc", "a", "网", "space", "backspace", "left", "delete", "ctrl+u"}
		for range rapid.IntRange(0, 12).Draw(rt, "steps") {
			x := info(rt)
			h := event.Header{Session: x.UID}
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				p.Resize(rapid.IntRange(20, 300).Draw(rt, "w"), rapid.IntRange(5, 100).Draw(rt, "h"))
			case 1:
				uitest.Press(p, rapid.SampledFrom(keys).Draw(rt, "key"))
			case 2:
				all := p.Actions()
				if a := all[rapid.IntRange(0, len(all)-1).Draw(rt, "action")]; a.Why == nil || a.Why() == "" {
					uitest.Pump(p, a.Run(""))
				}
			case 3:
				e := rapid.SampledFrom([]event.Event{
					event.SessionOpened{Info: x, How: "new"},
					event.SessionChanged{Info: x},
					event.SessionDeleted{},
					event.TurnStarted{},
					event.TurnEnded{},
					event.ApprovalAsked{ID: "a"},
					event.ApprovalSettled{ID: "a"},
					event.Resync{},
				}).Draw(rt, "event")
				p.Apply(uitest.Envelopes(h, e))
				uitest.Pump(p, p.Wake())
			case 4:
				p.Focus(rapid.Bool().Draw(rt, "focus"))
			case 5:
				uitest.Pump(p, p.Update(ui.SessionFocused{UID: x.UID}))
			}
			got := p.View()
			if why := uitest.BlockProblem(got, p.w, p.h); why != "" {
				rt.Fatalf("%dx%d: %s", p.w, p.h, why)
			}
			p.memoOK = false
			if fresh := p.View(); fresh != got {
				rt.Fatalf("the memo is not what a fresh drawing shows:\n%s\n---\n%s", got, fresh)
			}
		}
	})
}

func TestSmallestAndLargest(t *testing.T) {
	p, _ := opened(t, 30)
	s := uitest.Styles(t, style.True)
	act(t, p, "sessions.search", "docker")
	for w := 1; w <= 300; w += 7 {
		for h := 1; h <= 100; h += 9 {
			uitest.Render(t, p, s, w, h)
			uitest.Pump(p, p.Wake())
			uitest.Render(t, p, s, w, h)
		}
	}
}

func BenchmarkView(b *testing.B) {
	p, _ := opened(b, 1000)
	p.Resize(118, 38)
	for b.Loop() {
		p.memoOK = false
		p.View()
	}
}

func TestFoldersOfThePersonAreShort(t *testing.T) {
	p := &Pane{home: "/home/ann"}
	for path, want := range map[string]string{"/home/ann": "~", "/home/ann/weather": "~/weather", "/home/anna": "/home/anna", "/srv": "/srv", "": ""} {
		if got := p.shortPath(path); got != want {
			t.Errorf("%q is shown as %q, want %q", path, got, want)
		}
	}
}
