package program

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/provider/modeltest"
	"hermes/ui"
	"hermes/ui/cli"
	"hermes/ui/uitest"
	"hermes/ui/workbench"
)

// Keys as a terminal sends them.
const (
	enter  = "\r"
	esc    = "\x1b"
	ctrlC  = "\x03"
	ctrlY  = "\x19"
	altOne = "\x1b1"
	altTwo = "\x1b2"
	split  = "\x1c" // ctrl+\
)

// screen opens the workbench of a home on a terminal in memory, with the session that is named.
func (h *home) screen(w, hi int, opt ui.Options, session string) *uitest.Screen {
	h.t.Helper()
	return h.screenOf(h.start(), w, hi, opt, session)
}

// screenOf is screen as a command line opens it.
func (h *home) screenOf(start cli.Start, w, hi int, opt ui.Options, session string) *uitest.Screen {
	h.t.Helper()
	s := uitest.Drive(h.t, opt, w, hi, func(ctx context.Context, o ui.Options, started func(*ui.Program)) error {
		return runScreen(ctx, start, workbench.Options{Session: session, UI: o, Started: started})
	})
	h.t.Cleanup(func() {
		if f := s.Term.Stats().Faults; len(f) > 0 {
			h.t.Errorf("the terminal did not understand: %q", f)
		}
	})
	return s
}

// open is screen in the usual size, once it can be used.
func (h *home) open() *uitest.Screen {
	h.t.Helper()
	s := h.screen(160, 44, ui.Options{}, "")
	s.WaitFor("asks for risky things") // the store is open
	return s
}

// say types a prompt and sends it, once the screen shows it.
func say(s *uitest.Screen, prompt string) {
	s.Type(prompt)
	s.WaitFor("❯ " + prompt)
	s.Type(enter)
}

// agree says yes to a question that shows words, past the half second in which no yes is heard.
func agree(s *uitest.Screen, words string) {
	s.WaitFor(words)
	time.Sleep(600 * time.Millisecond)
	s.Type("y")
}

