package ui

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/layout"
)

// What a person types is text before it is anything else: a letter that means nothing where it is
// pressed goes back to writing, and what was done by a key can be taken back for a while.

// breath is how soon letters follow each other that are typed as one word.
const breath = 600 * time.Millisecond

// run are the letters that were pressed last in a pane whose letters are keys. They did what they
// mean there; when the next one means nothing, they were the beginning of a word.
type run struct {
	letters string
	at      time.Time
}

// noteLetter remembers a letter that did something. A letter that comes twice is a key that is
// pressed again and again: nobody writes "jjj".
func (r *run) noteLetter(letter string, now time.Time) {
	if now.Sub(r.at) > breath || strings.Contains(r.letters, letter) {
		r.letters = ""
	}
	r.letters, r.at = r.letters+letter, now
}

// endRun ends the run with a letter that meant nothing, and returns what was written.
func (r *run) endRun(letter string, now time.Time) string {
	if now.Sub(r.at) > breath || strings.Contains(r.letters, letter) {
		r.letters = ""
	}
	word := r.letters + letter
	*r = run{}
	return word
}

// textOf is what a key writes; "" for keys that are no text.
func textOf(msg tea.KeyMsg) string {
	if msg.Alt || msg.Type != tea.KeyRunes && msg.Type != tea.KeySpace || !msg.Paste && utf8.RuneCountInString(msg.String()) != 1 {
		return ""
	}
	if msg.Type == tea.KeySpace {
		return " "
	}
	return string(msg.Runes)
}

// meantAsText decides what a key of a pane in which nobody types is for: e is the action of that
// key if one is known. It returns the conversation's pane when the key goes back to writing.
func (f *frame) meantAsText(msg tea.KeyMsg, known bool, e entry) (Pane, bool) {
	s := textOf(msg)
	if s == "" || strings.TrimSpace(s) == "" {
		f.run = run{}
		return nil, false
	}
	_, here := f.focusedPane().(Writer)
	if known && (e.disabledReason() == "" || !here) {
		f.run.noteLetter(s, f.opt.Now())
		return nil, false
	}
	to := f.focusedPane()
	if !here {
		to = f.convs.currentPane()
	}
	_, can := to.(Writer)
	return to, can
}

// writeIn gives the conversation the focus, and what was typed.
func (f *frame) writeIn(p Pane, msg tea.KeyMsg) tea.Cmd {
	s := textOf(msg)
	if msg.Paste {
		f.run, s = run{}, ""
	} else {
		s = f.run.endRun(s, f.opt.Now())
	}
	f.setFocus(layout.Conversation, f.convs.at)
	cmd := ownedCommand(p, p.(Writer).Write(s))
	if msg.Paste {
		cmd = tea.Batch(cmd, ownedCommand(p, p.Update(msg)))
	}
	return cmd
}

// writeOn writes what was typed into a question instead of an answer, behind the letter that
// brought the question.
func (f *frame) writeOn(s string) tea.Cmd {
	s, f.run = f.run.letters+s, run{}
	p := f.convs.currentPane()
	w, ok := p.(Writer)
	if !ok {
		return nil
	}
	f.setFocus(layout.Conversation, f.convs.at)
	return ownedCommand(p, w.Write(s))
}

// continueWord writes the letter by which somebody came back to the line ("i"), when a letter goes
// on behind it in one breath: it was the beginning of a word. "i/" is no word.
func (f *frame) continueWord(p Pane, msg tea.KeyMsg) tea.Cmd {
	r := f.run
	f.run = run{}
	w, ok := p.(Writer)
	if !ok || msg.Type != tea.KeyRunes || msg.Alt || msg.Paste || !unicode.IsLetter(msg.Runes[0]) || f.opt.Now().Sub(r.at) > breath {
		return nil
	}
	return ownedCommand(p, w.Write(r.letters))
}

// beginText puts text in front of what stands in the current conversation's line.
func (f *frame) beginText(text string) tea.Cmd {
	p := f.convs.currentPane()
	b, ok := p.(Beginner)
	if !ok {
		return nil
	}
	f.setFocus(layout.Conversation, f.convs.at)
	return ownedCommand(p, b.Begin(text))
}

// undoable is the newest thing that can be taken back by a key.
type undoable struct {
	what  string
	who   Pane
	undo  tea.Cmd
	until time.Time
}

// undoFor is how long something can be taken back by the key.
const undoFor = time.Minute

// showUndo says what was done, and how to take it back.
func (f *frame) showUndo(who Pane, m ShowUndo) tea.Cmd {
	f.undone = undoable{m.Text, who, m.Undo, f.opt.Now().Add(undoFor)}
	hint := "/takeback takes it back"
	if key := f.keys.firstKey("takeback", "alt+u"); key != "" {
		hint = key + " takes it back"
	}
	f.dirty = true
	f.toasts.addFor(f.opt.Now(), 10*time.Second, event.Info, m.Text, hint)
	return nil
}

func (f *frame) whyNoUndo() string {
	if f.undone.undo == nil || !f.opt.Now().Before(f.undone.until) {
		return "nothing was done in the last minute that a key can take back"
	}
	return ""
}

func (f *frame) takeBack(string) tea.Cmd {
	u := f.undone
	f.undone = undoable{}
	if u.undo == nil {
		return nil
	}
	return tea.Batch(ownedCommand(u.who, u.undo), f.showToast(event.Info, "taken back: "+u.what, ""))
}

// leaveWithin is how soon the second request to leave must follow the first.
const leaveWithin = 4 * time.Second

// leaveProgram ends the program at the second request: the first one asks.
func (f *frame) leaveProgram(key string) tea.Cmd {
	said := "leave Hermes? " + key + " again leaves"
	if f.leave.pressAgain(f.opt.Now(), leaveWithin, key, said) {
		return tea.Quit
	}
	return f.showToast(event.Info, said, "it says how to come back")
}

// quitKey is a key that ends the program when it comes twice, with nothing between.
type quitKey struct {
	key, said string
	at        time.Time
}

// pressAgain reports whether this is the second time.
func (t *quitKey) pressAgain(now time.Time, within time.Duration, key, said string) bool {
	second := t.key == key && now.Sub(t.at) < within
	*t = quitKey{key, said, now}
	return second
}

// forgetFirstPress takes back what was said about a second press: another key came.
func (f *frame) forgetFirstPress(name string) {
	for _, t := range []*quitKey{&f.quit, &f.leave} {
		if t.key != "" && t.key != name {
			f.toasts.drop(t.said)
			*t = quitKey{}
		}
	}
}
