package text

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"hermes/core/testskip"
)

var pieces = []string{
	"a", "word ", "  ", "\t", "\n", "容器", "网络 ", "é", "e\u0301", "👩‍👩‍👧", "🇯🇵", "❤️", "한글", "ไทย", "\u202e", "\u200b", "\u0085",
	"\x1b[31m", "\x1b[0m", "\x1b[1;38;5;208m", "\x1b[48;2;1;2;3m", "\x1b[4:3m", "\x1b[2J", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\",
	"\x1bPq#0\x1b\\", "\x1b_Gx\x1b\\", "\x1b(B", "\x1b", "\x1b[", "\x1b[31", "\x1b]52;c;aGk=", "\u009b31m", "\u009d0;x\u009c", "\x00", "\x7f", "\x07", "\r", "\xff", "\xc2",
	"averyveryverylongwordwithoutanyblank",
}

func hostile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
	})
}

func styled() *rapid.Generator[string] {
	return rapid.Map(hostile(), func(s string) string { return ExpandTabs(SanitizeKeepSGR(s), 4) })
}

func checkClean(t interface{ Fatalf(string, ...any) }, in, out string) {
	for _, r := range out {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e {
			t.Fatalf("Sanitize(%q) = %q keeps %U", in, out, r)
		}
	}
	if again := Sanitize(out); again != out {
		t.Fatalf("Sanitize is not idempotent: %q, then %q", out, again)
	}
}

func TestSanitizeRemovesEverythingThatCommandsATerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := hostile().Draw(t, "in")
		checkClean(t, in, Sanitize(in))
		kept := SanitizeKeepSGR(in)
		if got, want := ansi.Strip(kept), Sanitize(in); got != want {
			t.Fatalf("SanitizeKeepSGR keeps more than colours of %q:\n%q\n%q", in, got, want)
		}
		if again := SanitizeKeepSGR(kept); again != kept {
			t.Fatalf("SanitizeKeepSGR is not idempotent: %q, then %q", kept, again)
		}
	})
}

func FuzzSanitize(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + "text" + p)
	}
	f.Fuzz(func(t *testing.T, in string) {
		checkClean(t, in, Sanitize(in))
		kept := SanitizeKeepSGR(in)
		var pen Pen
		pen.Scan(kept)
		checkClean(t, in, Sanitize(kept))
		for _, line := range Wrap(ExpandTabs(kept, 8), 7) {
			if Width(line) > 7 {
				t.Fatalf("Wrap(%q, 7) gives %q, %d cells", kept, line, Width(line))
			}
		}
	})
}

func TestSanitize(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "hello\n\tworld", "hello\n\tworld"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"title", "a\x1b]0;evil\x07b", "ab"},
		{"clipboard", "a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"},
		{"string without end hides its line only", "a\x1b]0;evil\nb", "a\nb"},
		{"sixel", "a\x1bPq#0;2;0;0;0\n~~\x1b\\b", "ab"},
		{"C1", "a\u009b31mb", "ab"},
		{"bidi", "user\u202etxt.exe", "usertxt.exe"},
		{"carriage return", "a\r\nb\r", "a\nb"},
		{"invalid", "a\xffb", "a\ufffdb"},
		{"emoji stays whole", "👩‍👩‍👧 ❤️", "👩‍👩‍👧 ❤️"},
		{"marks are capped", "a" + strings.Repeat("\u0301", 50), "a" + strings.Repeat("\u0301", maxMarks)},
		{"tags", "a\U000e0041b", "ab"},
		{"charset", "a\x1b(0b", "ab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Sanitize(tt.in); got != tt.want {
				t.Errorf("Sanitize(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	if got := SanitizeKeepSGR("\x1b[5;1;31mx\x1b[8m\x1b[my"); got != "\x1b[0;1;31mx\x1b[my" {
		t.Errorf("blink and conceal must go, the rest stay: %q", got)
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "容器": 4, "e\u0301": 1, "\x1b[31mab\x1b[m": 2, "❤️": 2, "a\tb": 2} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestFitIsExactAndClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, w := styled().Draw(t, "in"), rapid.IntRange(0, 60).Draw(t, "w")
		out := Fit(in, w)
		if Width(out) != w || strings.Contains(out, "\n") {
			t.Fatalf("Fit(%q, %d) = %q, %d cells", in, w, out, Width(out))
		}
		var pen Pen
		pen.Scan(out)
		if pen != (Pen{}) {
			t.Fatalf("Fit(%q, %d) = %q leaves %+v open", in, w, out, pen)
		}
		if Fit(out, w) != out {
			t.Fatalf("Fit is not idempotent on %q", out)
		}
		if got := Truncate(strings.ReplaceAll(in, "\n", ""), w, "…"); Width(got) > w {
			t.Fatalf("Truncate(%q, %d) = %q", in, w, got)
		}
	})
}

func TestWrapKeepsWidthStyleAndText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, w := styled().Draw(t, "in"), rapid.IntRange(2, 40).Draw(t, "w")
		lines := Wrap(in, w)
		for _, line := range lines {
			if Width(line) > w {
				t.Fatalf("Wrap(%q, %d) gives %q of %d cells", in, w, line, Width(line))
			}
			var pen Pen
			if pen.Scan(line); pen != (Pen{}) {
				t.Fatalf("Wrap(%q, %d) leaves %+v open in %q", in, w, pen, line)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(ansi.Strip(s)), "") }
		if got, want := squeeze(strings.Join(lines, " ")), squeeze(in); got != want {
			t.Fatalf("Wrap(%q, %d) changed the text:\n%q\n%q", in, w, got, want)
		}
	})
}

