package conversation

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

// TestArrowKeysChooseInAnApproval: they move among the answers, enter takes the one they stand on,
// and what came before the box could be read decides nothing.
func TestArrowKeysChooseInAnApproval(t *testing.T) {
	w, p, o := box(t, asking("ap", "make", start.Add(time.Hour)))
	hit(p, o, "right", "down", "up")
	if v := picture(t, o, 80, 24); !strings.Contains(v, "[ Once ]") {
		t.Fatalf("the arrows do not move:\n%s", v)
	}
	if hit(p, o, "enter"); strings.Join(w.log, "|") != "answer ap once" {
		t.Errorf("did %q", w.log)
	}
	w, p, o = box(t, asking("ap", "make", start.Add(time.Hour)))
	o.(*approval).shown = w.now
	if hit(p, o, "left", "left", "enter"); len(w.log) > 0 {
		t.Errorf("keys that came at once did %q", w.log)
	}
	w, p, o = box(t, asking("ap", strings.Repeat("echo one\n", 300), start.Add(time.Hour)))
	picture(t, o, 80, 24)
	if hit(p, o, "down"); o.(*approval).at != 0 || o.(*approval).top != 1 {
		t.Error("down does not scroll a text that is not in sight whole")
	}
	if hit(p, o, "right", "enter"); len(w.log) > 0 {
		t.Errorf("what was not read to its end was answered: %q", w.log)
	}
}

// asked opens the box of a question as events do, by itself.
func asked(t *testing.T, write string) (*world, *Pane, *question) {
	t.Helper()
	w := &world{}
	p := open(t, w)
	p.composer.SetText(write)
	w.log = nil
	q := event.QuestionAsked{ID: "q", Text: "Which one?", Choices: []string{"red", "green", "blue"}}
	p.Apply([]event.Envelope{{Header: event.Header{Session: "s", At: start}, Event: q}})
	for _, m := range drain(p, p.Wake()) {
		if o, ok := m.(ui.ShowOverlay); ok {
			o.Overlay.Restyle(uitest.Styles(t, style.None))
			return w, p, o.Overlay.(*question)
		}
	}
	return w, p, nil
}

// TestAQuestionOpensByItselfOverAnEmptyLine, and what is typed at once goes on in the line.
func TestAQuestionOpensByItselfOverAnEmptyLine(t *testing.T) {
	if _, _, o := asked(t, "half a thought"); o != nil {
		t.Fatal("it opens over what somebody writes")
	}
	w, p, o := asked(t, "")
	if o == nil {
		t.Fatal("it does not open")
	}
	if hit(p, o, "enter", "down"); len(w.log) > 0 || o.at >= 0 {
		t.Fatalf("keys that came at once did %q", w.log)
	}
	if !hit(p, o, "2") || p.composer.Text() != "2" || len(w.log) > 0 {
		t.Errorf("a digit typed at once did %q, and the line holds %q", w.log, p.composer.Text())
	}
	w, p, o = asked(t, "")
	if hit(p, o, "ctrl+y") {
		t.Error("who wants to open it closes it")
	}
	w.now = w.now.Add(time.Second)
	if !hit(p, o, "2", "enter") || w.log[0] != "question q green" {
		t.Errorf("an answer later did %q", w.log)
	}
	w, p, o = asked(t, "")
	w.now = w.now.Add(time.Second)
	if hit(p, o, "2", "1", " ", "a", "p", "p", "l", "e", "s"); len(w.log) > 0 || o.field.Text() != "21 apples" {
		t.Errorf("an answer that begins with a number did %q, and reads %q", w.log, o.field.Text())
	}
}

