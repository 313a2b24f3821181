package learn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/learn"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

// standing is that a ceiling is reached.
var standing = learn.Status{Mode: learn.Propose, Reviews: 4, PerDay: 20, Open: 2, MaxOpen: 3, Ceiling: "reviews are 20 % of what was spent today, at most learning.max_share_of_cost (5 %)"}

func shown(t *testing.T, level style.Level, did *[]string) *Overlay {
	t.Helper()
	note := func(format string, args ...any) tea.Cmd {
		*did = append(*did, fmt.Sprintf(format, args...))
		return nil
	}
	at := time.Date(2026, 11, 23, 15, 2, 0, 0, time.Local)
	v := New(Actions{
		Scan:   func() tea.Cmd { return note("scan") },
		Accept: func(id string) tea.Cmd { return note("accept %s", id) },
		Refuse: func(id string, never bool) tea.Cmd { return note("refuse %s %v", id, never) },
		Edit:   func(p learn.Proposal) tea.Cmd { return note("edit %s", p.ID) },
	}, Listed{Stand: standing, Open: []learn.Proposal{
		{
			ID: "p7", At: at, Kind: learn.KindChange, Skill: "release-site", Why: "The word of the gate has changed.\x1b[31m", Sources: []string{"e1"},
			Tainted: "web_extract has read what strangers wrote", Diff: "--- a/release-site/SKILL.md\n+++ b/release-site/SKILL.md\n@@ -1,3 +1,3 @@\n # Releasing\n-1. Run ./release.sh one.\n+1. Run ./release.sh two.\n By hand.\n",
		},
		{ID: "p6", At: at, Kind: learn.KindRollback, Skill: "other", Why: "version 2 came out good in 1 of 5 turns"},
	}})
	v.Restyle(uitest.Styles(t, level))
	return v
}

func press(v *Overlay, keys ...string) (done bool) {
	for _, k := range keys {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		if k == "esc" {
			msg = tea.KeyMsg{Type: tea.KeyEsc}
		}
		_, done = v.Update(msg)
	}
	return done
}

func TestGolden(t *testing.T) {
	for _, size := range uitest.Sizes() {
		for name, level := range map[string]style.Level{"colour": style.True, "none": style.None} {
			v := shown(t, level, &[]string{})
			w, h := v.Size(size.W, size.H)
			view := v.View(w, h)
			uitest.CheckBlock(t, view, w, h)
			uitest.Golden(t, fmt.Sprintf("learn-%s-%dx%d", name, size.W, size.H), view)
		}
	}
}

func TestKeys(t *testing.T) {
	for keys, want := range map[string]string{
		"y": "accept p7", "n": "refuse p7 false", "N": "", "N N": "refuse p7 true", "N y": "accept p7", "N esc": "", "j y": "accept p6",
		"j e": "", "e": "edit p7", "j N k N": "",
	} {
		var did []string
		v := shown(t, style.None, &did)
		press(v, strings.Fields(keys)...)
		if got := strings.Join(did, ","); got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
	v := shown(t, style.None, &[]string{})
	if press(v, "N", "esc") || !press(v, "esc") {
		t.Error("esc")
	}
	v.Update(Listed{Stand: standing})
	view := v.View(60, 12)
	if press(v, "y", "n", "N", "N", "e", "j") || !strings.Contains(view, "Nothing waits") || !strings.Contains(view, "4 of 20 looks") || !strings.Contains(view, "a ceiling is reached") {
		t.Error("with nothing to decide")
	}
}

func TestDrawsAnywhere(t *testing.T) {
	for w := 1; w < 160; w += 9 {
		for h := 1; h < 40; h += 3 {
			v := shown(t, style.None, &[]string{})
			uitest.CheckBlock(t, v.View(w, h), w, h)
		}
	}
}

// A click chooses a proposal and accepts none.
func TestTheMouseChoosesAProposal(t *testing.T) {
	var did []string
	v := shown(t, style.None, &did)
	for _, on := range []string{"p6", "p7", "p7", "two."} {
		if uitest.Click(t, v, 80, 24, on) {
			t.Errorf("a click on %s closes", on)
		}
		if want := strings.Replace(on, "two.", "p7", 1); v.at != want {
			t.Errorf("a click on %s: %s", on, v.at)
		}
	}
	uitest.Click(t, v, 80, 24, "p6")
	if view := v.View(80, 24); !strings.Contains(view, "good in 1 of 5") || len(did) > 0 {
		t.Errorf("did %q:\n%s", did, view)
	}
}
