package conversation

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/ui"
	"hermes/ui/compose"
)

// frameKeys sends keys as the frame does: a letter that no action of the pane takes now is written.
func frameKeys(p *Pane, keys ...string) (out []tea.Msg) {
	for _, k := range keys {
		taken := slices.ContainsFunc(p.Actions(), func(a ui.Action) bool {
			return slices.Contains(a.Keys, k) && (a.Why == nil || a.Why() == "")
		})
		if len([]rune(k)) == 1 && !p.Typing() && !taken {
			out = append(out, drain(p, p.Write(k))...)
			continue
		}
		out = append(out, press(p, k)...)
	}
	return out
}

// TestNoLetterOfBrowsingHasAnEffect: what somebody types who believes to write changes nothing but
// the place that is looked at.
func TestNoLetterOfBrowsingHasAnEffect(t *testing.T) {
	for _, words := range []string{"fix it", "run the tests", "Retry that", "undo it", "stop", "xyz", "delete"} {
		w := &world{messages: history(8)}
		p := open(t, w)
		p.deps.Undo = nil
		w.log = nil
		press(p, "esc")
		if !p.browsing {
			t.Fatal("esc does not browse")
		}
		out := frameKeys(p, strings.Split(words, "")...)
		for _, m := range out {
			if _, ok := m.(ui.OpenSession); ok {
				t.Errorf("%q opened a session", words)
			}
		}
		if len(w.log) > 0 || p.browsing || !strings.HasSuffix(words, p.composer.Text()) || p.composer.Text() == "" {
			t.Errorf("%q did %q, and the line holds %q", words, w.log, p.composer.Text())
		}
	}
}

// TestACommandMayFollowEsc: who pressed esc and types a command gets the commands.
func TestACommandMayFollowEsc(t *testing.T) {
	w := &world{messages: history(8)}
	p := open(t, w)
	press(p, "esc")
	frameKeys(p, strings.Split("/re", "")...)
	if v := seen(p); p.browsing || !strings.Contains(v, "/retry") {
		t.Errorf("browsing %v:\n%s", p.browsing, v)
	}
}

func TestNoLetterInTheQueueHasAnEffect(t *testing.T) {
	w, p := queueing(t, true)
	frameKeys(p, append([]string{"up"}, strings.Split("stop the tests now x", "")...)...)
	if len(w.log) > 0 || p.composer.Text() != "stop the tests now x" {
		t.Errorf("did %q, line %q", w.log, p.composer.Text())
	}
}

func TestTabNeverLeavesALine(t *testing.T) {
	w := &world{}
	p := open(t, w)
	if p.Catches("tab") {
		t.Error("of an empty line it goes to the next pane")
	}
	press(p, "h", "i")
	if !p.Catches("tab") {
		t.Fatal("it leaves a line that somebody writes")
	}
	if out := press(p, "tab"); p.composer.Text() != "hi" || len(out) != 1 || !strings.Contains(out[0].(ui.ShowToast).Text, "Nothing to complete") {
		t.Errorf("line %q, said %v", p.composer.Text(), out)
	}
	press(p, "ctrl+u", "/", "r", "e", "t", "esc") // closed; tab asks again
	if press(p, "tab"); p.composer.Text() != "/retry " {
		t.Errorf("the only offer was not taken: %q", p.composer.Text())
	}
	press(p, "ctrl+u", "@", "l", "i", "s", "t", "esc")
	if press(p, "tab"); p.composer.Text() != "@ui/list/list.go " {
		t.Errorf("the only file was not taken: %q", p.composer.Text())
	}
	press(p, "ctrl+u", "/", "r", "e", "esc")
	if press(p, "tab"); p.composer.Text() != "/re" || !p.composer.Completing() {
		t.Errorf("two offers: %q", p.composer.Text())
	}
}

func TestHistoryIsNotCaughtByCompletions(t *testing.T) {
	w := &world{}
	p := open(t, w)
	p.composer.SetHistory([]compose.Prompt{{Text: "first"}, {Text: "/undo"}, {Text: "look at @main.go"}})
	press(p, "up")
	if p.composer.Text() != "look at @main.go" || p.composer.Completing() {
		t.Fatalf("%q, completing %v", p.composer.Text(), p.composer.Completing())
	}
	if press(p, "up", "up"); p.composer.Text() != "first" {
		t.Errorf("the history stops at %q", p.composer.Text())
	}
	press(p, "down", "down", "backspace") // what is changed is written, not recalled
	if !p.composer.Completing() {
		t.Errorf("nothing is offered for %q", p.composer.Text())
	}
}