// TestArrowKeysChooseInAQuestion: also to the last and the first one; a text of one's own still
// counts more.
func TestArrowKeysChooseInAQuestion(t *testing.T) {
	w, p, o := asked(t, "")
	w.now = w.now.Add(time.Second)
	hit(p, o, "down", "down")
	if v := picture(t, o, 60, 20); !strings.Contains(v, "▸ 2  green") {
		t.Fatalf("the arrows do not move:\n%s", v)
	}
	if !hit(p, o, "down", "enter") || w.log[0] != "question q blue" {
		t.Errorf("did %q", w.log)
	}
	w, p, o = asked(t, "")
	w.now = w.now.Add(time.Second)
	if !hit(p, o, "up", "enter") || w.log[0] != "question q blue" {
		t.Errorf("up did %q", w.log)
	}
	w, p, o = asked(t, "")
	w.now = w.now.Add(time.Second)
	if !hit(p, o, "down", "n", "o", "1", "enter") || w.log[0] != "question q no1" {
		t.Errorf("own words did %q", w.log)
	}
}

// A box of a server's question is titled with the server's name, cleaned and cut, and any other
// with Hermes.
func TestABoxSaysWhoAsks(t *testing.T) {
	_, p, o := asked(t, "")
	if got := o.Title(); got != "Hermes asks" {
		t.Error(got)
	}
	for name, want := range map[string]string{
		"notes": "The server notes asks", "a\x1b[31m\nb": "The server a b asks", strings.Repeat("x", 90): "The server " + strings.Repeat("x", 39) + "… asks",
	} {
		if got := newQuestion(p, event.QuestionAsked{ID: "q", Server: name, Text: "Sure?"}).Title(); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// clickOn presses the left button on the first cell of a word of the last picture.
func clickOn(t *testing.T, p *Pane, o ui.Overlay, w, h int, word string) bool {
	t.Helper()
	for y, l := range strings.Split(picture(t, o, w, h), "\n") {
		if before, _, ok := strings.Cut(l, word); ok {
			cmd, done := o.Update(tea.MouseMsg{X: text.Width(before), Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			drain(p, cmd)
			return done
		}
	}
	t.Fatalf("there is no %q", word)
	return false
}

// A click on an answer of an approval is the enter key on it: not at once, not before the end was
// read, and nothing beside the answers. The answers may stand on several rows.
func TestAClickAnswersAnApproval(t *testing.T) {
	for _, width := range []int{120, 44} {
		for word, want := range map[string]string{"Once": "answer ap once", "Deny ]": "answer ap deny"} {
			w, p, o := box(t, asking("ap", "make", start.Add(time.Hour)))
			if clickOn(t, p, o, width, 24, "make"); len(w.log) > 0 {
				t.Errorf("a click on the command did %q", w.log)
			}
			if clickOn(t, p, o, width, 24, word); strings.Join(w.log, "|") != want {
				t.Errorf("%d cells, %s: did %q", width, word, w.log)
			}
		}
	}
	w, p, o := box(t, asking("ap", "make", start.Add(time.Hour)))
	o.(*approval).shown = w.now
	if clickOn(t, p, o, 80, 24, "Once"); len(w.log) > 0 {
		t.Errorf("a click that came at once did %q", w.log)
	}
	w, p, o = box(t, asking("ap", strings.Repeat("echo one\n", 300), start.Add(time.Hour)))
	if clickOn(t, p, o, 80, 24, "Once"); len(w.log) > 0 {
		t.Errorf("what was not read to its end was answered: %q", w.log)
	}
}

// A click on a choice of a question answers with it, not at once and not over words of one's own.
func TestAClickAnswersAQuestion(t *testing.T) {
	w, p, o := asked(t, "")
	if clickOn(t, p, o, 60, 20, "green"); len(w.log) > 0 {
		t.Errorf("a click that came at once did %q", w.log)
	}
	w.now = w.now.Add(time.Second)
	if clickOn(t, p, o, 60, 20, "Which"); len(w.log) > 0 {
		t.Errorf("a click on the question did %q", w.log)
	}
	if !clickOn(t, p, o, 60, 20, "green") || w.log[0] != "question q green" {
		t.Errorf("did %q", w.log)
	}
	w, p, o = asked(t, "")
	w.now = w.now.Add(time.Second)
	hit(p, o, "n", "o")
	if clickOn(t, p, o, 60, 20, "green"); len(w.log) > 0 {
		t.Errorf("a click over own words did %q", w.log)
	}
}
