package conversation

import (
	"strings"
	"testing"
	"time"
)

// TestASentenceAnswersNoApproval: one letter chooses in a box that opened by itself, and enter
// answers; a second letter makes it a sentence, which goes into the line.
func TestASentenceAnswersNoApproval(t *testing.T) {
	for _, sentence := range []string{"stop it", "so be it", "as before", "no", "on", "please wait", "a", "x", "why", "[sic]"} {
		w, p, o := askedOver(t, "")
		picture(t, o, 120, 40)
		closed := false
		for _, letter := range strings.Split(sentence, "") {
			w.now = w.now.Add(700 * time.Millisecond)
			if closed {
				press(p, letter)
			} else {
				closed = hit(p, o, letter)
			}
		}
		want := sentence
		if len(sentence) == 1 && sentence != "x" {
			want = ""
		}
		if len(w.log) > 0 || p.composer.Text() != want {
			t.Errorf("%q did %q, and the line holds %q", sentence, w.log, p.composer.Text())
		}
	}
	for keys, want := range map[string]string{
		"o o enter": "answer ap once", "s enter": "answer ap session", "n enter": "answer ap deny", "d enter": "answer ap deny",
		"right o": "", "right enter": "answer ap once", "w enter s enter": "answer ap session", "esc": "answer ap deny", "o left enter": "answer ap deny", "w": "", "o o": "", "o ctrl+y": "",
	} {
		w, p, o := askedOver(t, "")
		picture(t, o, 120, 40)
		for _, key := range strings.Split(keys, " ") {
			w.now = w.now.Add(time.Second)
			hit(p, o, key)
		}
		if got := strings.Join(w.log, "|"); got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
	w, p, o := askedOver(t, "")
	picture(t, o, 120, 40)
	w.now = w.now.Add(time.Second)
	if hit(p, o, "o", "enter"); len(w.log) > 0 {
		t.Errorf("enter right behind the letter did %q", w.log)
	}
}
