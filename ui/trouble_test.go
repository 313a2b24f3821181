package ui_test

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func TestTheStatusRowNamesTheKeysThatAPersonChose(t *testing.T) {
	opt, _ := options(t)
	opt.Keys = map[string][]string{"conversation.stop": {"alt+k"}, "palette": {"f2"}, "help": {}}
	s := uitest.Start(t, opt, 120, 40)
	opt.Bus.Publish(event.Header{Session: "s1"}, event.TurnStarted{})
	if picture := s.WaitFor("f2 commands  alt+k stop"); strings.Contains(picture, "F1 help") {
		t.Error("a key is named that was taken away")
	}
}

func TestTheNamesOfKeysCommandNoTerminal(t *testing.T) {
	opt, _ := options(t)
	opt.Keys = map[string][]string{"palette": {"\x1b]52;c;aGk=\a", "f2"}, "conversation.note": {"a\nb", "f3"}}
	d := model(t, opt, 120, 40)
	if v := text.Sanitize(d.m.View()); !strings.Contains(v, "f2 commands") || !strings.Contains(v, "f3 note") || strings.Contains(v, "]52") {
		t.Errorf("the screen shows:\n%s", v)
	}
	uitest.CheckBlock(t, d.m.View(), 120, 40)
}

func TestWhereUnicodeCannotBeTrustedEverySignIsASCII(t *testing.T) {
	opt, convs := options(t)
	ascii := true
	opt.ASCII = &ascii
	opt.Side[1] = signed{opt.Side[1].(*fake)}
	d := model(t, opt, 160, 44)
	(*convs)[0].said = []string{"a · b … c ─ d ← e → «f»"}
	d.send(uitest.Key("x"))
	for _, r := range strings.ReplaceAll(d.m.View(), "❯", "") { // the fake's own prompt
		if r > '~' {
			t.Fatalf("%q in\n%s", r, d.m.View())
		}
	}
	uitest.CheckBlock(t, d.m.View(), 160, 44)
}

// signed has the signs in its title that panes use in theirs.
type signed struct{ *fake }

func (signed) Title() ui.Title { return ui.Title{Text: "Output ── x …", Right: "a · b"} }

// The end of a turn may be among what a Resync stands for.
func TestNothingSpinsForEverAfterALossOfEvents(t *testing.T) {
	opt, _ := options(t)
	opt.Standing = func(uid string) (bool, []string) { return uid == "s2", []string{"q"}[:len(uid)-1] }
	s := uitest.Start(t, opt, 160, 44)
	opt.Bus.Publish(event.Header{Session: "s1"}, event.TurnStarted{})
	opt.Bus.Publish(event.Header{Session: "s1"}, event.TurnPhase{Kind: "counting"})
	s.WaitFor("counting")
	opt.Bus.Publish(event.Header{}, event.Resync{Dropped: 1})
	s.WaitGone("counting")
	opt.Bus.Publish(event.Header{Session: "s1"}, event.TurnPhase{Kind: "at it again"})
	s.WaitFor("at it again")
}

// tabbed has a title that would push the boxes beside it.
type tabbed struct{ *fake }

func (tabbed) Title() ui.Title { return ui.Title{Text: "a\tb\nc\td\te", Right: "x\ty\n"} }

func TestATitleWithTabsAndLineBreaksKeepsTheFrame(t *testing.T) {
	opt, _ := options(t)
	opt.Side[1] = tabbed{opt.Side[1].(*fake)}
	d := model(t, opt, 160, 44)
	uitest.CheckBlock(t, d.m.View(), 160, 44)
}

func TestAClickBesideAnOverlayChoosesNothing(t *testing.T) {
	opt, _ := options(t)
	d := model(t, opt, 160, 44)
	d.send(uitest.Key("ctrl+p"))
	for _, at := range [][2]int{{2, 20}, {158, 20}, {80, 43}, {80, 0}} {
		d.send(tea.MouseMsg{X: at[0], Y: at[1], Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
		if !strings.Contains(d.m.View(), "Commands") {
			t.Fatalf("a click at %v closed the palette", at)
		}
	}
}

func TestADragEndsWhenAnOverlayTakesItsRelease(t *testing.T) {
	opt, _ := options(t)
	d := model(t, opt, 160, 44)
	edge := strings.Index(strings.ReplaceAll(strings.Split(text.Sanitize(d.m.View()), "\n")[20], "│", "|"), "||")
	d.send(tea.MouseMsg{X: edge, Y: 20, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	d.send(uitest.Key("ctrl+p"))
	d.send(tea.MouseMsg{X: edge, Y: 20, Action: tea.MouseActionRelease, Button: tea.MouseButtonLeft})
	d.send(uitest.Key("esc"))
	before := text.Sanitize(d.m.View())
	d.send(tea.MouseMsg{X: edge + 12, Y: 20, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	d.send(tea.MouseMsg{X: edge + 12, Y: 20, Action: tea.MouseActionRelease, Button: tea.MouseButtonLeft})
	after, title := text.Sanitize(d.m.View()), "╭─ 2"
	if strings.Index(after, title) != strings.Index(before, title) || !strings.Contains(after, title) {
		t.Error("a click moved the edge that was dragged before")
	}
}

func TestCtrlCInThePreviewOfThemesBringsTheOldOneBack(t *testing.T) {
	opt, convs := options(t)
	opt.Now = func() time.Time { return time.Unix(1_700_000_000, 0) }
	d := model(t, opt, 120, 40)
	before := (*convs)[0].styles.Name
	cmd, _ := opt.Slash.Run("/theme")
	d.run(cmd)
	d.send(uitest.Key("down"))
	if (*convs)[0].styles.Name == before {
		t.Fatal("there was no preview")
	}
	d.send(tea.KeyMsg{Type: tea.KeyCtrlC})
	if now := (*convs)[0].styles.Name; now != before {
		t.Errorf("the theme stayed %q", now)
	}
}
