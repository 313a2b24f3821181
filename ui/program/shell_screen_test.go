package program

import (
	"strings"
	"testing"

	"hermes/ui"
	"hermes/ui/uitest"
)

const (
	altFour = "\x1b4"
	chord   = "\x1d" // ctrl+]
)

// shellShows waits for a part of the column of the shell's pane.
func shellShows(s *uitest.Screen, part string) {
	s.Wait(part+" in the shell", func(p string) bool { return strings.Contains(column(p, "╭─ 3 Shell"), part) })
}

func TestAPersonWorksInAShellBesideTheConversation(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	h := newHome(t, "")
	s := h.open()
	s.Type(altFour)
	s.WaitFor("enter shell")
	s.Type(enter)
	s.WaitFor("3 Shell ── default")
	s.Type("PS1='he''re> '" + enter)
	shellShows(s, "here> ")
	s.Type("echo su''m $((40+2))" + enter)
	shellShows(s, "sum 42")
	s.Type("sleep 1000" + enter)
	shellShows(s, "sleep 1000")
	s.Type(ctrlC) // is the program's: it neither quits nor stops a turn
	shellShows(s, "^C")
	s.Type("echo still''here" + enter)
	shellShows(s, "stillhere")

	s.Type(chord)
	s.WaitFor("enter type")
	s.Type(altTwo)
	s.WaitFor("❯ ")
	s.Type("words for the agent")
	s.WaitFor("❯ words for the agent")
	s.Type("\x1b3")
	s.WaitFor("enter type") // what was left is found
	s.Type(enter)
	s.WaitFor("leave the shell")
	s.Type("exit" + enter)
	s.WaitGone("3 Shell")
	if !strings.Contains(s.Settle(), "4 Back ends") {
		t.Error("the other panes are gone too")
	}
	s.Type(altTwo)
	leave(t, s)
}

func TestClosingAShellAsksAndEndsWhatRunsInIt(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	h := newHome(t, "")
	s := h.screen(80, 24, ui.Options{}, "")
	s.WaitFor("asks for risky things")
	s.Type(altFour)
	s.WaitFor("enter shell")
	s.Type(enter)
	s.WaitFor("leave the shell")
	s.Type("PS1='he''re> '" + enter)
	s.WaitFor("here> ")
	s.Type("sleep 1000" + enter)
	s.WaitFor("sleep 1000")
	s.Type(chord)
	s.WaitFor("enter type")
	s.Type("w")
	agree(s, "Close this shell")
	s.WaitGone("Shell ── default")
	s.Type(altTwo)
	leave(t, s)
}
