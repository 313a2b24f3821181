package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// However small the screen, something can be chosen below a note and a card.
func TestAPickerKeepsChoicesInSight(t *testing.T) {
	p := NewPicker(PickerOptions{
		Note: "a note", Card: []Fact{{Name: "one", Text: "1"}, {Name: "two", Text: "2"}, {Name: "three", Text: "3"}, {Name: "four", Text: "4"}},
		Items: []Item{{ID: "a", Title: "Change it"}, {ID: "b", Title: "Forget it"}, {ID: "c", Title: "Pin it"}},
	}).(*picker)
	p.Restyle(plain)
	for h := 1; h < 14; h++ {
		seen := p.View(36, h)
		if got := strings.Count(seen, " it"); got < min(leastChoices, h-1) || len(strings.Split(seen, "\n")) != h {
			t.Errorf("%d rows show %d choices:\n%s", h, got, seen)
		}
		if h > 4 && !strings.Contains(seen, "a note") {
			t.Errorf("%d rows hide the note:\n%s", h, seen)
		}
	}
}

// A list to read runs nothing by the enter of somebody who has read it.
func TestAListToReadRunsWhatSomebodyChose(t *testing.T) {
	for keys, want := range map[string]string{"enter": "", "down enter": "a", "b enter": "b"} {
		ran := ""
		p := NewPicker(PickerOptions{
			Items: []Item{{ID: "a", Title: "alpha"}, {ID: "b", Title: "beta"}}, Unchosen: true,
			Choose: func(it Item) tea.Cmd { ran = it.ID; return nil },
		})
		p.Restyle(plain)
		done := false
		for _, k := range strings.Fields(keys) {
			p.View(40, 8)
			msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
			switch k {
			case "enter":
				msg = tea.KeyMsg{Type: tea.KeyEnter}
			case "down":
				msg = tea.KeyMsg{Type: tea.KeyDown}
			}
			_, done = p.Update(msg)
		}
		if ran != want || !done {
			t.Errorf("%s ran %q, done %v", keys, ran, done)
		}
	}
}

// The arrow keys choose, also to the ends, and enter takes where they stand.
func TestArrowKeysChooseInAPicker(t *testing.T) {
	key := map[string]tea.KeyMsg{"down": {Type: tea.KeyDown}, "up": {Type: tea.KeyUp}, "enter": {Type: tea.KeyEnter}}
	for keys, want := range map[string]string{"enter": "a", "down enter": "b", "down down down enter": "c", "down up up enter": "a"} {
		chosen := ""
		p := NewPicker(PickerOptions{
			Items:  []Item{{ID: "a", Title: "one"}, {ID: "b", Title: "two"}, {ID: "c", Title: "three"}},
			Choose: func(it Item) tea.Cmd { chosen = it.ID; return nil },
		})
		p.Restyle(plain)
		p.View(36, 8)
		for _, k := range strings.Fields(keys) {
			p.Update(key[k])
		}
		if chosen != want {
			t.Errorf("%s chose %q, want %q", keys, chosen, want)
		}
	}
}
