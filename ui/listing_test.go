package ui_test

import (
	"strings"
	"testing"

	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

// In the palette and in the help a command stands once, also when it is suggested, and it is
// counted once.
func TestPaletteAndHelpListACommandOnce(t *testing.T) {
	for key, size := range map[string][2]int{"ctrl+p": {120, 40}, "f1": {40, 12}} {
		opt, _ := options(t)
		none := style.None
		opt.Level = &none
		opt.Actions = []ui.Action{
			{ID: "rare", Title: "Do something rare"}, {ID: "usual", Slash: "usual", First: true, Card: true, Keys: []string{"f9"}, Title: "Do what is usual"},
		}
		d := model(t, opt, size[0], size[1])
		d.send(uitest.Key(key))
		places, last := 0, ""
		d.send(uitest.Key("home"))
		for range 80 {
			for _, line := range strings.Split(text.Sanitize(d.m.View()), "\n") {
				if strings.Contains(line, "▸ Do what is") && last != line {
					places++
				}
				if strings.Contains(line, "▸ ") {
					last = line
				}
			}
			d.send(uitest.Key("down"))
		}
		if places != 1 {
			t.Errorf("%s: it is listed %d times", key, places)
		}
	}
}
