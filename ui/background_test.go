package ui

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// pieces gives a byte at a time, but what follows an escape together with it: an escape alone is a
// key.
type pieces struct{ left []byte }

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := 1
	for n < len(p.left) && p.left[n-1] == '\x1b' {
		n++
	}
	n = copy(b, p.left[:n])
	p.left = p.left[n:]
	return n, nil
}

// Whatever is typed around it, and however it is cut into reads: the answer is taken out, once, and
// every key comes.
func TestTheAnswerIsTakenOutOfTheKeys(t *testing.T) {
	answers := map[string]bool{ // is it dark?
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\": false, "\x1b]11;rgb:fd/f6/e3\x07": false,
		"\x1b]11;rgb:0000/0000/0000\x07": true, "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\": true,
		"\x1b]11;rgb:0000/0000/ffff\x07": true, "\x1b]11;#ffffff\x07": false,
	}
	rapid.Check(t, func(rt *rapid.T) {
		answer := rapid.SampledFrom([]string{
			"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:fd/f6/e3\x07", "\x1b]11;rgb:0000/0000/0000\x07",
			"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", "\x1b]11;rgb:0000/0000/ffff\x07", "\x1b]11;#ffffff\x07",
		}).Draw(rt, "answer")
		keys := rapid.StringOfN(rapid.RuneFrom([]rune("a容\x1b[]1;")), 0, 40, -1)
		before, after := keys.Draw(rt, "before"), keys.Draw(rt, "after")
		if bytes.Contains([]byte(before), []byte(answerBegins)) {
			rt.Skip("typed what an answer begins with")
		}
		var src io.Reader = bytes.NewReader([]byte(before + answer + after))
		if rapid.Bool().Draw(rt, "slow") {
			src = &pieces{left: []byte(before + answer + after)}
		}
		var told []bool
		w := &wholeKeys{read: src.Read}
		w.answer.expect(func(dark bool) { told = append(told, dark) })
		got, buf := []byte{}, make([]byte, 256)
		for {
			n, err := w.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				break
			}
		}
		got = append(got, w.held...)
		if string(got) != before+after || len(told) != 1 || told[0] != answers[answer] {
			rt.Fatalf("%q and %q became %q, told %v", before, after, got, told)
		}
	})
}

func TestWhatIsNoAnswerIsKeys(t *testing.T) {
	long := "\x1b]11;" + string(bytes.Repeat([]byte("x"), 2*longestAnswer))
	for _, keys := range []string{"\x1b]", "\x1b]1", long, "\x1b", "\x1b]12;rgb:0/0/0\x07"} {
		w := &wholeKeys{read: bytes.NewReader([]byte(keys)).Read}
		w.answer.expect(func(bool) { t.Errorf("%q is an answer", keys) })
		got, buf := []byte{}, make([]byte, 256)
		for {
			n, err := w.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				break
			}
		}
		if got = append(got, w.held...); string(got) != keys {
			t.Errorf("%q became %q", keys, got)
		}
	}
}

func TestTheTerminalIsAskedOnlyWhereItDecides(t *testing.T) {
	env := func(pairs map[string]string) func(string) string {
		return func(name string) string { return pairs[name] }
	}
	for _, c := range []struct {
		theme string
		env   map[string]string
		want  bool
	}{
		{"", map[string]string{"TERM": "xterm-256color"}, true},
		{"default", map[string]string{"TERM": "xterm-256color"}, true},
		{"dusk", map[string]string{"TERM": "xterm-256color"}, false},
		{"", map[string]string{"TERM": "xterm", "COLORFGBG": "0;15"}, false},
		{"", map[string]string{"TERM": "linux"}, false},
		{"", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
	} {
		if got := (Options{Theme: c.theme, Getenv: env(c.env)}).shouldAskBackground(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
