package workbench

import (
	"os"
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
	for _, p := range ui.KeyProblems(nil, ui.FrameActions(), Actions(), PaneActions()) {
		t.Error(p)
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
