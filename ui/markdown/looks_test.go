package markdown

import (
	"strings"
	"testing"

	"hermes/themes"
	"hermes/ui/style"
	"hermes/ui/text"
)

func themed() *style.Styles {
	theme, _ := themes.Load("hermes")
	return style.New(theme, style.True, false)
}

func TestHeadingLevelsDiffer(t *testing.T) {
	for name, s := range map[string]*style.Styles{"in colours": themed(), "without": {Plain: true}} {
		seen := map[text.Pen]int{}
		for i, pen := range newPalette(s).headings {
			if other, ok := seen[pen]; ok && (name == "in colours" || i < 4) {
				t.Errorf("%s: levels %d and %d look alike", name, other+1, i+1)
			}
			seen[pen] = i
		}
	}
	r := NewRenderer(themed())
	if one, two := r.Render("# a", 20)[0], r.Render("## a", 20)[0]; one == two {
		t.Errorf("both are %q", one)
	}
}

func TestSimpleMathsIsWrittenOut(t *testing.T) {
	for src, want := range map[string]string{
		"$E = mc^2$":                    "E = mc²",
		"so $a_1 \\le b^{10}$, says he": "so a₁ ≤ b¹⁰, says he",
		"$$\\alpha \\times \\pi$$":      "α × π",
		"$x$":                           "x",
		"costs $5 and $6":               "costs $5 and $6",
		"$HOME/$USER and ${A}=$B":       "$HOME/$USER and ${A}=$B",
		"$\\frac{a}{b}$":                "$\\frac{a}{b}$",
		"a$b=c$d":                       "a$b=c$d",
	} {
		src, want := strings.ReplaceAll(src, `\\`, `\`), strings.ReplaceAll(want, `\\`, `\`)
		if got := simpleMaths(src); got != want {
			t.Errorf("%q became %q, want %q", src, got, want)
		}
	}
}

func TestMathsInAnAnswer(t *testing.T) {
	for src, want := range map[string]string{
		"So *he* said: $E = mc^2$, and $a_1$.":        "So he said: E = mc², and a₁.",
		`So \(E = mc^2\), and \[ a_1 \].`:             "So E = mc², and a₁.",
		"It is\n$$\nE = mc^2\n$$\nas he said.":        "It is E = mc² as he said.",
		"It is\n\\[\nE = mc^2\n\\]\nas he said.":      "It is E = mc² as he said.",
		`\(\frac{a}{b}\), \[x\] &amp; \(a &lt; b\)`:   `(\frac{a}{b}), [x] & a < b`,
		`f\(x=1\) and \\(y\\) and [a\]\(b\)`:          `f(x=1) and \(y\) and [a](b)`,
		"`$E = mc^2$` and `\\(a_1\\)` cost $5 and $6": `$E = mc^2$ and \(a_1\) cost $5 and $6`,
	} {
		got := NewRenderer(&style.Styles{Plain: true}).Render(src, 60)
		if got := strings.TrimSpace(text.Sanitize(strings.Join(got, " "))); got != want {
			t.Errorf("%q is drawn %q, want %q", src, got, want)
		}
	}
}

func FuzzSimpleMaths(f *testing.F) {
	f.Add("$E = mc^2$ $a_{$")
	f.Fuzz(func(_ *testing.T, s string) { simpleMaths(s) })
}

func TestTaskListsAreTicked(t *testing.T) {
	lines := NewRenderer(&style.Styles{Plain: true}).Render("- [x] done\n- [ ] open\n  - [X] below", 24)
	if got := text.Sanitize(strings.Join(lines, "|")); got != "[✓] done|[ ] open|    [✓] below|" {
		t.Errorf("%q", got)
	}
}

func TestACodeBlockNamesItsLanguage(t *testing.T) {
	lines := NewRenderer(&style.Styles{Plain: true}).Render("```go\nx\ty\n\nz\n```", 24)
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if got := strings.Join(lines, "|"); got != "╭ go|│ x   y|│|│ z|" {
		t.Errorf("%q", got)
	}
}

func TestLongCodeLinesHaveAMarkWhereTheyGoOn(t *testing.T) {
	lines := NewRenderer(&style.Styles{Plain: true}).Render("```\n"+strings.Repeat("x", 30)+"\n```", 20)
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "│ x") || !strings.HasPrefix(lines[1], "│↳x") {
		t.Errorf("%q", lines)
	}
}

func TestAFencedDiffHasBands(t *testing.T) {
	lines := NewRenderer(themed()).Render("```diff\n-old\n+new\n same\n```", 30)
	add, del := style.PenOf(themed().DiffAdd), style.PenOf(themed().DiffDel)
	for i, pen := range map[int]text.Pen{1: del, 2: add} {
		if text.Width(lines[i]) != 30 || !strings.Contains(lines[i], (text.Pen{Bg: pen.Bg}).SGR()) {
			t.Errorf("line %d has no band: %q", i, lines[i])
		}
	}
	if text.Width(lines[3]) == 30 {
		t.Errorf("what is the same has a band: %q", lines[3])
	}
}
