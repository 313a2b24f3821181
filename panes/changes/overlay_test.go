package changes

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/checkpoint"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

// did records what the overlay asked for.
type did struct{ scope []string }

func (d *did) actions() Actions {
	return Actions{
		Plan: func(what Scope, files []string) tea.Cmd {
			names := map[Scope]string{OneFile: "file", WholeTurn: "turn", SinceTurn: "since"}
			d.scope = append(d.scope, strings.Join(append([]string{names[what]}, files...), " "))
			return func() tea.Msg { return Conflict{&checkpoint.Plan{}} }
		},
		Force: func(*checkpoint.Plan) tea.Cmd {
			d.scope = append(d.scope, "force")
			return func() tea.Msg { return TookBack{"done"} }
		},
	}
}

func shown(t *testing.T, d *did, later bool) *Overlay {
	t.Helper()
	diff := "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\x1b[2J\u202e\n"
	o := New(Turn{
		Title: "Turn 1", Cwd: "/w", Later: later, Notes: []string{"a note\x1b[31m"},
		Files: []checkpoint.Diff{
			{Path: "/w/a.txt", Summary: "changed", Unified: diff, Added: 1, Removed: 1},
			{Path: "/else/b.txt", Summary: "changed", Unified: diff},
		},
	}, d.actions())
	o.Restyle(uitest.Styles(t, style.None))
	return o
}

// press sends keys and what they bring back; it reports whether the overlay is done.
func press(o *Overlay, keys ...string) (done bool) {
	for _, k := range keys {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		switch k {
		case "esc":
			msg = tea.KeyMsg{Type: tea.KeyEsc}
		case "tab":
			msg = tea.KeyMsg{Type: tea.KeyTab}
		}
		cmd, end := o.Update(msg)
		if done = end; cmd != nil && !done {
			_, done = o.Update(cmd())
		}
	}
	return done
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		keys  []string
		later bool
		want  string
		done  bool
	}{
		{[]string{"u"}, false, "turn", false},
		{[]string{"s"}, false, "", false},
		{[]string{"s"}, true, "since", false},
		{[]string{"tab", "o"}, false, "file /else/b.txt", false},
		{[]string{"F"}, false, "", false},
		{[]string{"u", "u", "F"}, false, "turn,force", true},
		{[]string{"u", "esc"}, false, "turn", false},
		{[]string{"q"}, false, "", true},
	} {
		d := &did{}
		done := press(shown(t, d, c.later), c.keys...)
		if got := strings.Join(d.scope, ","); got != c.want || done != c.done {
			t.Errorf("%v: asked for %q, done %v", c.keys, got, done)
		}
	}
}

func TestDrawsAnywhere(t *testing.T) {
	o := shown(t, &did{}, true)
	for w := 1; w < 160; w += 13 {
		for h := 1; h < 40; h += 5 {
			view := o.View(w, h)
			uitest.CheckBlock(t, view, w, h)
			if strings.Contains(view, "\x1b[2J") || strings.Contains(view, "\u202e") {
				t.Fatal("what a file says reaches the terminal as it is")
			}
		}
	}
	if view := o.View(120, 20); !strings.Contains(view, "a.txt") || !strings.Contains(view, "/else/b.txt") {
		t.Errorf("paths are not shown from the folder:\n%s", view)
	}
}

// A click chooses a file; on the file that is shown, and in its diff, it does nothing.
func TestTheMouseChoosesAFile(t *testing.T) {
	d := &did{}
	o := shown(t, d, true)
	for _, on := range []string{"b.txt", "b.txt", "a.txt", "- old"} {
		if uitest.Click(t, o, 80, 20, on) {
			t.Errorf("a click on %s closes", on)
		}
		if want := map[string]int{"b.txt": 1}[on]; o.at != want {
			t.Errorf("a click on %s: file %d", on, o.at)
		}
	}
	press(o, "u")
	if o.View(80, 20); len(d.scope) != 1 {
		t.Errorf("asked for %q", d.scope)
	}
	if _, _, ok := o.RowAt(2, 0); ok {
		t.Error("a question has rows of files")
	}
}
