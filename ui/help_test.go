package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

// TestHelpBeginsWithTheKeysThatMatter: a card where there is room, the first group of the list
// where there is not; typing leaves the list only.
func TestHelpBeginsWithTheKeysThatMatter(t *testing.T) {
	for _, size := range uitest.Sizes() {
		opt, _ := options(t)
		none := style.None
		opt.Level = &none
		opt.Keys = map[string][]string{"layout.zoom": {"f7"}, "copy": {}}
		opt.Actions = []ui.Action{{ID: "x", Keys: []string{"alt+x"}, Title: "Do something rare"}}
		d := model(t, opt, size.W, size.H)
		d.send(uitest.Key("f1"))
		picture := d.m.View()
		uitest.CheckBlock(t, picture, size.W, size.H)
		uitest.Golden(t, fmt.Sprintf("help-%dx%d", size.W, size.H), picture)
		want := []string{"ctrl+p", "Commands"}
		if size.H >= 24 {
			want = append(want, "f7", "Zoom this pane", "alt+1", "Go to the sessions")
		}
		for _, s := range want {
			if !strings.Contains(picture, s) {
				t.Errorf("%dx%d: %q is not among the keys that matter:\n%s", size.W, size.H, s, picture)
			}
		}
		if strings.Contains(picture, "alt+y") {
			t.Errorf("%dx%d: a key that was taken away is shown:\n%s", size.W, size.H, picture)
		}
		d.send(uitest.Key("rare"))
		if picture = d.m.View(); !strings.Contains(picture, "alt+x") || strings.Contains(picture, "Zoom this pane") {
			t.Errorf("%dx%d: the search shows\n%s", size.W, size.H, picture)
		}
	}
}

// TestArrowKeysChooseInAConfirmation: No is selected, and enter takes what the arrows stand on.
func TestArrowKeysChooseInAConfirmation(t *testing.T) {
	for _, key := range []string{"right", "down", "up"} {
		done := false
		c := ui.NewConfirm("Wipe", "", func() tea.Cmd { done = true; return nil })
		if _, closed := c.Update(uitest.Key(key)); closed || done {
			t.Fatalf("%s decides", key)
		}
		if c.Update(uitest.Key("y")); done {
			t.Fatal("it is done before it was shown")
		}
		c.Restyle(uitest.Styles(t, style.None))
		c.View(c.Size(80, 24))
		time.Sleep(600 * time.Millisecond) // the first half second hears no yes
		if _, closed := c.Update(uitest.Key("enter")); !closed || !done {
			t.Errorf("%s does not move to Yes", key)
		}
	}
}
