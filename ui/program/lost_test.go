package program

import (
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/provider/modeltest"
	"hermes/core/session"
	"hermes/ui"
	"hermes/ui/uitest"
)

// Issue 13, section 1: nothing is lost.

const ctrlD = "\x04"

// pasted is a paste as a terminal sends it.
func pasted(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

func TestUndoAndHistoryGivePastedChipsBackWhole(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "First answer."}, modeltest.Turn{Text: "Second answer."}, modeltest.Turn{Text: "Third answer."})
	long := strings.Repeat("a line of 容器 with ümlauts\n", 40) + "the last one"
	s := h.open()
	s.Type(pasted(long))
	s.WaitFor("[paste 1: 41 lines]")
	say(s, "what is this?")
	s.WaitFor("First answer.")
	s.WaitFor(" ready ")
	say(s, "/undo")
	agree(s, "Take the last prompt and its answer away")
	s.Wait("the prompt and its paste in the line", func(p string) bool {
		return strings.Contains(p, "❯ what is this?") && strings.Contains(p, "[paste 1: 41 lines]") && !strings.Contains(p, "First answer.")
	})
	s.Type(enter)
	s.WaitFor("Second answer.")
	s.WaitFor(" ready ")
	leave(t, s)
	s = h.open() // another process, another session: the history has it still
	s.Settle()   // the history is read
	s.Type("\x1b[A")
	s.WaitFor("❯ what is this?")
	s.WaitFor("[paste 1: 41 lines]")
	s.Type(enter)
	s.WaitFor("Third answer.")
	for i, r := range server.Requests() {
		if last := r.Messages[len(r.Messages)-1].Text(); strings.Count(last, "a line of 容器 with ümlauts\n") != 40 || !strings.Contains(last, "the last one") {
			t.Errorf("request %d carries %q", i+1, last)
		}
	}
	leave(t, s)
}

func TestAClarifyAnswerStandsInTheConversation(t *testing.T) {
	t.Parallel()
	ask := calling("clarify", map[string]any{"question": "Which colour is it?", "choices": []string{"red", "green"}})
	h, server := homeWith(t, modeltest.Turn{Calls: []modeltest.Call{ask}}, modeltest.Turn{Text: "Painted."})
	s := h.open()
	say(s, "paint it")
	s.WaitFor("1  red")
	time.Sleep(600 * time.Millisecond) // a question hears nothing at first
	s.Type("2" + enter)
	s.WaitFor("Painted.")
	answered := func(p string) bool {
		return strings.Contains(p, "Which colour is it?") && strings.Contains(p, "The person answered: green")
	}
	s.Wait("question and answer in the conversation", answered)
	if got := heard(server); len(got) != 1 || !strings.Contains(got[0], "green") {
		t.Errorf("the model heard %q", got)
	}
	leave(t, s)
	s = h.screen(160, 44, ui.Options{}, "last")
	s.WaitFor("Painted.")
	s.Wait("both after a restart", answered)
	leave(t, s)
}

// whatIsKept is what a message must not lose: when, by which model, how long and for how much.
func whatIsKept(m chat.Message) chat.Message {
	return chat.Message{Role: m.Role, Text: m.Text, At: m.At, Model: m.Model, Usage: m.Usage}
}

func TestForkedAndResumedMessagesKeepTimeModelAndTokens(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "Costly.", Usage: &modeltest.Usage{Input: 1000, Output: 234}})
	h.configure(serverSettings(server) + "    models:\n      test-model: {context_length: 20000, price_in: 10, price_out: 10}\ndisplay:\n  timestamps: true\n")
	s := h.screen(240, 44, ui.Options{}, "") // a fork stands beside its origin, and has room for all of the line
	s.WaitFor("asks for risky things")
	say(s, "hello")
	s.WaitFor("Costly.")
	s.WaitFor(" ready ")
	name := nameLine(s.WaitFor("234 tokens"))
	for _, want := range []string{"test-model", "$0.012", ":"} {
		if !strings.Contains(name, want) {
			t.Errorf("%q lacks %q", name, want)
		}
	}
	leave(t, s)
	s = h.screen(240, 44, ui.Options{}, "last")
	s.Wait("the same line in the resumed session", func(p string) bool { return nameLine(p) == name })
	say(s, "/fork")
	s.Wait("the same line in the fork", func(p string) bool {
		return strings.Contains(p, "─ 2 hello #2") && strings.Count(p, name) == 2
	})
	leave(t, s)
	svc, _ := h.sessions()
	origin, fork := storedMessages(t, svc, "hello"), storedMessages(t, svc, "hello #2")
	if len(origin) != 2 || len(fork) != 2 {
		t.Fatalf("%d and %d messages", len(origin), len(fork))
	}
	for i, m := range origin {
		if a, b := whatIsKept(m), whatIsKept(fork[i]); !a.At.Equal(b.At) || a.Model != b.Model || a.Usage != b.Usage || a.Text != b.Text {
			t.Errorf("message %d: %+v became %+v", i, a, b)
		}
	}
}

