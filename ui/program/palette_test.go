package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// The palette begins with suggestions; what is typed finds whole words first.
func TestThePaletteSuggestsAndFindsWholeWordsFirst(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Text: "Yes."})
	s := h.open()
	say(s, "first things first")
	s.WaitFor("Yes.")
	say(s, "/mouse")
	s.WaitFor("mouse off")
	s.Type("\x10")
	p := s.WaitFor("suggested")
	if at, rest := strings.Index(p, "suggested"), strings.Index(p, "Mouse on or off"); rest < at {
		t.Errorf("what ran last is not suggested:\n%s", p)
	}
	if _, list, _ := strings.Cut(p, "suggested"); !strings.Contains(strings.Join(strings.SplitN(list, "\n", 10)[:9], "\n"), "Choose the model") {
		t.Errorf("what is used most is not suggested:\n%s", p)
	}
	s.Type("model")
	s.Wait("the model first", func(p string) bool {
		_, list, ok := strings.Cut(p, "❯ model")
		lines := strings.SplitN(list, "\n", 3)
		return ok && len(lines) > 2 && strings.Contains(strings.ToLower(lines[1]), "model")
	})
	s.Type("\x1b")
	s.WaitGone("❯ model")
	s.Type("/resume fir")
	s.WaitFor("first things first")
	s.Type("\x15/model scr")
	s.Wait("the server's models", func(p string) bool {
		if strings.Contains(p, "scripted/test-model") {
			return true
		}
		s.Type("i\x7f") // typing on asks again
		return false
	})
	s.Type("\x15")
	s.WaitGone("❯ /model")
	leave(t, s)
}

// A word of a command is completed with tab, as one word for the shell.
func TestTabCompletesFilesInACommand(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t)
	if err := os.WriteFile(filepath.Join(h.work, "odd name.txt"), []byte("words inside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := h.open()
	s.Type("$ cat odd")
	s.WaitFor("❯ $ cat odd")
	s.Type("\t")
	s.WaitFor("$ cat 'odd name.txt'")
	s.Type("\r")
	s.WaitFor("words inside")
	leave(t, s)
}
