package ui

import (
	"strings"
	"testing"
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
