package sessions

import (
	"fmt"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

// workplace is a shelf with sessions of several projects, which took something.
func workplace(t *testing.T) (*Pane, *shelf) {
	t.Helper()
	p, s := opened(t, 9)
	for i := range s.infos {
		s.infos[i].Project = []string{"/src/app", "/src/weather", "/src/app", ""}[i%4]
		s.infos[i].Cwd = s.infos[i].Project
		s.infos[i].Usage = chat.Usage{Input: 12_000 * i, Output: 345, Cost: int64(4200 * i), CostKnown: true}
		s.infos[i].Archived = i == 8
	}
	act(t, p, "sessions.reload", "")
	p.Apply(append(append(
		uitest.Envelopes(event.Header{Session: "u2"}, event.TurnStarted{}),
		uitest.Envelopes(event.Header{Session: "u3"}, event.TurnStarted{}, event.ApprovalAsked{ID: "a"})...),
		uitest.Envelopes(event.Header{Session: "u4"}, event.TurnStarted{}, event.TurnEnded{})...))
	return p, s
}

func TestTheListIsGroupedByProjectAndSaysWhatASessionTook(t *testing.T) {
	for _, size := range uitest.Sizes() {
		p, _ := workplace(t)
		s := uitest.Styles(t, style.None)
		uitest.Render(t, p, s, size.W, size.H)
		uitest.Pump(p, p.Wake())
		uitest.Golden(t, fmt.Sprintf("groups-plain-%dx%d", size.W, size.H), uitest.Render(t, p, s, size.W, size.H))
	}
	p, _ := workplace(t)
	p.Resize(100, 40)
	uitest.Pump(p, p.Wake())
	v := text.Sanitize(p.View())
	for _, want := range []string{"/src/weather", "no folder", "12k tokens", "$0.004"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, v)
		}
	}
	for i := 1; i < len(p.rows); i++ {
		for _, before := range p.rows[:i-1] {
			if groupOf(before) == groupOf(p.rows[i]) && groupOf(p.rows[i-1]) != groupOf(p.rows[i]) {
				t.Errorf("row %d stands apart from its group", i)
			}
		}
	}
	uitest.Press(p, "end") // the cursor is always on the screen, and a click on a line takes its row
	p.moveCursor(len(p.rows))
	if v := text.Sanitize(p.View()); !strings.Contains(v, titleOf(p.rows[len(p.rows)-1])) {
		t.Errorf("the last row is out of sight:\n%s", v)
	}
	for y, row := range p.lineRow {
		p.cursor = 0
		if row == 0 {
			continue
		}
		p.handleClick(1, y+headRows)
		if p.cursor != row {
			t.Fatalf("a click on line %d takes row %d, not %d", y, p.cursor, row)
		}
	}
}

func TestOneKeyShowsWhatWaitsWorksAndIsDone(t *testing.T) {
	p, s := workplace(t)
	p.Resize(60, 40)
	if v := text.Sanitize(p.View()); !strings.Contains(v, "[all]  1 waits for you  1 works  1 done") {
		t.Errorf("by default:\n%s", v)
	}
	for _, want := range []struct{ word, uid string }{{"[waits for you]", "u3"}, {"[works]", "u2"}, {"[done]", "u4"}, {"[archived]", "u8"}} {
		act(t, p, "sessions.filter", "")
		if v := text.Sanitize(p.View()); !strings.Contains(v, want.word) || len(p.rows) != 1 || p.rows[0].Info.UID != want.uid {
			t.Errorf("%s shows %d rows:\n%s", want.word, len(p.rows), v)
		}
	}
	if got := s.log[len(s.log)-1]; !strings.HasPrefix(got, "list true") && !strings.HasPrefix(got, "preview") {
		t.Errorf("archived ones were not asked for: %s", got)
	}
	act(t, p, "sessions.filter", "")
	if len(p.rows) != 9 {
		t.Errorf("all again: %d rows", len(p.rows))
	}
	act(t, p, "sessions.filter", "")
	p.Apply(uitest.Envelopes(event.Header{Session: "u3"}, event.ApprovalSettled{ID: "a"}))
	if v := text.Sanitize(p.View()); len(p.rows) != 0 || !strings.Contains(v, "No session here: waits for you.") {
		t.Errorf("what waited was answered:\n%s", v)
	}
}

func TestASearchCountsEachSessionOnce(t *testing.T) {
	p, _ := opened(t, 6)
	p.Resize(60, 40)
	act(t, p, "sessions.search", "docker")
	if v := text.Sanitize(p.View()); !strings.Contains(v, "6 sessions, 7 places") || p.Title().Right != "6" {
		t.Errorf("title %q:\n%s", p.Title().Right, v)
	}
}

func TestThePreviewStandsAtTheHitAndSaysWithWhatItWasHeld(t *testing.T) {
	p, s := workplace(t)
	p.Resize(120, 40)
	act(t, p, "sessions.search", "docker")
	for range 2 {
		act(t, p, "sessions.down", "")
	}
	if got := s.log[len(s.log)-1]; got != "preview u1 12" {
		t.Errorf("the preview was asked for %s", got)
	}
	v := text.Sanitize(p.View())
	for _, want := range []string{"sonnet", "tokens", start.Format("2006-01-02"), "/src/"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, v)
		}
	}
}