func TestCtrlDLeavesFromAnEmptyLineOnly(t *testing.T) {
	w := &world{}
	p := open(t, w)
	press(p, "a", "b", "home", "ctrl+d")
	if p.composer.Text() != "b" {
		t.Fatalf("in a line it deletes: %q", p.composer.Text())
	}
	press(p, "backspace", "delete")
	p.composer.Attach(chat.Part{Kind: chat.PartPaste, Name: "paste 1: 9 lines", Text: "x"})
	if out := press(p, "ctrl+d"); len(out) != 1 || out[0] != (ui.KeyIgnored{Key: "ctrl+d"}) || !strings.Contains(p.leaveAction().Why(), "attached") {
		t.Errorf("with a paste above the line: %+v", out)
	}
	out := press(p, "ctrl+u", "ctrl+d")
	if len(out) != 1 || out[0] != (ui.Leave{Key: "ctrl+d"}) {
		t.Errorf("got %v", out)
	}
}

func TestAPasteOfNothingVisibleIsTold(t *testing.T) {
	p := open(t, &world{})
	got := drain(p, p.Update(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune("\x01\x1b[31m")}))
	if len(got) != 1 || !strings.Contains(got[0].(ui.ShowToast).Text, "nothing was taken") || !p.composer.Empty() {
		t.Errorf("got %+v, line %q", got, p.composer.Text())
	}
}

func TestACommandIsPutBeforeWhatStandsThere(t *testing.T) {
	w := &world{messages: history(4)}
	p := open(t, w)
	press(p, "t", "h", "i", "s")
	p.browsing = true
	p.Begin("/review ")
	if p.composer.Text() != "/review this" || p.browsing {
		t.Errorf("line %q, browsing %v", p.composer.Text(), p.browsing)
	}
}

// TestANameOfAnotherProgramIsTheCommand: who types what a peer calls it gets it, by one enter.
func TestANameOfAnotherProgramIsTheCommand(t *testing.T) {
	w := &world{}
	p := open(t, w)
	press(p, "/", "r", "e", "d")
	if v := seen(p); !strings.Contains(v, "/retry") || strings.Contains(v, "/redo") {
		t.Fatalf("not offered by its own name:\n%s", v)
	}
	press(p, "o")
	if out := press(p, "enter"); len(out) != 1 || out[0].(ui.ShowToast).Text != "ran /redo" {
		t.Fatalf("said %+v, line %q", out, p.composer.Text())
	}
}

// TestAnEarlierPromptIsWrittenWhole: with what was pasted, and the draft comes back behind it.
func TestAnEarlierPromptIsWrittenWhole(t *testing.T) {
	p := open(t, &world{})
	paste := chat.Part{Kind: chat.PartPaste, Name: "paste 1: 9 lines", Text: "whole"}
	p.composer.SetHistory([]compose.Prompt{{Text: "look at it", Parts: []chat.Part{paste}}, {Text: "other"}, {Text: "other words"}})
	press(p, "l", "o", "o", "k")
	box := press(p, "ctrl+r")[0].(ui.ShowOverlay).Overlay
	box.Restyle(p.env.s)
	if v := picture(t, box, 80, 24); !strings.Contains(v, "look at it") || !strings.Contains(v, "[paste 1: 9 lines]") || strings.Contains(v, "other") {
		t.Errorf("what stands in the line is not looked for:\n%s", v)
	}
	if !hit(p, box, "enter") || p.composer.Text() != "look at it" || len(p.composer.Parts()) != 1 {
		t.Fatalf("the line holds %q with %v", p.composer.Text(), p.composer.Parts())
	}
	if press(p, "down", "down", "down"); p.composer.Text() != "look" || len(p.composer.Parts()) != 0 {
		t.Errorf("the draft is %q", p.composer.Text())
	}
}

// TestAKeyOfTheLineThatWasTakenAwayDoesNothing: enter sends nothing for who gave it to something
// else.
func TestAKeyOfTheLineThatWasTakenAwayDoesNothing(t *testing.T) {
	w := &world{}
	p := open(t, w)
	p.deps.Key = func(id, usual string) string {
		return map[string]string{"conversation.line.send": "alt+enter", "conversation.line.break": "enter"}[id]
	}
	w.log = nil
	press(p, "h", "i")
	for _, key := range []string{"enter", "alt+enter"} {
		if out := drain(p, p.Update(keyMsg(key))); len(w.log) > 0 || p.composer.Text() != "hi" || len(out) != 1 || out[0] != (ui.KeyIgnored{Key: key}) {
			t.Errorf("%s did %q, line %q, said %v", key, w.log, p.composer.Text(), out)
		}
	}
}