func TestExpandTabs(t *testing.T) {
	if got := ExpandTabs("a\tb\n容\tc\t", 4); got != "a   b\n容  c   " {
		t.Errorf("got %q", got)
	}
}

func TestPenSurvivesItsOwnSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pen, back Pen
		pen.Scan(hostile().Draw(t, "sgr"))
		back.Scan("\x1b[35;9m" + pen.SGR())
		if back != pen {
			t.Fatalf("%+v became %+v through %q", pen, back, pen.SGR())
		}
	})
}

func TestBlock(t *testing.T) {
	if got := Block([]string{"abc", "容"}, 2, 3); got != "ab\n容\n  " {
		t.Errorf("got %q", got)
	}
}

func BenchmarkWidth(b *testing.B) {
	for name, s := range map[string]string{"ascii": strings.Repeat("word ", 24), "cjk": strings.Repeat("容器 ", 24), "sgr": strings.Repeat("\x1b[31mword\x1b[m ", 24)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Width(s)
			}
		})
	}
}

func BenchmarkSanitizeMB(b *testing.B) {
	s := strings.Repeat("\x1b[31mFAILED\x1b[0m test_pool.py::test_ttl - assert 31 < 30\n", 1<<20/60)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		SanitizeKeepSGR(s)
	}
}

// A line is measured before a border and blanks are put around it: together they must be as wide as
// apart, whatever character the line begins and ends with.
func TestEveryCharacterKeepsItsWidthInAFrame(t *testing.T) {
	testskip.LongWithoutRace(t, "every character of Unicode")
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		for _, line := range []string{Sanitize(string(r)), "a" + Sanitize(string(r))} {
			fitted := Fit(line, 4)
			if inside, framed := Width(fitted), Width("│"+fitted+"│"); inside != 4 || framed != 6 {
				t.Errorf("%U at the edge of %q: %d cells, %d in a frame; want 4 and 6", r, line, inside, framed)
			}
		}
	}
}

func TestPercent(t *testing.T) {
	for want, of := range map[string][2]int{"0%": {0, 10}, "<1%": {7000, 1_000_000}, "50%": {5, 10}, "120%": {12, 10}} {
		if got := Percent(of[0], of[1]); got != want {
			t.Errorf("Percent(%v) is %q, want %q", of, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", -999: "-999", 1000: "1,000", -12_345: "-12,345", 123_456: "123,456", 1_234_567: "1,234,567"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1k", 1099: "1k", 4915: "4.9k", 9999: "9.9k", 10_000: "10k", 12_345: "12k", 1_234_567: "1.2M"} {
		if got := Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 4 * time.Millisecond: "4 ms", 100 * time.Millisecond: "0.1 s", 6200 * time.Millisecond: "6.2 s",
		41 * time.Second: "41 s", 125 * time.Second: "2:05", time.Hour + 2*time.Minute + 3*time.Second: "1:02:03",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
}
