package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// TestAMentionOnTheScreenAndOnTheCommandLine: the chip says what goes with the message, the model
// gets the text, and /undo brings the words back, from which it is read again.
func TestAMentionOnTheScreenAndOnTheCommandLine(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "First answer."}, modeltest.Turn{Text: "Second answer."}, modeltest.Turn{Text: "Third answer."})
	path := filepath.Join(h.work, "notes.txt")
	if err := os.WriteFile(path, []byte("the key is red"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.run("run", "which key? @notes.txt"); r.code != 0 || !strings.Contains(r.out, "First answer.") {
		t.Fatal(r)
	}
	s := h.open()
	s.Type("which key? @notes.txt ")
	s.WaitFor("[notes.txt · 14 bytes]")
	s.Type(enter)
	s.WaitFor("Second answer.")
	s.WaitFor(" ready ")
	if err := os.WriteFile(path, []byte("the key is blue now"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Type("/undo" + enter)
	agree(s, "Really?")
	s.WaitFor("[notes.txt · 19 bytes]")
	s.WaitFor("❯ which key? @notes.txt")
	s.Type(enter)
	s.WaitFor("Third answer.")
	for i, want := range []string{"the key is red", "the key is red", "the key is blue now"} {
		body := string(server.Requests()[i].Body)
		if strings.Count(body, "the key is ") != 1 || !strings.Contains(body, want) {
			t.Errorf("request %d lacks %q: %s", i, want, body)
		}
	}
}
