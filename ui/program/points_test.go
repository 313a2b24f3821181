package program

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/ui"
)

// Issue 13: what a person meets in a day's work, in a real terminal where that matters.

// startIn opens the program in a pane of a real terminal, with a model.
func startIn(t *testing.T, turns ...modeltest.Turn) (*tmux, *modeltest.Server) {
	t.Helper()
	server := modeltest.NewScript(t, modeltest.Script{Turns: turns})
	x := startTmux(t)
	x.h.configure(serverSettings(server))
	x.shell("unset HERMES_MODEL; clear") // the shell began before there was a model
	return x, server
}

// Section 2: `hermes "fix the tests"` opens with the prompt, and it is sent once.
func TestAPromptBehindTheNameOpensTheScreenWithIt(t *testing.T) {
	t.Parallel()
	x, server := startIn(t, modeltest.Turn{Text: "They pass now."})
	x.typed(`hermes "fix the tests"`)
	x.keys("Enter")
	x.shows("They pass now.")
	if p := x.picture(); !strings.Contains(p, "You ") || !strings.Contains(p, "fix the tests") {
		t.Errorf("the prompt does not stand in the conversation:\n%s", p)
	}
	n := 0
	for _, r := range server.Requests() {
		n += min(1, strings.Count(string(r.Body), `"fix the tests"`))
	}
	if n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	x.wantModes("111", "after the answer")
	x.keys("Up")
	x.shows("❯ fix the tests")
}

// Section 2: a command behind the name stands in the line and does not run, as nobody has seen it.
func TestACommandBehindTheNameWaitsForEnter(t *testing.T) {
	t.Parallel()
	x, server := startIn(t)
	x.typed("hermes -- /status")
	x.keys("Enter")
	x.shows("asks for risky things")
	x.shows("❯ /status")
	if len(server.Requests()) != 0 {
		t.Error("a model was asked")
	}
}

// A conversation that is too short for it is no failure of /compress.
func TestNothingToCompressIsNoFailure(t *testing.T) {
	t.Parallel()
	x, _ := startIn(t, modeltest.Turn{Text: "Hello back."})
	x.typed(`hermes "say hello to me"`)
	x.keys("Enter")
	x.shows("Hello back.")
	x.typed("/compress")
	x.keys("Enter")
	x.shows("nothing to compress: the conversation is short")
	if p := x.picture(); strings.Contains(p, "✕") {
		t.Errorf("it is shown as a failure:\n%s", p)
	}
}

// Section 1: after kill -9 during a turn nothing runs on, the conversation is there, and no time is
// claimed that nobody measured.
func TestAfterAKillTheConversationClaimsNoTime(t *testing.T) {
	t.Parallel()
	x, server := startIn(t, modeltest.Turn{Calls: []modeltest.Call{{Name: "terminal", Args: `{"command":"echo $$ >busy; exec sleep 300"}`}}}, modeltest.Turn{Text: "Gone on."})
	x.h.configure(serverSettings(server) + "approvals:\n  mode: off\n")
	_, process := x.openUntil("asks for nothing")
	x.typed("work for long")
	x.shows("❯ work for long")
	x.keys("Enter")
	busy := 0
	eventually(t, "a running command", func() bool {
		text, err := os.ReadFile(filepath.Join(x.h.work, "busy"))
		if err == nil {
			busy, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err == nil
	})
	x.shows("esc stop")
	if err := syscall.Kill(process, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the command", func() bool { return gone(busy) })
	s := x.h.screen(120, 40, ui.Options{}, "last")
	s.WaitFor("work for long") // the conversation is read a moment after its calls
	if picture := s.WaitFor("interrupted"); strings.Contains(picture, "0 ms") {
		t.Errorf("after the kill:\n%s", picture)
	}
	s.WaitFor("ready")
	say(s, "go on")
	s.WaitFor("Gone on.")
	leave(t, s)
}

// Section 2: enter in the list of skills writes the skill's command, and sends nothing.
func TestASkillChosenInTheListIsWrittenIntoTheLine(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "Released."})
	putFile(t, filepath.Join(h.dir, "skills/release/SKILL.md"), skillText("release", "How releases are made.", "Run make."))
	s := h.open()
	say(s, "/skills")
	s.WaitFor("enter writes its command")
	s.Type("/")
	s.WaitFor("name, category, state")
	s.Type("releas")
	s.WaitFor("How releases are made.")
	s.Type(enter)
	s.WaitFor("enter writes its command")
	s.Type(enter)
	s.WaitFor("❯ /release ")
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	s.Type("now" + enter)
	s.WaitFor("Released.")
	if len(server.Requests()) == 0 || !strings.Contains(string(server.Requests()[0].Body), "Run make.") {
		t.Error("the skill did not go along")
	}
	leave(t, s)
}
