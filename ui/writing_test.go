package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/testwait"
	"hermes/ui"
	"hermes/ui/uitest"
)

// writes is a conversation that can be written in at any time.
type writes struct{ *fake }

func (w writes) Write(s string) tea.Cmd {
	w.typing = true
	w.typed += s
	return nil
}

func (w writes) Begin(s string) tea.Cmd {
	w.typing = true
	w.typed = s + w.typed
	return nil
}

// written makes a program of one conversation that can be written in, with a clock.
func written(t *testing.T) (*driven, *fake, *time.Time) {
	opt, _ := options(t)
	conv := &fake{id: "conversation:s1", uid: "s1", typing: true}
	opt.Conversation = func(uid string) ui.Pane { return writes{conv} }
	now := time.Unix(1_700_000_000, 0)
	opt.Now = func() time.Time { return now }
	return model(t, opt, 120, 40), conv, &now
}

// TestALetterWithoutMeaningGoesBackToWriting, with the letters before it that were typed in one
// breath.
func TestALetterWithoutMeaningGoesBackToWriting(t *testing.T) {
	for _, tt := range []struct {
		name  string
		keys  string
		pause bool
		want  string
	}{
		{"none of them means anything", "fix it", false, "fix it"},
		{"the first one did something", "not now", false, "not now"},
		{"the first one was meant", "not now", true, "ot now"},
		{"a key that is held is none of a word", "nno", false, "no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, conv, now := written(t)
			d.send(uitest.Key("alt+1"))
			for _, r := range tt.keys {
				if r == ' ' {
					d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{' '}})
				} else {
					d.send(uitest.Key(string(r)))
				}
				if tt.pause {
					*now = now.Add(time.Second)
				}
			}
			if conv.typed != tt.want || !conv.focused {
				t.Errorf("%q was written as %q", tt.keys, conv.typed)
			}
		})
	}
}

func TestAPasteIntoAListGoesBackToWriting(t *testing.T) {
	d, conv, _ := written(t)
	d.send(uitest.Key("alt+1"))
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune("n")})
	if conv.typed != "n" {
		t.Errorf("written: %q", conv.typed)
	}
}

func TestWhatWasDoneCanBeTakenBackForAWhile(t *testing.T) {
	d, conv, now := written(t)
	did := ui.ShowUndo{Text: "archived", Undo: func() tea.Msg {
		conv.said = append(conv.said, "brought back")
		return nil
	}}
	d.send(did)
	if v := d.m.View(); !strings.Contains(v, "archived") || !strings.Contains(v, "alt+u takes it back") {
		t.Fatalf("it does not say how:\n%s", v)
	}
	d.send(uitest.Key("alt+u"))
	d.send(uitest.Key("alt+u")) // once
	if n := len(slices.DeleteFunc(slices.Clone(conv.said), func(s string) bool { return s != "brought back" })); n != 1 {
		t.Errorf("taken back %d times", n)
	}
	d.send(did)
	*now = now.Add(2 * time.Minute)
	conv.said = nil
	if d.send(uitest.Key("alt+u")); slices.Contains(conv.said, "brought back") {
		t.Error("it is taken back much later")
	}
}

func TestASessionIsNeverOpenTwice(t *testing.T) {
	opt, convs := options(t)
	d := model(t, opt, 160, 44)
	for _, where := range []ui.Where{ui.Right, ui.Here, ui.Below, ui.Right} {
		d.send(ui.OpenSession{UID: "x", Where: where})
	}
	n := 0
	for _, p := range *convs {
		if p.uid == "x" && p.w > 0 {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d panes show it", n)
	}
}

func TestLeavingIsAskedOnce(t *testing.T) {
	d, _, now := written(t)
	d.send(ui.Leave{Key: "ctrl+d"})
	if v := d.m.View(); !strings.Contains(v, "ctrl+d again leaves") {
		t.Errorf("it does not ask:\n%s", v)
	}
	*now = now.Add(10 * time.Second)
	if _, cmd := d.m.Update(ui.Leave{Key: "ctrl+d"}); quits(cmd) {
		t.Error("a request of long ago counts")
	}
	if _, cmd := d.m.Update(ui.Leave{Key: "ctrl+d"}); !quits(cmd) {
		t.Error("the second one does not leave")
	}
}

// quits reports that one of a command's messages ends the program; timers are left alone.
func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	got := make(chan tea.Msg, 1)
	go func() { got <- cmd() }()
	select {
	case msg := <-got:
		if b, ok := msg.(tea.BatchMsg); ok {
			return slices.ContainsFunc(b, quits)
		}
		_, ok := msg.(tea.QuitMsg)
		return ok
	case <-time.After(testwait.Within(100 * time.Millisecond)):
		return false
	}
}

func TestOtherNamesOfACommandWork(t *testing.T) {
	opt, _ := options(t)
	opt.CommandLine = []string{"doctor"}
	d := model(t, opt, 120, 40)
	if cmd, ok := opt.Slash.Run("/exit"); !ok || !quits(cmd) {
		t.Error("/exit does not leave")
	}
	if _, ok := opt.Slash.Run("/clear"); !ok {
		t.Error("/clear does nothing")
	}
	for name, want := range map[string]string{"doctor": "hermes doctor", "quti": "/quit", "exti": "/exit", "xyzzyx": "type /"} {
		if m := opt.Slash.Unknown(name).(ui.ShowToast); !strings.Contains(m.Hint, want) {
			t.Errorf("/%s: %+v", name, m)
		}
	}
	_ = d
	opt.MoreComes = func() bool { return true } // a name that is not there yet is not called wrong
	model(t, opt, 120, 40)
	if m := opt.Slash.Unknown("deploy").(ui.ShowToast); !strings.Contains(m.Text, "still read") || !strings.Contains(m.Hint, "enter again") {
		t.Errorf("%+v", m)
	}
}
