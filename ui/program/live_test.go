package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/provider/modeltest"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func TestTwoSessionsSideBySide(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	h, _ := homeWith(t,
		modeltest.Turn{Text: "Left begins and ends.", After: 2, Hold: hold},
		modeltest.Turn{Calls: []modeltest.Call{{Name: "read_file", Args: `{"path": "right.txt"}`}}},
		modeltest.Turn{Text: "Right is done."},
	)
	if err := os.WriteFile(filepath.Join(h.work, "right.txt"), []byte("words of the right\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := h.open()
	say(s, "left one")
	s.WaitFor("Left begins")
	s.Type(split)
	s.WaitFor("New conversation")
	say(s, "right one")
	s.WaitFor("Right is done.")
	s.Wait("the output of the right one", func(p string) bool { return strings.Contains(column(p, "─ 3 Output"), "words of the right") })
	s.WaitFor("1 more at work")
	close(hold)
	s.WaitFor("Left begins and ends.")
	s.WaitGone("more at work")
	s.Type(altTwo) // the other one: the output follows
	s.Wait("the output of the left one", func(p string) bool { return !strings.Contains(column(p, "─ 3 Output"), "words of the right") })
	s.Type("for the left")
	s.WaitFor("❯ for the left")
	leaveWithText(t, s)
	svc, _ := h.sessions()
	for title, want := range map[string]int{"left one": 2, "right one": 4} {
		info, err := svc.Resolve(t.Context(), title)
		if err != nil || info.Messages != want {
			t.Errorf("%s: %d messages, want %d: %v", title, info.Messages, want, err)
		}
	}
}

// leaveWithText leaves while something is written: the first ctrl+c clears it.
func leaveWithText(t *testing.T, s *uitest.Screen) {
	t.Helper()
	s.Type("\x15")
	s.WaitGone("❯ for")
	leave(t, s)
}

// background is the colour behind the first cell of the picture.
func background(s *uitest.Screen) text.Colour { return s.Term.Rows()[0][0].Pen.Bg }

func TestThemesAndSettingsChangeWhileItRuns(t *testing.T) {
	t.Parallel()
	h := newHome(t, "display:\n  theme: default\n")
	full := style.True
	s := h.screen(120, 40, ui.Options{Level: &full}, "")
	s.WaitFor("asks for risky things")
	dark := background(s)
	say(s, "/theme daylight")
	light := changed(t, s, dark)
	eventually(t, "the kept theme", func() bool {
		settings, err := os.ReadFile(filepath.Join(h.dir, "config.yaml"))
		return err == nil && strings.Contains(string(settings), "daylight")
	})
	h.configure("display:\n  theme: sol-dark\n")
	other := changed(t, s, light)
	h.configure("display:\n  theme: default\n")
	if back := changed(t, s, other); back != dark {
		t.Errorf("the default theme is %v, was %v", back, dark)
	}
	h.configure("approvals:\n  mode: off\n")
	s.WaitFor("asks for nothing")
	h.configure("approvals:\n  mode: off\ndisply:\n  theme: daylight\n")
	s.WaitFor("config.yaml:3")
	say(s, "$ echo still alive")
	s.WaitFor("✓ $ ")
}

// changed waits until the background is another one.
func changed(t *testing.T, s *uitest.Screen, from text.Colour) text.Colour {
	t.Helper()
	deadline := time.After(patience)
	for {
		next := s.Term.Changed()
		if now := background(s); now != from {
			return now
		}
		select {
		case <-next:
		case <-deadline:
			t.Fatalf("the colours stay %v", from)
		}
	}
}

func TestBrokenSettingsNeverKeepItFromOpening(t *testing.T) {
	t.Parallel()
	h := newHome(t, "mdoel: x\ndisplay: [\n")
	s := h.open()
	s.WaitFor("config.yaml")
	say(s, "$ echo it works")
	s.WaitFor("✓ $ ")
}

func TestIdleIsIdleWithTheWholeProgram(t *testing.T) {
	h, _ := homeWith(t, modeltest.Turn{Calls: []modeltest.Call{{Name: "read_file", Args: `{"path": "config.txt"}`}}}, modeltest.Turn{Text: "Nothing there."})
	s := h.open()
	s.WaitFor("test-model")
	quiet(t, s, "after the start")
	say(s, "look")
	s.WaitFor("Nothing there.")
	s.WaitFor("ready")
	quiet(t, s, "after a turn")
}

// quiet fails when something is written or handled in every one of some seconds without cause. The
// first ones belong to the last timers of what was going on, which come late on a busy machine;
// what goes on by itself comes in all of them.
func quiet(t *testing.T, s *uitest.Screen, when string) {
	t.Helper()
	s.Settle()
	var taken, writes int
	for range 10 {
		hadTaken, hadWritten := s.Program.Taken(), s.Term.Stats().Writes
		time.Sleep(time.Second) // nothing must happen: a stretch of time is the only way to see that
		taken, writes = int(s.Program.Taken()-hadTaken), int(s.Term.Stats().Writes-hadWritten)
		if taken == 0 && writes == 0 {
			return
		}
	}
	t.Errorf("%s: %d messages and %d writes in a second without cause", when, taken, writes)
}
