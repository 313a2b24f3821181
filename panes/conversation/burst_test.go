package conversation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui"
)

// typedAtOnce sends text as a terminal without bracketed paste does, and then lets the time pass.
func typedAtOnce(p *Pane, body string) []tea.Msg {
	var cmds []tea.Cmd
	for _, r := range body {
		k := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
		switch r {
		case '\n':
			k = tea.KeyMsg{Type: tea.KeyEnter}
		case ' ':
			k.Type = tea.KeySpace
		}
		cmds = append(cmds, p.Update(k))
	}
	var out []tea.Msg
	for _, c := range cmds {
		out = append(out, drain(p, c)...)
	}
	return out
}

func TestAPasteWithoutBracketsIsNotManyPrompts(t *testing.T) {
	for _, body := range []string{"a first line\nb second\n\nthe last one", "a first line\nb second\n"} {
		w := &world{}
		p := open(t, w)
		out := typedAtOnce(p, body)
		if log := strings.Join(w.log, "|"); strings.Contains(log, "submit") || p.composer.Text() != body {
			t.Errorf("%q became %q, and %s", body, p.composer.Text(), log)
		}
		if said := fmt.Sprint(out); !strings.Contains(said, "enter sends them") {
			t.Errorf("nothing says how to go on: %s", said)
		}
		w.now = w.now.Add(time.Second)
		press(p, "enter")
		if log := strings.Join(w.log, "|"); strings.Count(log, "submit") != 1 {
			t.Errorf("enter: %s", log)
		}
	}
}

func TestAFastLineIsSentByItsEnter(t *testing.T) {
	w := &world{}
	p := open(t, w)
	typedAtOnce(p, "a whole line at once\n")
	if log := strings.Join(w.log, "|"); !strings.Contains(log, `submit s "a whole line at once" 0`) || p.composer.Text() != "" {
		t.Errorf("left %q, did %s", p.composer.Text(), log)
	}
}

func TestTypingIsNeverDoubted(t *testing.T) {
	w := &world{}
	p := open(t, w)
	for _, r := range "hello there" {
		w.now = w.now.Add(40 * time.Millisecond)
		p.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	if p.burst.doubtsEnter(w.now) {
		t.Error("typing is taken for a paste")
	}
	if out := press(p, "enter"); len(out) > 0 {
		if _, ok := out[0].(ui.ShowToast); ok {
			t.Errorf("%+v", out)
		}
	}
	if log := strings.Join(w.log, "|"); !strings.Contains(log, `submit s "hello there" 0`) {
		t.Errorf("did %s", log)
	}
}
