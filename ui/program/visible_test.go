package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/ui"
	"hermes/ui/uitest"
)

// Issue 13, section 3: nothing is hidden.

const (
	altA = "\x1ba"
	altT = "\x1bt"
)

// bottom is the status row.
func bottom(picture string) string {
	rows := strings.Split(strings.TrimRight(picture, "\n "), "\n")
	return rows[len(rows)-1]
}

func waitBottom(s *uitest.Screen, words string) {
	s.Wait(words+" on the status row", func(p string) bool { return strings.Contains(bottom(p), words) })
}

func TestOneKeyChangesWhatIsAskedAndOneHowLongTheModelThinks(t *testing.T) {
	t.Parallel()
	touch := modeltest.Turn{Calls: []modeltest.Call{{Name: "terminal", Args: `{"command": "touch made"}`}}}
	h, server := homeWith(t, touch, modeltest.Turn{Text: "Here is my plan."})
	if err := os.MkdirAll(filepath.Join(h.work, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.work, ".git", "HEAD"), []byte("ref: refs/heads/feature/rain\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := h.open()
	waitBottom(s, "work feature/rain")
	s.Type(altA) // behind standard comes all, which asks
	s.WaitFor("Ask for nothing")
	s.Type("plan")
	s.WaitGone("Ask for nothing")
	s.Type(enter)
	waitBottom(s, "plans only, changes nothing")
	s.Type(altT)
	waitBottom(s, "thinks low")
	say(s, "make a file")
	s.WaitFor("Here is my plan.")
	waitBottom(s, "ready")
	if _, err := os.Stat(filepath.Join(h.work, "made")); err == nil {
		t.Error("a file was made while planning")
	}
	requests := server.Requests()
	if got := string(requests[0].Body); !strings.Contains(got, `"reasoning_effort":"low"`) {
		t.Errorf("the request does not say how long to think: %s", got)
	}
	if got := string(requests[1].Body); !strings.Contains(got, "wants a plan first") {
		t.Errorf("the model is not told why: %s", got)
	}
	s.Type(altA)
	waitBottom(s, "asks before any change")
	leave(t, s)
}

func TestTheStatusCardSaysHowTheSessionStands(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "Hello.", Usage: &modeltest.Usage{Input: 9000, Output: 1000}})
	h.configure(serverSettings(server) + "    models:\n      test-model: {context_length: 20000, price_in: 10, price_out: 10}\n")
	s := h.open()
	say(s, "hi")
	s.WaitFor("Hello.")
	waitBottom(s, "50% of 20k")
	say(s, "/status")
	picture := s.WaitFor("─ Status ─")
	for _, want := range []string{
		"scripted/test-model", "50% used: 10,000 of 20,000 tokens", "2 messages, 9,000 tokens read, 1,000 written, $0.100", h.work,
		"asks for risky things", "default: this machine", "nothing in the background", "on: /memory shows it", "/skills lists them", "default, " + h.dir,
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("the card lacks %q:\n%s", want, picture)
		}
	}
	s.Type(esc)
	leave(t, s)
	s = h.screen(120, 40, ui.Options{}, "last") // gone on with: known before anything is said
	waitBottom(s, "50% of 20k")
	leave(t, s)
}

// With the settings as they come: the window is the one that the server tells, and thoughts leave
// their line.
func TestWhatAServerTellsOfItsModelAndItsThoughtsAreSeen(t *testing.T) {
	t.Parallel()
	m := modeltest.NewScript(t, modeltest.Script{
		Models: []modeltest.Model{{ID: "test-model", ContextLength: 20_000}},
		Turns: []modeltest.Turn{
			{Reasoning: "First the suite.", Text: "Hello.", Usage: &modeltest.Usage{Input: 9000, Output: 1000}},
			{Text: "Again.", Usage: &modeltest.Usage{Input: 9000, Output: 1000}},
		},
	})
	h := newHome(t, "display:\n  theme: default\n")
	h.configure(serverSettings(m))
	s := h.open()
	say(s, "hi")
	s.WaitFor("▸ thought")
	s.WaitFor("Hello.")
	waitBottom(s, "50% of 20k")
	say(s, "/status")
	s.WaitFor("50% used: 10,000 of 20,000 tokens")
	s.Type(esc)
	leave(t, s)
}

func TestAProfileIsChosenOnTheScreen(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	if r := h.run("profile", "create", "work"); r.code != 0 {
		t.Fatal(r)
	}
	s := h.open()
	say(s, "/profile wirk")
	s.WaitFor(`there is no profile "wirk" (did you mean work?)`)
	say(s, "/profile")
	picture := s.WaitFor("Profile of the next start")
	if !strings.Contains(picture, "in use") || !strings.Contains(picture, "work") {
		t.Errorf("the choice:\n%s", picture)
	}
	s.Type("work")
	s.Type(enter)
	s.WaitFor("the next start uses profile work")
	leave(t, s)
	if r := h.run("config", "path"); !strings.Contains(r.out, "/profiles/work/config.yaml") {
		t.Errorf("the next start: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "profiles", "wirk")); err == nil {
		t.Error("the mistyped one was made")
	}
}
