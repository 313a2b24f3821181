package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// Issue 11, done-when 3: two sessions of one process, side by side on the screen, with models,
// tools and levels of their own; in one somebody answers, in the other nobody does.
func TestTwoSplitsHaveModelToolsLevelAndInteractivityOfTheirOwn(t *testing.T) {
	t.Parallel()
	run := func(command string) modeltest.Turn {
		return modeltest.Turn{Calls: []modeltest.Call{{Name: "terminal", Args: `{"command": "` + command + `"}`}}}
	}
	h, server := homeWith(t, run("rm old"), run("touch new"), modeltest.Turn{Text: "Refused, I stop."}, modeltest.Turn{Text: "It is gone."})
	h.configure(strings.Replace(serverSettings(server), "    api_key", "    models: [test-model, other-model]\n    api_key", 1))
	if err := os.WriteFile(filepath.Join(h.work, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := h.open()
	say(s, "remove the old one")
	s.WaitFor("[ Deny ]")
	waitUntilHeard(s, ctrlY, "[ Deny ]") // later: the left one goes on asking
	s.WaitFor("1 waits for you")

	s.Type(split)
	s.WaitFor("New conversation")
	say(s, "/model scripted/other-model")
	waitBottom(s, "other-model")
	say(s, "/level read")
	waitBottom(s, "before any change")
	say(s, "/toolsets terminal")
	s.WaitFor("tools: terminal")
	say(s, "/away on")
	waitBottom(s, "away: refuses before any change")
	say(s, "make a new one")
	s.WaitFor("Refused, I stop.")
	if _, err := os.Stat(filepath.Join(h.work, "new")); err == nil {
		t.Error("the right one ran what its level forbids, with nobody there to ask")
	}
	if p := s.WaitFor("1 waits for you"); strings.Contains(p, "2 waits") {
		t.Errorf("the right one asked:\n%s", p)
	}

	s.Type(altTwo) // to the left one
	waitBottom(s, "test-model")
	waitBottom(s, "asks for risky things")
	s.Type(ctrlY)
	s.WaitFor("[ Deny ]")
	waitUntilHeard(s, "o", "[ Deny ]")
	picture := s.WaitFor("It is gone.")
	if !strings.Contains(picture, "Refused, I stop.") {
		t.Errorf("they do not stand side by side:\n%s", picture)
	}
	if _, err := os.Stat(filepath.Join(h.work, "old")); err == nil {
		t.Error("what was allowed at the left did not run")
	}
	requests := server.Requests()
	left, right := requests[0], requests[1]
	if left.Model != "test-model" || right.Model != "other-model" {
		t.Errorf("models %q and %q", left.Model, right.Model)
	}
	if !slices.Contains(left.Tools, "write_file") || slices.Contains(right.Tools, "write_file") || !slices.Contains(right.Tools, "terminal") {
		t.Errorf("tools %v and %v", left.Tools, right.Tools)
	}
	leave(t, s)
}
