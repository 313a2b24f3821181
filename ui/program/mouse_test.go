package program

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hermes/ui"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

// clickOn presses and lets go where the screen shows a text.
func clickOn(t *testing.T, s *uitest.Screen, what string) {
	t.Helper()
	for y, line := range strings.Split(s.WaitFor(what), "\n") {
		if before, _, ok := strings.Cut(line, what); ok {
			x := text.Width(before) + 1
			s.Type(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x, y+1, x, y+1))
			return
		}
	}
}

// The mouse chooses in every list that lies over the panes: a click chooses a row, one on the
// chosen row does what enter does, the wheel moves.
func TestTheMouseInLists(t *testing.T) {
	t.Parallel()
	h := newHome(t, "display:\n  theme: default\nmcp_servers:\n  first: {command: first-program, enabled: false}\n  second: {command: second-program, enabled: false}\n")
	putFile(t, filepath.Join(h.dir, "skills/aaa/SKILL.md"), skillText("aaa", "The first.", "MARK-AAA"))
	putFile(t, filepath.Join(h.dir, "skills/release/SKILL.md"), skillText("release", "How releases are made.", "MARK-BODY"))
	putFile(t, filepath.Join(h.dir, "memories/MEMORY.md"), "vega is staging\n§\naltair is production\n")
	s := h.screen(120, 40, ui.Options{}, "")
	s.WaitFor("no model")

	say(s, "/skills")
	s.WaitFor("MARK-AAA")
	s.Type("/") // who looks for something saw the list: keys count at once
	s.WaitFor("name, category, state")
	s.Type("a")
	s.WaitFor("enter done")
	s.Type(enter)
	clickOn(t, s, "release  user")
	s.WaitFor("MARK-BODY")
	clickOn(t, s, "release  user")
	s.WaitFor("/release ")
	s.Type("\x15")

	say(s, "/mcp")
	s.WaitFor("first-program")
	clickOn(t, s, "second")
	s.WaitFor("second-program")
	clickOn(t, s, "second")
	s.WaitFor("Tools of second")
	s.Type(esc)
	s.WaitGone("Tools of second")
	s.Type(esc)
	s.WaitGone("Servers of tools")

	say(s, "/memory")
	clickOn(t, s, "altair is production")
	clickOn(t, s, "altair is production")
	s.WaitFor("Change this entry")
	s.Type(esc)
	s.WaitGone("Change this entry")
	s.Type(esc)

	say(s, "/usage")
	s.WaitFor("esc close")
	s.Type("\x1b[<65;60;20M\x1b[<64;60;20M" + esc)
	leave(t, s)
}

// The back ends tell of the command that somebody wrote, not of what we wrap around it.
func TestBackEndsShowTheCommandOfAServer(t *testing.T) {
	t.Parallel()
	h := newHome(t, "display:\n  theme: default\nmcp_servers:\n  files: {command: mcpserver, args: [--of, our-folder]}\n")
	s := h.screen(160, 44, ui.Options{}, "")
	say(s, "hello")
	s.WaitFor("No language model is connected")
	if picture := s.WaitFor("mcpserver --of our-folder"); strings.Contains(picture, "unset") {
		t.Errorf("a wrapper of ours is shown:\n%s", picture)
	}
	leave(t, s)
}
