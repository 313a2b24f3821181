package conversation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
)

// queueing returns a pane with three prompts that wait.
func queueing(t *testing.T, running bool) (*world, *Pane) {
	w := &world{messages: history(4), queue: []event.QueuedInput{
		{ID: "q1", Text: "then the report", Mode: event.InputQueue},
		{ID: "q2", Text: "then the mail", Mode: event.InputQueue},
		{ID: "q3", Text: "then rest", Mode: event.InputQueue},
	}}
	p := open(t, w)
	if running {
		say(p, event.TurnStarted{})
	}
	w.log = nil
	return w, p
}

func TestEveryQueuedPromptCanBeReached(t *testing.T) {
	for _, tt := range []struct {
		name    string
		running bool
		keys    []string
		want    string
	}{
		{"up chooses the newest", true, []string{"up", "delete"}, "drop q3"},
		{"up again goes to older ones", true, []string{"up", "up", "up", "up", "delete"}, "drop q1"},
		{"down goes back", true, []string{"alt+e", "up", "up", "down", "delete"}, "drop q2"},
		{"send now stops the turn for it", true, []string{"up", "alt+s"}, "promote q3 interrupt"},
		{"steer", true, []string{"up", "up", "alt+t"}, "promote q2 steer"},
		{"send now while idle", false, []string{"alt+e", "alt+s"}, "promote q3 interrupt"},
		{"all of it", false, []string{"alt+s"}, "resume s"},
		{"edit in place", true, []string{"up", "up", "enter", "!", "enter"}, "edit q2 then the mail!"},
		{"letters are text", true, []string{"up", "s", "t", "o", "p", " ", "x"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, p := queueing(t, tt.running)
			press(p, tt.keys...)
			if got := strings.Join(w.log, "|"); got != tt.want {
				t.Errorf("%v did %q, want %q", tt.keys, got, tt.want)
			}
		})
	}
}

func TestEditingInPlaceKeepsTheLine(t *testing.T) {
	w, p := queueing(t, true)
	press(p, "n", "e", "w", "alt+e", "enter")
	if p.composer.Text() != "then rest" || !strings.Contains(seen(p), "editing what is queued") {
		t.Fatalf("the line holds %q:\n%s", p.composer.Text(), seen(p))
	}
	press(p, "esc")
	if p.composer.Text() != "new" || len(w.log) != 0 {
		t.Errorf("after esc: %q, did %q", p.composer.Text(), w.log)
	}
	press(p, "ctrl+u", "alt+e", "enter", "x")
	w.fail = errors.New("it was sent on")
	out := press(p, "enter")
	if p.composer.Text() != "then restx" || len(out) != 1 || !strings.Contains(out[0].(ui.ShowToast).Text, "sent on") {
		t.Errorf("what was edited is lost: %q, said %+v", p.composer.Text(), out)
	}
}

func TestTheQueueShowsWhatItIsAndHowToSendIt(t *testing.T) {
	_, p := queueing(t, true)
	if v := seen(p); !strings.Contains(v, "1 queued: then the report") || !strings.Contains(v, "alt+e changes") || strings.Contains(v, "sends on what") {
		t.Errorf("while a turn runs:\n%s", v)
	}
	say(p, event.TurnEnded{Reason: event.TurnInterrupted})
	if v := seen(p); !strings.Contains(v, "3 held: then rest") || !strings.Contains(v, "alt+s sends on what is held") {
		t.Errorf("held:\n%s", v)
	}
	p.deps.Key = func(id, usual string) string { return map[string]string{"conversation.queue.resume": "f5"}[id] }
	p.memoOK = false
	if v := seen(p); !strings.Contains(v, "f5 sends on what") {
		t.Errorf("the hint does not know the changed key:\n%s", v)
	}
}

func TestSlashQueueOpensIt(t *testing.T) {
	w, p := queueing(t, false)
	i := slices.IndexFunc(p.Actions(), func(a ui.Action) bool { return a.Slash == "queue" })
	drain(p, p.Actions()[i].Run(""))
	if !p.queue.choosing || !strings.Contains(seen(p), "▸ 3 held: then rest") {
		t.Errorf("not open:\n%s", seen(p))
	}
	press(p, "delete", "delete", "delete")
	if p.queue.choosing || len(p.queue.items) != 0 || !slices.Equal(w.log, []string{"drop q3", "drop q2", "drop q1"}) {
		t.Errorf("after three drops: %+v, %q", p.queue, w.log)
	}
	if out := drain(p, p.Actions()[i].Run("")); !strings.Contains(out[0].(ui.ShowToast).Text, "Nothing is queued") {
		t.Errorf("said %+v", out)
	}
	drain(p, p.Actions()[i].Run("one more"))
	if last := w.log[len(w.log)-1]; last != `submit s "one more" 0 queue` {
		t.Errorf("did %s", last)
	}
}

// TestChangedKeysLoseTheirDefault: without its action a key does nothing in the pane.
func TestChangedKeysLoseTheirDefault(t *testing.T) {
	_, p := queueing(t, false)
	before := p.View()
	for _, k := range []string{"pgup", "ctrl+up", "ctrl+y", "ctrl+r", "alt+q", "alt+e", "alt+s", "ctrl+home", "esc"} {
		if out := drain(p, p.Update(keyMsg(k))); len(out) != 1 || out[0] != (ui.KeyIgnored{Key: k}) || p.View() != before {
			t.Errorf("%s works without its action: %v", k, out)
		}
	}
}

// What a process or another agent said stands under its name, in the conversation and among what
// waits.
func TestWhoSaysItIsShown(t *testing.T) {
	p := open(t, &world{})
	from := chat.Author{Kind: chat.AuthorProcess, ID: "p1\x1b[2J"}
	say(p, event.MessageAdded{Message: chat.Message{ID: 90, Role: chat.RoleUser, From: from, Text: "the build ended"}})
	say(p, event.MessageAdded{Message: chat.Message{ID: 91, Role: chat.RoleUser, From: chat.Person(), Text: "good"}})
	say(p, event.TurnStarted{})
	say(p, event.QueueChanged{Items: []event.QueuedInput{
		{ID: "q1", From: from, Text: "it ended again"}, {ID: "q2", From: chat.Person(), Text: "and mine"},
	}})
	got := seen(p)
	for _, want := range []string{"Background process p1", "You", "queued: Background process p1: it ended again", "queued: and mine"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
