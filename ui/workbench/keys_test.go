package workbench

import (
	"os"
	"slices"
	"testing"

	"hermes/ui"
)

// docs/keys.md is written from the table of actions: `make docs` writes it, this test keeps it
// true.
func TestKeysDocumentIsCurrent(t *testing.T) {
	const path = "../../docs/keys.md"
	want := KeysMarkdown()
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/keys.md does not say what the keys are; run `make docs`")
	}
}

func TestDefaultKeysDoNotCollide(t *testing.T) {
	if _, conflicts := ui.KeyProblems(nil, ui.FrameActions(), Actions(), PaneActions()); len(conflicts) > 0 {
		t.Error(conflicts)
	}
}

// looking are the actions on letters that only change what is looked at.
var looking = []string{
	"sessions.up", "sessions.down", "sessions.first", "sessions.last", "sessions.search", "sessions.archived", "sessions.filter",
	"output.end", "output.previous", "output.next", "output.newest", "output.wrap", "output.find", "output.hit", "output.hitback",
	"output.up", "output.down", "output.top", "backends.up", "backends.down", "backends.log", "backends.whole",
	"conversation.previous", "conversation.next", "conversation.first", "conversation.last", "conversation.open",
	"conversation.hit.next", "conversation.hit.previous", "conversation.write", "conversation.queue.previous", "conversation.queue.next",
	"shell.type", "shell.up", "shell.down", "shell.top", "shell.end", "memory.up", "memory.down", "memory.first", "memory.last", "memory.close",
	"conversation.copy", "help", "sessions.filter", "backends.whole", "conversation.picture",
}

// undone are those whose pane offers to take them back (ui.ShowUndo), or that ask for a text first;
// shell.close asks while something runs.
var undone = []string{
	"sessions.rename", "sessions.pin", "sessions.archive", "sessions.export", "backends.use", "backends.start", "backends.stop", "memory.add",
	"shell.close", "conversation.good", "conversation.bad",
}

// TestALetterNeverHasAnEffectByAccident: who types into a list changes nothing.
func TestALetterNeverHasAnEffectByAccident(t *testing.T) {
	for _, a := range allActions() {
		for _, key := range a.Keys {
			if len([]rune(key)) != 1 || a.Dangerous || slices.Contains(looking, a.ID) || slices.Contains(undone, a.ID) {
				continue
			}
			t.Errorf("%s is on %q: it needs another key, a question or a way back", a.ID, key)
		}
	}
}

// TestTwentyKeysMatter: the card of help stays one that is read.
func TestTwentyKeysMatter(t *testing.T) {
	n := 0
	for _, a := range allActions() {
		if !a.Card {
			continue
		}
		if n++; len(a.Keys) == 0 {
			t.Errorf("%s is on the card and has no key", a.ID)
		}
		if len(a.Title) > 27 { // what a column of the card has room for
			t.Errorf("%s is cut on the card: %q", a.ID, a.Title)
		}
	}
	if n != 20 {
		t.Errorf("the card of help has %d keys", n)
	}
}

func TestEveryActionHasATitleAndAnID(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range allActions() {
		switch {
		case a.ID == "" || a.Title == "":
			t.Errorf("an action lacks its id or title: %+v", a)
		case seen[a.ID]:
			t.Errorf("two actions have the id %s", a.ID)
		}
		seen[a.ID] = true
	}
}