// leave quits as a person does.
func leave(t *testing.T, s *uitest.Screen) {
	t.Helper()
	s.Type(ctrlC)
	s.WaitFor("ctrl+c again quits")
	s.Type(ctrlC)
	select {
	case err := <-s.Done():
		if err != nil {
			t.Errorf("leaving: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("ctrl+c twice does not leave")
	}
}

// column returns what stands in the rows of the picture from the first place of title on: a pane,
// when title is its own.
func column(picture, title string) string {
	var out []string
	at := -1
	for _, row := range strings.Split(picture, "\n") {
		if i := strings.Index(row, title); i >= 0 && at < 0 {
			at = len([]rune(row[:i]))
		}
		if cells := []rune(row); at >= 0 && at < len(cells) {
			out = append(out, string(cells[at:]))
		}
	}
	return strings.Join(out, "\n")
}

func TestANewcomerRunsACommandAndFindsItAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	s := h.open()
	go1 := filepath.Join(h.work, "go")
	say(s, "$ echo begun; until test -e go; do sleep 0.05; done; uname -a")
	s.Wait("live output", func(p string) bool {
		return strings.Contains(column(p, "─ 3 Output"), "begun") && strings.Contains(p, "running")
	})
	if err := os.WriteFile(go1, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("✓ $ ")
	picture := s.WaitFor("ready")
	if n := strings.Count(picture, "begun"); n < 2 {
		t.Errorf("the result is not in both panes:\n%s", picture)
	}
	leave(t, s)

	s = h.open()
	s.Type(altOne)
	s.Type("/")
	s.Type("uname")
	s.WaitFor("«uname»")
	s.Settle()
	s.Type(enter)
	s.WaitFor("✓ $ ")
	say(s, "$ echo once more")
	s.Wait("the answer", func(p string) bool { return strings.Contains(column(p, "─ 3 Output"), "once more") })
	s.WaitFor("ready")
	leave(t, s)
}

func TestAnApprovalIsAskedAndAnswered(t *testing.T) {
	t.Parallel()
	remove := func(name string) modeltest.Turn {
		return modeltest.Turn{Calls: []modeltest.Call{{Name: "terminal", Args: `{"command": "rm ` + name + `"}`}}}
	}
	hold := make(chan struct{})
	first := remove("refused.txt")
	first.Text, first.After, first.Hold = "Words before the call.", 1, hold
	h, _ := homeWith(t, first, modeltest.Turn{Text: "So I did not."}, remove("allowed.txt"), modeltest.Turn{Text: "It is gone."})
	for _, name := range []string{"refused.txt", "allowed.txt"} {
		if err := os.WriteFile(filepath.Join(h.work, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := h.open()
	say(s, "remove the first")
	s.WaitFor("Words")
	s.Type("o") // over a line that somebody writes a question does not open
	s.WaitFor("❯ o")
	close(hold)
	s.WaitFor("1 waits for you")
	s.Type("o")
	s.WaitFor("❯ oo") // a letter belongs to the composer, not to the question
	s.Type("\x15")    // ctrl+u
	s.WaitGone("❯ oo")
	if !strings.Contains(s.Settle(), "[ Deny ]") {
		s.Type(ctrlY)
	}
	s.WaitFor("[ Deny ]")
	waitUntilHeard(s, enter, "[ Deny ]")
	s.WaitFor("So I did not.")
	s.WaitFor("ready")
	say(s, "remove the second")
	s.WaitFor("[ Deny ]") // it opens by itself over an empty line
	chooseAnswer(s, "o", "[ Once ]")
	s.WaitFor("It is gone.")
	s.WaitFor("ready")
	for name, want := range map[string]bool{"refused.txt": true, "allowed.txt": false} {
		if _, err := os.Stat(filepath.Join(h.work, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// chooseAnswer chooses one by its letter or number, in a question that opened by itself, and gives
// it.
func chooseAnswer(s *uitest.Screen, letter, chosen string) {
	time.Sleep(600 * time.Millisecond) // what comes earlier goes into the line
	s.Type(letter)
	s.WaitFor(chosen)
	waitUntilHeard(s, enter, chosen)
}

// waitUntilHeard presses a key until part is gone: a question hears nobody for its first half
// second, and each key that comes too early starts that anew. What was heard is given time to show,
// so that no key too many lands in the composer.
func waitUntilHeard(s *uitest.Screen, key, part string) {
	there := func() bool { return strings.Contains(s.Settle(), part) }
	for time.Sleep(600 * time.Millisecond); there(); {
		s.Type(key)
		for range 100 {
			if !there() {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func TestTalkWhileItWorks(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	h, server := homeWith(t,
		modeltest.Turn{Reasoning: "Long thoughts.", Text: "First words, then silence.", After: 3, Hold: hold},
		modeltest.Turn{Text: "The queued one is answered."},
		modeltest.Turn{Text: "Words that never end.", After: 1, Hold: make(chan struct{})},
	)
	h.configure(serverSettings(server) + "display:\n  busy_input_mode: queue\n")
	s := h.open()
	say(s, "start")
	s.WaitFor("First")
	say(s, "and then this")
	s.WaitFor("1 queued")
	close(hold)
	s.WaitFor("First words, then silence.")
	s.WaitFor("The queued one is answered.")
	s.WaitGone("1 queued")
	s.WaitFor("ready")
	say(s, "third")
	s.WaitFor("Words")
	s.Type(esc)
	s.WaitFor("ready")
	s.WaitFor("interrupted")
	s.Settle()
}

func TestASessionThatIsGoneOnWithSaysItsModelAndWhatItHasCost(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "Costly.", Usage: &modeltest.Usage{Input: 1000, Output: 1000}})
	h.configure(serverSettings(server) + "    models:\n      test-model: {context_length: 20000, price_in: 10, price_out: 10}\n")
	s := h.open()
	say(s, "hello")
	s.WaitFor("Costly.")
	s.WaitFor("$0.020")
	leave(t, s)
	s = h.screen(160, 44, ui.Options{}, "last")
	s.WaitFor("Costly.")
	s.Wait("model and cost on the status row", func(p string) bool {
		rows := strings.Split(strings.TrimSpace(p), "\n")
		last := rows[len(rows)-1]
		return strings.Contains(last, "test-model") && strings.Contains(last, "$0.020")
	})
	leave(t, s)
}
