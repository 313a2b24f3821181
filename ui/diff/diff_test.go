package diff

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hermes/themes"
	"hermes/ui/style"
	"hermes/ui/text"
)

const sample = "--- a/pool.go\n+++ b/pool.go\n@@ -8,4 +8,5 @@ func reap\n \tfor {\n-\t\tif idle() < 30 {\n+\t\tif idle() <= 30 {\n+\t\t\tlog(\"容器\")\n \t}\n"

func TestUnified(t *testing.T) {
	got := trim(Render(sample, 40, &style.Styles{}))
	want := "@@ -8,4 +8,5 @@ func reap| 8       for {| 9 -         if idle() < 30 {| 9 +         if idle() <= 30 {|10 +             log(\"容器\")|11       }"
	if got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func TestSideBySide(t *testing.T) {
	lines := Render(sample, 160, &style.Styles{})
	if len(lines) != 5 {
		t.Fatalf("%d rows: %q", len(lines), lines)
	}
	if !strings.Contains(lines[2], "idle() < 30") || !strings.Contains(lines[2], "idle() <= 30") {
		t.Errorf("old and new are not on one row: %q", lines[2])
	}
}

func TestTheChangedPartIsFound(t *testing.T) {
	a, b := line{text: "if 容器 < 30 {"}, line{text: "if 容网 <= 30 {"}
	markDifference(&a, &b)
	if a.text[a.from:a.to] != "器 <" || b.text[b.from:b.to] != "网 <=" {
		t.Fatalf("%q, %q", a.text[a.from:a.to], b.text[b.from:b.to])
	}
}

func TestEveryLineIsExactlyAsWide(t *testing.T) {
	pieces := []string{"@@ -1,2 +1,2 @@\n", "+", "-", " ", "\\ No newline\n", "word ", "\t", "容器", "\n", "\n", "\x1b[31m", "👩‍👩‍👧", "\x00", "--- a\n", "diff --git\n", "@@ -x\n"}
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "diff"), "")
		w := rapid.IntRange(1, 170).Draw(t, "w")
		for _, l := range Render(src, w, &style.Styles{}) {
			if n := text.Width(l); n != w {
				t.Fatalf("%d cells of %d: %q from %q", n, w, l, src)
			}
		}
	})
}

// Syntax stands inside of bands as wide as the diff, and the words that changed are marked.
func TestBandsSyntaxAndWordMarks(t *testing.T) {
	theme, _ := themes.Load("hermes")
	s := style.New(theme, style.True, false)
	for _, w := range []int{60, 160} {
		lines := Render(sample, w, s)
		removed, added := "", ""
		for _, l := range lines {
			if strings.Contains(text.Sanitize(l), "< 30") {
				removed = l
			}
			if strings.Contains(text.Sanitize(l), "<= 30") {
				added = l
			}
		}
		keyword := style.Over(style.PenOf(s.DiffDel), text.Pen{})
		if !strings.Contains(removed, (text.Pen{Bg: keyword.Bg}).SGR()) {
			t.Errorf("%d: no band: %q", w, removed)
		}
		pens := map[text.Colour]bool{}
		var pen text.Pen
		for rest := added; rest != ""; {
			if rest[0] == 0x1b {
				n := text.Sequence(rest)
				pen.Scan(rest[:n])
				pens[pen.Fg], pens[pen.Bg] = true, true
				rest = rest[n:]
				continue
			}
			rest = rest[1:]
		}
		if mark := style.PenOf(s.DiffAddMark).Bg; !pens[mark] {
			t.Errorf("%d: the changed words are not marked: %q", w, added)
		}
		if len(pens) < 5 {
			t.Errorf("%d: the code has no colours of its own: %q", w, added)
		}
	}
}

func trim(lines []string) string {
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "|")
}