// nameLine is the line over an answer.
func nameLine(picture string) string {
	for line := range strings.Lines(picture) {
		if _, facts, ok := strings.Cut(line, "Hermes "); ok && strings.Contains(facts, "tokens") {
			facts, _, _ = strings.Cut(facts, "│")
			return strings.TrimSpace(facts)
		}
	}
	return ""
}

func storedMessages(t *testing.T, svc *session.Service, title string) []chat.Message {
	t.Helper()
	info, err := svc.Resolve(t.Context(), title)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := svc.Messages(t.Context(), info.UID, session.Page{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// leaveByCtrlD leaves as at the prompt of a shell, asked once.
func leaveByCtrlD(t *testing.T, s *uitest.Screen) {
	t.Helper()
	s.Type(ctrlD)
	s.WaitFor("ctrl+d again leaves")
	s.Type(ctrlD)
	select {
	case err := <-s.Done():
		if err != nil {
			t.Errorf("leaving: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("ctrl+d twice does not leave")
	}
}

func TestCtrlDOnAnEmptyLineLeavesAskedOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	s := h.open()
	s.Type("ab\x1b[H" + ctrlD) // in a line it deletes
	s.WaitFor("❯ b")
	s.Type("\x05\x7f")
	s.WaitGone("❯ b")
	leaveByCtrlD(t, s)
}

func TestLeavingSaysTokensAndCostAndTheProfile(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "Costly.", Usage: &modeltest.Usage{Input: 1000, Output: 1000}})
	h.configure(serverSettings(server) + "    models:\n      test-model: {context_length: 20000, price_in: 10, price_out: 10}\n")
	if r := h.run("profile", "clone", "default", "work"); r.code != 0 {
		t.Fatal(r)
	}
	start := h.start()
	start.Options.Profile = "work"
	start.Config, start.Problems = config.Load(start.Options)
	s := h.screenOf(start, 120, 40, ui.Options{}, "")
	s.WaitFor("asks for risky things")
	say(s, "hello there")
	s.WaitFor("Costly.")
	s.WaitFor(" ready ")
	leaveByCtrlD(t, s)
	said := s.WaitFor("hermes --profile work --resume ")
	if !strings.Contains(said, "hello there, 2k tokens, $0.0200") {
		t.Errorf("%s", said)
	}
}

func TestUndoAndHistoryGiveAnAttachedImageBack(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "First answer."}, modeltest.Turn{Text: "Second answer."}, modeltest.Turn{Text: "Third answer."})
	h.configure(serverSettings(server) + "    models:\n      test-model: {images: true}\n")
	drawChart(t, h.work, "chart.png")
	whole := func(p string) bool {
		return strings.Contains(p, "❯ what is this?") && strings.Contains(p, "[chart.png]")
	}
	s := h.open()
	say(s, "/attach chart.png")
	s.WaitFor("[chart.png")
	say(s, "what is this?")
	s.WaitFor("First answer.")
	s.WaitFor(" ready ")
	say(s, "/undo")
	agree(s, "Take the last prompt and its answer away")
	s.Wait("the prompt and its image in the line", whole)
	s.Type(enter)
	s.WaitFor("Second answer.")
	s.WaitFor(" ready ")
	s.Type("\x1b[A")
	s.Wait("both from the history", whole)
	s.Type(enter)
	s.WaitFor("Third answer.")
	for i, want := range []int{1, 1, 2} {
		if n := len(sentImages(t, server.Requests()[i])); n != want {
			t.Errorf("request %d carries %d images, want %d", i+1, n, want)
		}
	}
	leave(t, s)
	s = h.open() // another process has not kept it, and says so
	s.Settle()
	s.Type("\x1b[A")
	s.WaitFor("[chart.png (not kept)]")
	leaveWithText(t, s)
}
