package ui

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"
)

// slowLine gives a byte at a time, but for what tells the beginning of a paste from a key.
type slowLine struct{ left string }

func (s *slowLine) Read(b []byte) (int, error) {
	if s.left == "" {
		return 0, io.EOF
	}
	n := 1
	if strings.HasPrefix(s.left, pasteBegins) {
		n = len("\x1b[2")
	}
	n = copy(b, s.left[:n])
	s.left = s.left[n:]
	return n, nil
}

// taker is an overlay that keeps what is typed.
type taker struct {
	Overlay

	typed string
}

func (o *taker) Update(msg tea.Msg) (tea.Cmd, bool) {
	if key, ok := msg.(tea.KeyMsg); ok {
		o.typed += string(key.Runes)
	}
	return nil, false
}

// readKeys reads all of src as bubbletea does, and returns what is left of it without pastes.
func readKeys(t *testing.T, w *wholeKeys, size int) string {
	t.Helper()
	var got []byte
	buf := make([]byte, size)
	for {
		n, err := w.Read(buf)
		if errors.Is(err, io.EOF) {
			return string(got)
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, buf[:n]...)
	}
}

func TestWhatIsPastedIsTakenOutInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keys := rapid.StringOfN(rapid.RuneFrom([]rune("a容\x04\r")), 0, 40, -1)
		body := rapid.StringOfN(rapid.RuneFrom([]rune("b字🚀\x1b[2~01\n")), 0, 600, -1)
		var typed, want, sent string
		var pasted []string
		for range rapid.IntRange(0, 3).Draw(rt, "pastes") {
			k, b := keys.Draw(rt, "keys"), strings.ReplaceAll(body.Draw(rt, "body"), pasteEnds, "")
			sent += k + pasteBegins + b + pasteEnds
			want += k + pasteBegins + pasteEnds
			pasted = append(pasted, b)
		}
		typed = keys.Draw(rt, "keys behind")
		src := io.Reader(strings.NewReader(sent + typed))
		if rapid.Bool().Draw(rt, "slow") {
			src = &slowLine{left: sent + typed}
		}
		w := &wholeKeys{read: src.Read}
		if got := readKeys(t, w, rapid.IntRange(32, 256).Draw(rt, "size")); got != want+typed {
			rt.Fatalf("keys %q, want %q", got, want+typed)
		}
		for _, p := range pasted {
			if got, ok := w.pastes.next(); !ok || string(got.text) != p {
				rt.Fatalf("pasted %q, want %q", string(got.text), p)
			}
		}
	})
}

// TestABracketAloneIsAKey: nothing typed waits for what would make a paste of it.
func TestABracketAloneIsAKey(t *testing.T) {
	for _, key := range []string{"\x1b", "\x1b["} {
		w := &wholeKeys{read: strings.NewReader(key).Read}
		buf := make([]byte, 256)
		if n, err := w.Read(buf); err != nil || string(buf[:n]) != key {
			t.Errorf("%q became %q, %v", key, buf[:n], err)
		}
	}
}

func TestAPasteComesWholeOrSaysWhyNot(t *testing.T) {
	wide := strings.Repeat("漢字仮名交文", 100<<10) // 1.8 MB
	for name, tt := range map[string]struct{ sent, want, toast string }{
		"wide characters": {wide, wide, ""},
		"as they are":     {"a\uFFFDb", "a\uFFFDb", ""},
		"broken here":     {"a\xff\xfe\x80b\xe9c", "a\uFFFDb\uFFFDc", "what is no UTF-8 (bytes: 4)"},
		"no text":         {strings.Repeat("\xff\xfe", 1500<<10), "", "The paste is no text"},
		"too long":        {strings.Repeat("x", maxPaste+1), "", "The paste has 11 MB"},
		"just not":        {strings.Repeat("x", maxPaste), strings.Repeat("x", maxPaste), ""},
	} {
		t.Run(name, func(t *testing.T) {
			src := bytes.NewReader([]byte(pasteBegins + tt.sent + pasteEnds + "q"))
			w := &wholeKeys{read: src.Read}
			if got := readKeys(t, w, 256); got != pasteBegins+pasteEnds+"q" {
				t.Fatalf("%d bytes are left: %.80q", len(got), got)
			}
			field := &taker{}
			f := &frame{opt: Options{Now: time.Now}, overlays: []*shown{{overlay: field}}}
			f.handleMessage(w.pastes.restorePaste(tea.KeyMsg{Type: tea.KeyRunes, Paste: true}))
			if field.typed != tt.want {
				t.Errorf("%d bytes were pasted, want %d: %.80q", len(field.typed), len(tt.want), field.typed)
			}
			switch said := f.toasts; {
			case tt.toast == "" && len(said) > 0:
				t.Errorf("said: %+v", said)
			case tt.toast != "" && (len(said) != 1 || !strings.Contains(said[0].text, tt.toast) || said[0].hint == ""):
				t.Errorf("said: %+v, want %q and what to do", said, tt.toast)
			}
		})
	}
}

// What is pasted while a terminal may still say what colour it has comes whole, whatever stands in
// it and wherever a read ends.
func TestAPasteHoldsNoAnswerOfTheTerminal(t *testing.T) {
	long := strings.Repeat("x", 497) // two reads of 256 bytes, of which the paste's marks take some
	for _, body := range []string{"a\x1b]11;", "a\x1b]1", "\x1b]11;rgb:0000/0000/0000\x07b", long + "\x1b]11;rgb:00" + long} {
		for _, answer := range []string{"", "\x1b]11;rgb:ffff/ffff/ffff\x07"} {
			w := &wholeKeys{read: strings.NewReader("k" + pasteBegins + body + pasteEnds + answer + "q").Read}
			told := 0
			w.answer.expect(func(bool) { told++ })
			keys := readKeys(t, w, 256)
			if got, _ := w.pastes.next(); string(got.text) != body || keys != "k"+pasteBegins+pasteEnds+"q" || told != min(len(answer), 1) {
				t.Errorf("%.20q and %q became %.20q and %q, told %d times", body, answer, string(got.text), keys, told)
			}
		}
	}
}
