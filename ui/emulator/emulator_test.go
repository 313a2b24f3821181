package emulator

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"go.uber.org/goleak"

	"hermes/core/testwait"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func terminal(t testing.TB, w, h int) *Terminal {
	t.Helper()
	term := New(w, h, nil)
	t.Cleanup(term.Close)
	return term
}

func plain(term *Terminal, back int) string {
	rows := term.Rows(style.None, back)
	for i := range rows {
		rows[i] = strings.TrimRight(text.Sanitize(rows[i]), " ")
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

func TestCells(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"text":              {"hello\r\nworld", "hello\nworld"},
		"cursor":            {"\x1b[2;3Hx\x1b[Hy", "y\n  x"},
		"wide":              {"网络 x", "网络 x"},
		"title stays":       {"\x1b]0;evil\aok", "ok"},
		"clipboard stays":   {"\x1b]52;c;ZXZpbA==\aok", "ok"},
		"link is text":      {"\x1b]8;;http://evil\x1b\\ok\x1b]8;;\x1b\\", "ok"},
		"private strings":   {"\x1bPevil\x1b\\\x1b_evil\x1b\\\x1b^evil\x1b\\ok", "ok"},
		"erase":             {"abc\r\x1b[Kx", "x"},
		"alternate":         {"shell\x1b[?1049h\x1b[Hvi\x1b[?1049l", "shell"},
		"conceal":           {"a\x1b[8mb\x1b[mc", "a c"},
		"bidi is not drawn": {"a\u202eb", "ab"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			term := terminal(t, 10, 3)
			term.Write([]byte(c.in))
			if got := plain(term, 0); got != c.want {
				t.Errorf("%q shows %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestColoursAreWhatTheScreenHas(t *testing.T) {
	in := "\x1b[1;38;2;250;20;30mred\x1b[0m \x1b[34mblue\x1b[m \x1b[38;5;208morange"
	want := map[style.Level]string{
		style.True:    "\x1b[0;1;38;2;250;20;30mred\x1b[0m \x1b[0;34mblue\x1b[0m \x1b[0;38;5;208morange",
		style.Indexed: "\x1b[0;1;38;5;196mred\x1b[0m \x1b[0;34mblue\x1b[0m \x1b[0;38;5;208morange",
		style.Basic:   "\x1b[0;1;91mred\x1b[0m \x1b[0;34mblue\x1b[0m \x1b[0;91morange",
		style.None:    "\x1b[0;1mred\x1b[0m blue orange",
	}
	for level, w := range want {
		term := terminal(t, 20, 1)
		term.Write([]byte(in))
		got := strings.ReplaceAll(strings.TrimRight(strings.TrimSuffix(term.Rows(level, 0)[0], "\x1b[0m"), " "), "\x1b[m", "\x1b[0m")
		if got = strings.TrimSuffix(got, "\x1b[0m"); got != w {
			t.Errorf("%v: %q, want %q", level, got, w)
		}
	}
}

func TestHistory(t *testing.T) {
	term := terminal(t, 10, 3)
	for i := range 10 {
		fmt.Fprintf(writer{term}, "line %d\r\n", i)
	}
	if got := plain(term, 0); got != "line 8\nline 9" {
		t.Errorf("shows %q", got)
	}
	if got := plain(term, 5); got != "line 3\nline 4\nline 5" {
		t.Errorf("5 back shows %q", got)
	}
	if got := plain(term, 500); !strings.HasPrefix(got, "line 0") || term.History() != 8 {
		t.Errorf("the top shows %q of %d", got, term.History())
	}
	term.Write([]byte("\x1b[?1049h"))
	if term.History() != 0 || !term.Alternate() {
		t.Error("a full-screen program has a history")
	}
}

type writer struct{ t *Terminal }

func (w writer) Write(p []byte) (int, error) { w.t.Write(p); return len(p), nil }

func TestQuestionsAreAnsweredAndNobodyWaits(t *testing.T) {
	got := make(chan []byte, 100)
	term := New(10, 3, func(b []byte) {
		select {
		case got <- b:
		default:
		}
	})
	defer term.Close()
	term.Write([]byte("ab\x1b[6n"))
	select {
	case b := <-got:
		if string(b) != "\x1b[1;3R" {
			t.Errorf("the cursor's place is answered with %q", b)
		}
	case <-time.After(testwait.Hang):
		t.Fatal("no answer")
	}
	term.Write(bytes.Repeat([]byte("\x1b[c\x1b[5n"), 1000)) // more than anybody takes: ends
}

func TestKeys(t *testing.T) {
	term := terminal(t, 10, 3)
	check := func(k tea.KeyMsg, want string) {
		t.Helper()
		if got := string(term.Key(k)); got != want {
			t.Errorf("%s sends %q, want %q", k, got, want)
		}
	}
	check(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("é网")}, "é网")
	check(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("b"), Alt: true}, "\x1bb")
	check(tea.KeyMsg{Type: tea.KeySpace}, " ")
	check(tea.KeyMsg{Type: tea.KeyEnter}, "\r")
	check(tea.KeyMsg{Type: tea.KeyCtrlC}, "\x03")
	check(tea.KeyMsg{Type: tea.KeyEsc}, "\x1b")
	check(tea.KeyMsg{Type: tea.KeyTab}, "\t")
	check(tea.KeyMsg{Type: tea.KeyShiftTab}, "\x1b[Z")
	check(tea.KeyMsg{Type: tea.KeyBackspace}, "\x7f")
	check(tea.KeyMsg{Type: tea.KeyUp}, "\x1b[A")
	check(tea.KeyMsg{Type: tea.KeyCtrlLeft}, "\x1b[1;5D")
	check(tea.KeyMsg{Type: tea.KeyRight, Alt: true}, "\x1b[1;3C")
	check(tea.KeyMsg{Type: tea.KeyDelete}, "\x1b[3~")
	check(tea.KeyMsg{Type: tea.KeyCtrlPgUp}, "\x1b[5;5~")
	check(tea.KeyMsg{Type: tea.KeyF1}, "\x1bOP")
	check(tea.KeyMsg{Type: tea.KeyF5}, "\x1b[15~")
	check(tea.KeyMsg{Type: tea.KeyF12}, "\x1b[24~")
	check(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a\nb\x03\x1b\tc"), Paste: true}, "a\rb\tc")
	term.Write([]byte("\x1b[?1h\x1b[?2004h"))
	check(tea.KeyMsg{Type: tea.KeyUp}, "\x1bOA")
	check(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a\x1b[201~rm\u009b\x03"), Paste: true}, "\x1b[200~a[201~rm\x1b[201~")
	term.Write([]byte("\x1b[?1l"))
	check(tea.KeyMsg{Type: tea.KeyUp}, "\x1b[A")
}

func TestMouse(t *testing.T) {
	term := terminal(t, 10, 3)
	click := tea.MouseMsg{X: 4, Y: 1, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress}
	if got := term.Mouse(click); got != nil {
		t.Errorf("a program that wants no mouse gets %q", got)
	}
	term.Write([]byte("\x1b[?1000h\x1b[?1006h"))
	if got := string(term.Mouse(click)); got != "\x1b[<0;5;2M" {
		t.Errorf("a click is %q", got)
	}
	if got := term.Mouse(tea.MouseMsg{X: 10, Y: 1, Button: tea.MouseButtonLeft}); got != nil {
		t.Errorf("a click beside the terminal is %q", got)
	}
	if got := term.Mouse(tea.MouseMsg{X: 1, Y: 1, Button: tea.MouseButtonLeft, Action: tea.MouseActionMotion}); got != nil {
		t.Errorf("motion that nobody wants is %q", got)
	}
}

// FuzzWrite: whatever is written, the rows have their shape, and it ends soon.
func FuzzWrite(f *testing.F) {
	for _, s := range []string{
		"\x1b[2147483647b", "a\x1b[99999999b", "\x1b[1;999r\n\n\n\x1b[999S", "\x1b[?1049h\x1b[5;2r\x1b[9999;9999Hx", "\x1b[?69h\x1b[3;999sx\n", "\x1b]8;;x\a网",
		"\x1b[-1;-5H", "\x1b[0;0f", "\x1b[999999L", "\x1b#8", "e\u0301\u200d👨‍👩‍👧", "\xff\xfe\x9b31m", "\x1b(0qqq\x0e\x0f", "\x1bM\x1bD\x1bc", "\x1b[?2048h", "\x1b[?6h\x1b[2;3r\x1b[9;9H",
	} {
		f.Add([]byte(s), uint8(20), uint8(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, w, h uint8) {
		if len(data) > 2000 {
			return
		}
		term := New(20, 6, nil)
		defer term.Close()
		begin := time.Now()
		late := time.AfterFunc(testwait.Hang, func() { panic(fmt.Sprintf("%q at %dx%d does not end", data, w, h)) })
		defer late.Stop()
		term.Write(data)
		term.Resize(int(w%60)+1, int(h%30)+1)
		term.Write(data)
		if d := time.Since(begin); d > testwait.Within(5*time.Second) {
			t.Fatalf("%q takes %v", data, d)
		}
		for _, level := range []style.Level{style.None, style.True} {
			for _, back := range []int{0, 3} {
				if why := uitest.BlockProblem(strings.Join(term.Rows(level, back), "\n"), term.w, term.h); why != "" {
					t.Fatalf("%q at %dx%d: %s", data, term.w, term.h, why)
				}
			}
		}
		term.Cursor()
	})
}

func BenchmarkYes(b *testing.B) {
	term := New(100, 30, nil)
	defer term.Close()
	data := bytes.Repeat([]byte("y\r\n"), 1000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		term.Write(data)
	}
}

func BenchmarkRows(b *testing.B) {
	term := New(100, 30, nil)
	defer term.Close()
	term.Write(bytes.Repeat([]byte("\x1b[31mhello \x1b[1;38;2;9;99;200mworld\x1b[0m of terminals\r\n"), 40))
	for b.Loop() {
		term.Rows(style.True, 0)
	}
}
