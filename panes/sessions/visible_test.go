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
	p, _ := workplace(t)
	p.Resize(60, 40)
	if v := text.Sanitize(p.View()); !strings.Contains(v, "[all]  1 waits for you  1 works  6 done") {
		t.Errorf("by default:\n%s", v)
	}
	for _, want := range []struct{ word, uids string }{{"[waits for you]", "u3"}, {"[works]", "u2"}, {"[done]", "u0 u1 u5 u4 u6 u7"}, {"[archived]", "u8"}} {
		act(t, p, "sessions.filter", "")
		if v := text.Sanitize(p.View()); !strings.Contains(v, want.word) || shownUIDs(p) != want.uids {
			t.Errorf("%s shows %s:\n%s", want.word, shownUIDs(p), v)
		}
	}
	act(t, p, "sessions.filter", "")
	if len(p.rows) != 8 {
		t.Errorf("all again: %d rows", len(p.rows))
	}
	act(t, p, "sessions.filter", "")
	p.Apply(uitest.Envelopes(event.Header{Session: "u3"}, event.ApprovalSettled{ID: "a"}))
	if v := text.Sanitize(p.View()); len(p.rows) != 0 || !strings.Contains(v, "No session here: waits for you.") {
		t.Errorf("what waited was answered:\n%s", v)
	}
}

// shownUIDs are the sessions of the list from top to bottom.
func shownUIDs(p *Pane) string {
	var uids []string
	for _, r := range p.rows {
		uids = append(uids, r.Info.UID)
	}
	return strings.Join(uids, " ")
}

// Where nothing works and nothing waits, what is done is still one key away, and archived sessions
// behind hundreds of others are found by theirs.
func TestIdleSessionsAreDoneAndArchivedOnesAreFoundBehindMany(t *testing.T) {
	p, s := opened(t, 3*pageSize)
	s.infos[3*pageSize-1].Archived = true
	act(t, p, "sessions.reload", "")
	p.Resize(60, 40)
	if v := text.Sanitize(p.View()); strings.Contains(v, "[all]") {
		t.Errorf("nothing is there to choose from:\n%s", v)
	}
	act(t, p, "sessions.filter", "")
	if v := text.Sanitize(p.View()); !strings.Contains(v, "[done]") || len(p.rows) != pageSize {
		t.Errorf("done shows %d rows:\n%s", len(p.rows), v)
	}
	act(t, p, "sessions.archived", "")
	if v := text.Sanitize(p.View()); !strings.Contains(v, "[done]  with archived ones") {
		t.Errorf("the filter is not said:\n%s", v)
	}
	act(t, p, "sessions.filter", "")
	if v := text.Sanitize(p.View()); !strings.Contains(v, "[archived]") || shownUIDs(p) != fmt.Sprintf("u%d", 3*pageSize-1) {
		t.Errorf("archived shows %s:\n%s", shownUIDs(p), v)
	}
}

// What another hermes does in a session is known when the pane is gone to, and is no rest.
func TestWhatAnotherHermesWorksInIsNotDone(t *testing.T) {
	p, s := opened(t, 3)
	p.Resize(60, 40)
	s.infos[2].Elsewhere = true
	p.Focus(false)
	p.Focus(true)
	uitest.Pump(p, p.Wake())
	if v := text.Sanitize(p.View()); !strings.Contains(v, "[all]  1 works  2 done") || !strings.Contains(v, "in another hermes") {
		t.Errorf("the list:\n%s", v)
	}
	act(t, p, "sessions.filter", "")
	if shownUIDs(p) != "u2" {
		t.Errorf("%s works", shownUIDs(p))
	}
}

// A search hides nothing behind the filter that was on, which comes back after it.
func TestASearchLooksBehindTheFilter(t *testing.T) {
	p, _ := workplace(t)
	p.Resize(60, 40)
	act(t, p, "sessions.filter", "")
	act(t, p, "sessions.search", "docker")
	if v := text.Sanitize(p.View()); len(p.rows) != 10 || !strings.Contains(v, "9 sessions") {
		t.Errorf("%d rows:\n%s", len(p.rows), v)
	}
	for _, a := range p.Actions() {
		if a.ID == "sessions.filter" && a.Why() == "" {
			t.Error("a filter is offered for a search")
		}
	}
	act(t, p, "sessions.back", "")
	if v := text.Sanitize(p.View()); shownUIDs(p) != "u3" || !strings.Contains(v, "[waits for you]") {
		t.Errorf("behind the search:\n%s", v)
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
	for i := range s.infos {
		s.infos[i].Provider = "anthropic"
	}
	act(t, p, "sessions.search", "docker")
	for range 2 {
		act(t, p, "sessions.down", "")
	}
	if got := s.log[len(s.log)-1]; got != "preview u1 12" {
		t.Errorf("the preview was asked for %s", got)
	}
	v := text.Sanitize(p.View())
	for _, want := range []string{"anthropic/sonnet", "tokens", start.Format("2006-01-02"), "/src/"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, v)
		}
	}
}

// A call stands once in the preview, with what it asked for and how it went; what a person ran
// stands there as they wrote it, with what came of it.
func TestThePreviewShowsACallOnceWithWhatItAskedFor(t *testing.T) {
	p, _ := opened(t, 3)
	p.Resize(120, 40)
	call := func(id, command string) []chat.ToolCall {
		return []chat.ToolCall{{ID: id, Name: "terminal", Args: []byte(`{"command":"` + command + `"}`)}}
	}
	p.preview.messages = []chat.Message{
		{ID: 1, Role: chat.RoleUser, Text: "$ seq 2"},
		{ID: 2, Role: chat.RoleAssistant, From: chat.Person(), Calls: call("own", "seq 2")},
		{ID: 3, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "own", Name: "terminal", Text: "1\n2"}},
		{ID: 4, Role: chat.RoleAssistant, Calls: call("a", "make test")},
		{ID: 5, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "a", Name: "terminal", Text: "broken", IsError: true}},
		{ID: 6, Role: chat.RoleAssistant, Text: "Again.", Calls: call("b", "make again")},
	}
	lines, _ := p.drawMessages(40, nil)
	got := text.Sanitize(strings.Join(lines, "|"))
	if want := "You|  $ seq 2|  1|  2|✕ terminal  make test|  broken|Hermes|  Again.|  ▶ terminal  make again"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p.preview.at = 5
	if lines, hit := p.drawMessages(40, []string{"broken"}); hit != 4 || !strings.Contains(text.Sanitize(lines[4]), "found here") {
		t.Errorf("the hit is in row %d: %q", hit, lines)
	}
}
