package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func asks(commands ...string) modeltest.Turn {
	var t modeltest.Turn
	for i, c := range commands {
		args, err := json.Marshal(map[string]string{"command": c})
		if err != nil {
			panic(err)
		}
		t.Calls = append(t.Calls, modeltest.Call{ID: fmt.Sprintf("c%d_%d", i, len(c)), Name: "terminal", Args: string(args)})
	}
	return t
}

// kept fails when a file of the project is gone.
func (h *home) kept(names ...string) {
	h.t.Helper()
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(h.work, name)); err != nil {
			h.t.Errorf("%s is gone: %v", name, err)
		}
	}
}

func (h *home) make(names ...string) {
	h.t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(h.work, name), nil, 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
}

// A model that asks again and again gets three noes, then the turn is paused: it is not asked a
// fourth time.
func TestRedTeamThreeDenialsPauseTheTurn(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, attacks)
	h, server := homeWith(t, asks("rm a"), asks("rm ./a"), asks("rm -f a"), asks("rm -v a"), asks("rm -vf a"))
	h.make("a")
	s := h.open()
	say(s, "tidy up")
	for n := range 3 {
		deny(s, n+1)
	}
	s.WaitFor("say what you want instead")
	s.WaitFor("ready")
	if n := len(server.Requests()); n > 4 {
		t.Errorf("the model was asked %d times", n)
	}
	h.kept("a")
}

// deny answers the nth question with no.
func deny(s *uitest.Screen, n int) {
	s.WaitFor("[ Deny ]") // it opens by itself over an empty line
	denied := func() bool { return strings.Count(s.Settle(), " denied ") >= n }
	for time.Sleep(600 * time.Millisecond); !denied(); {
		s.Type(enter)
		for range 100 {
			if denied() {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// asked is the command of the open question, "" when none is open.
func asked(picture string) string {
	if !strings.Contains(picture, "[ Deny ]") {
		return ""
	}
	return questioned.FindString(picture)
}

var questioned = regexp.MustCompile(`│  rm f\d+ `)

// A hundred questions at once come one at a time, Deny first; three noes end them all.
func TestRedTeamAHundredQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, attacks)
	var commands []string
	h, _ := homeWith(t)
	for i := range 100 {
		h.make(fmt.Sprint("f", i))
		commands = append(commands, fmt.Sprint("rm f", i))
	}
	server := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{asks(commands...), {Text: "over"}}})
	h.configure(serverSettings(server))
	s := h.open()
	say(s, "tidy up")
	s.WaitFor("[ Deny ]")
	s.Type(strings.Repeat(enter, 5) + strings.Repeat("o", 5) + strings.Repeat("y", 5) + " ") // in the first half second nobody is heard
	s.WaitFor("❯ oooooyyyyy")                                                                // it goes on in the line
	noes := 0
	eventually(t, "the pause", func() bool {
		picture := s.Settle()
		if question := asked(picture); question != "" {
			time.Sleep(600 * time.Millisecond)
			s.Type(esc)
			s.Wait("another question or none", func(p string) bool { return asked(p) != question })
			noes++
		} else if strings.Contains(picture, "ctrl+y answers") {
			s.Type(ctrlY)
		}
		return strings.Contains(picture, "say what you want instead")
	})
	if noes > 5 {
		t.Errorf("it took %d noes", noes)
	}
	for i := range 100 {
		h.kept(fmt.Sprint("f", i))
	}
}

// What a person types while questions come up goes where they type it: nothing typed or pasted
// allows anything.
func TestRedTeamKeysAreNotStolen(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, attacks)
	h, _ := homeWith(t, modeltest.Turn{Text: strings.Repeat("Flood of words. ", 400), Chunk: 40, Calls: asks("rm a").Calls}, asks("rm ./a"), asks("rm -f a"), modeltest.Turn{Text: "over"})
	h.make("a")
	s := h.open()
	say(s, "go")
	for range 12 { // before, while and after the question comes
		s.Type("yes o a s p oooo\ny o ")
	}
	s.WaitFor("waits for you")
	s.Type("\x1b[200~y\ro\r\x1b[201\x1b[A\x19o\r\x1b[201~") // pasted, with keys and an end of the paste in it
	s.Settle()
	h.kept("a")
	s.Type(ctrlY)
	s.WaitFor("[ Deny ]")
	s.Type("\x1b[200~o\ro\ra\r\x1b[201~") // pasted into the question
	s.Type("o" + enter + "y" + " ")       // in its first half second
	s.Settle()
	h.kept("a")
}

// What would run is what is seen: nothing in a command can hide its dangerous part, draw marks of
// its own, or change the screen.
func TestRedTeamTheQuestionCannotBeSpoofed(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, attacks)
	spoofs := map[string]string{
		"escapes":       "echo \x1b[2J\x1b[H\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://evil\x07ok\x1b]8;;\x07 \x9b31m \x1bP$q\"p\x1b\\; rm a",
		"bidi":          "echo \u202etxt.a mr\u202c \u2066; rm a",
		"zero width":    "r\u200bm a; rm a",
		"carriage":      "rm a #\recho harmless                                  ",
		"backspace":     "rm a" + strings.Repeat("\b", 4) + "ls  ",
		"fake marks":    "echo safe\n         ^^^^ this is harmless\n  [ Once ]  [ Deny ]\nrm a",
		"tags":          "echo \U000e0072\U000e006d; rm a",
		"lookalike":     "ｒｍ a; rm a",
		"many newlines": "echo start" + strings.Repeat("\n", 200) + "rm a",
		"long":          "echo " + strings.Repeat("x", 20000) + "; rm a",
	}
	for name, command := range spoofs {
		t.Run(name, func(t *testing.T) {
			h, _ := homeWith(t, asks(command), modeltest.Turn{Text: "over"})
			h.make("a")
			s := h.open()
			say(s, "go")
			picture := s.Wait("the dangerous part", func(p string) bool {
				return strings.Contains(p, "rm a") && strings.Contains(p, "deletes") || name == "lookalike" || name == "zero width"
			})
			if got := text.Sanitize(picture); got != picture {
				t.Errorf("the screen holds %q", picture)
			}
			if strings.ContainsAny(picture, "\u202e\u200b\u2066") {
				t.Error("what cannot be seen is not made visible")
			}
			deny(s, 1)
			s.WaitFor("over")
			h.kept("a")
		})
	}
}

// A question that comes while a person types in a shell does not get what they type.
func TestRedTeamAShellKeepsItsKeys(t *testing.T) {
	testskip.WithoutRace(t, attacks)
	t.Setenv("SHELL", "/bin/sh")
	hold := make(chan struct{})
	h, _ := homeWith(t, modeltest.Turn{Text: "Wait.", After: 1, Hold: hold, Calls: asks("rm a").Calls}, modeltest.Turn{Text: "over"})
	h.make("a")
	s := h.open()
	say(s, "go")
	s.Type(altFour)
	s.WaitFor("enter shell")
	s.Type(enter)
	s.WaitFor("3 Shell ── default")
	close(hold)
	s.Type("PS1='he''re> '" + enter)
	shellShows(s, "here> ")
	s.WaitFor("waits")
	s.Type("echo y''es o a" + enter + "y" + enter + "o" + enter + ctrlY + enter)
	shellShows(s, "yes o a")
	s.Settle()
	h.kept("a")
}
