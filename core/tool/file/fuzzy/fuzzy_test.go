package fuzzy

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/testskip"
	"hermes/core/testwait"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestChain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, old, text, want, how string }{
		"exact":                  {"a b c", "b", "x", "a x c", "exact"},
		"exact within a line":    {"foo(bar)\n", "bar", "", "foo()\n", "exact"},
		"trailing blanks":        {"if x:  \n  y()\n", "if x:\n  y()\n", "if z:\n  y()\n", "if z:\n  y()\n", "line-trimmed"},
		"tabs for blanks":        {"\tif x {\n\t\ty()\n\t}\n", "    if x {\n        y()\n    }\n", "    if x {\n        y()\n        if a {\n            b()\n        }\n    }\n", "\tif x {\n\t\ty()\n\t\tif a {\n\t\t\tb()\n\t\t}\n\t}\n", "line-trimmed"},
		"no indentation":         {"    def f():\n        return 1\n", "def f():\n    return 1", "def f():\n    return 2", "    def f():\n        return 2\n", "line-trimmed"},
		"inner blanks":           {"x  =   1; y = 2\n", "x = 1;", "x = 3;", "x  =   3; y = 2\n", "whitespace-normalised"},
		"inner blanks, lines":    {"a  = 1\nb =  2\n", "a = 1\nb = 2\n", "a = 1\nb = 3\n", "a = 1\nb = 3\n", "whitespace-normalised"},
		"indent and blanks":      {"\t\ta  = 1\n\t\tb =  2\n", "a = 1\nb = 2\n", "a = 1\nc = 2\n", "\t\ta = 1\n\t\tc = 2\n", "indentation-flexible"},
		"escaped twice":          {"a(\"x\")\nb()\n", `a(\"x\")\nb()`, `a(\"y\")\nb()`, "a(\"y\")\nb()\n", "escape-normalised"},
		"blank boundary":         {"a\n  b\nc\n", "\n\nb\n\n", "\n\nd\n\n", "a\n  d\nc\n", "trimmed-boundary"},
		"boundary within a line": {"foo(bar, baz)\n", " bar, ", " qux, ", "foo(qux, baz)\n", "trimmed-boundary"},
		"typographic":            {"say “hello” — then go…\n", `say "hello" - then go...`, `say "hello" - then stop...`, "say “hello” — then stop...\n", "unicode-normalised"},
		"em dash as two hyphens": {"a — b\n", "a -- b", "a -- c", "a — c\n", "unicode-normalised"},
		"two hyphens as em dash": {"run --flag now\n", "run —flag now", "run —flag later —all", "run --flag later --all\n", "unicode-normalised"},
		"hyphen as em dash":      {"a - b\n", "a — b", "a — c — d", "a - c - d\n", "unicode-normalised"},
		"em dash without blanks": {"now—or never\n", "now--or never", "now--or later", "now—or later\n", "unicode-normalised"},
		"plain quotes as curly":  {"say(\"hi\", 'x')\n", "say(“hi”, ‘x’)", "say(“ho”, ‘x’, “it’s”)", "say(\"ho\", 'x', \"it's\")\n", "unicode-normalised"},
		"curly, other indentation": {
			"\tsay(\"hi\") \n\tdone(\"a\")\n", "  say(“hi”)\n  done(“a”)\n", "  say(“ho”)\n  done(“a”)\n",
			"\tsay(\"ho\")\n\tdone(\"a\")\n", "unicode-normalised",
		},
		"curly in the file, lines": {
			"  It’s “here” — now.\n\tNot “there”.\n", "It's \"here\" -- now.\nNot \"there\".\n", "It's \"here\" -- now.\nNot here.\n",
			"  It’s “here” — now.\n\tNot here.\n", "unicode-normalised",
		},
		"nbsp":       {"a\u00a0b = c\n", "a b = c", "a b = d", "a\u00a0b = d\n", "unicode-normalised"},
		"anchors":    {"func f() {\n\tx := compute(1)\n\treturn x\n}\n", "func f() {\n\tx := compute(2)\n\treturn y\n}", "func f() {\n}", "func f() {\n}\n", "block-anchor"},
		"context":    {"alpha one\nbeta two\ngamma three\n", "alpha one\nbeta too\ngamma threw it", "new", "new\n", "context-aware"},
		"CRLF place": {"a\r\n b \r\nc\n", "a\nb\n", "x\ny\n", "x\r\n y\r\nc\n", "line-trimmed"},
	} {
		got, err := Replace(c.content, c.old, c.text, false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Text != c.want || got.Strategy != c.how {
			t.Errorf("%s: %s gave %q, want %s with %q", name, got.Strategy, got.Text, c.how, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	if _, err := Replace("a", "", "b", false); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	if _, err := Replace("a", "a", "a", false); !errors.Is(err, ErrSame) {
		t.Error(err)
	}
	var amb *AmbiguousError
	if _, err := Replace("a\nb\na\n", "a", "c", false); !errors.As(err, &amb) || amb.Count != 2 || amb.Lines[1] != 3 {
		t.Errorf("%v", err)
	}
	// An exact match that is not unique must not fall through to a looser way that happens to be.
	if _, err := Replace("x = 1\nx = 1\n", "x = 1", "y", false); !errors.As(err, &amb) || amb.Strategy != "exact" {
		t.Errorf("%v", err)
	}
	var drift *DriftError
	if _, err := Replace("f('a')\ng('it')\nh()\n", "f(\\'a\\')\ng(\\'it\\') \nh()\n", "f(\\'b\\')\ng()\nh()\n", false); !errors.As(err, &drift) && err != nil {
		t.Errorf("%v", err)
	}
	if _, err := Replace("begin\n  say('don't')\nfinish\n", "begin\n  say(\\'don't\\') ?\nfinish\n", "begin\n  say(\\'do\\')\nfinish\n", false); !errors.As(err, &drift) {
		t.Errorf("%v", err)
	}
	var nf *NotFoundError
	if _, err := Replace("one\nreturn compute(x)\n", "return compute(y, z)\nnothing\nalike here", "q", false); !errors.As(err, &nf) || len(nf.Closest) != 1 || nf.Closest[0].Line != 2 {
		t.Errorf("%v", err)
	}
	if _, err := Replace("\n\n\n", " \n ", "q", false); !errors.As(err, &nf) {
		t.Errorf("blank quote: %v", err)
	}
}

func TestReplaceAll(t *testing.T) {
	t.Parallel()
	got, err := Replace("a  b\na b\n", "a b", "c", true)
	if err != nil || got.Text != "a  b\nc\n" || got.Strategy != "exact" {
		t.Errorf("the strictest way that finds anything decides: %+v %v", got, err)
	}
	got, err = Replace("\tx\n y\n\tx\n", "  x\n", "  z\n", true)
	if err != nil || got.Text != "\tz\n y\n\tz\n" {
		t.Errorf("%+v %v", got, err)
	}
}

// TestGolden keeps longer real cases as files: name.in (content, old, new cut by "=====" lines) and
// name.golden.
func TestGolden(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*.in")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no golden cases: %v", err)
	}
	for _, path := range cases {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(string(raw), "=====\n")
		if len(parts) != 3 {
			t.Fatalf("%s: want content, old and new cut by ===== lines", path)
		}
		out, err := Replace(parts[0], parts[1], parts[2], false)
		text := "# " + out.Strategy + "\n" + out.Text
		if err != nil {
			text = "# error\n" + err.Error() + "\n"
		}
		golden := strings.TrimSuffix(path, ".in") + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != text {
			t.Errorf("%s: got\n%s\nwant\n%s(%v)", path, text, want, err)
		}
	}
}

func TestUniqueExactEqualsStringsReplace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		content := drawText(t, "content")
		if content == "" {
			return
		}
		from := rapid.IntRange(0, len(content)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(content)).Draw(t, "to")
		old, text := content[from:to], drawText(t, "new")
		got, err := Replace(content, old, text, false)
		switch n := strings.Count(content, old); {
		case old == text:
			if !errors.Is(err, ErrSame) {
				t.Fatal(err)
			}
		case n == 1:
			if err != nil || got.Text != strings.Replace(content, old, text, 1) {
				t.Fatalf("%v %q", err, got.Text)
			}
		default:
			var amb *AmbiguousError
			if !errors.As(err, &amb) || amb.Count != n {
				t.Fatalf("%d times, but %v", n, err)
			}
		}
	})
}

// Whatever a way does, bytes outside its spans stay, and the spans are in order within the content.
func TestNothingOutsideTheMatchChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		content := drawText(t, "content")
		q := newQuery(content, drawQuote(t, content), drawText(t, "new"))
		if strings.TrimSpace(q.old) == "" {
			return
		}
		for _, s := range strategyChain() {
			spans := s.find(q)
			if s.guess && len(spans) > 1 {
				continue // refused as ambiguous, so they may overlap
			}
			checkSpans(t, content, s.name, spans)
		}
	})
}

type failer interface{ Fatalf(string, ...any) }

func checkSpans(t failer, content, name string, spans []Span) {
	at := 0
	rest := spliceSpans(content, spans)
	for _, s := range spans {
		if s.Start < at || s.End < s.Start || s.End > len(content) {
			t.Fatalf("%s: span %+v out of order in %d bytes", name, s, len(content))
		}
		keep := content[at:s.Start] + s.Text
		if !strings.HasPrefix(rest, keep) {
			t.Fatalf("%s: text outside the match changed", name)
		}
		rest, at = rest[len(keep):], s.End
	}
	if rest != content[at:] {
		t.Fatalf("%s: the end changed", name)
	}
}

func drawText(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "b", "foo(", ")", " ", "  ", "\t", "\n", "\r\n", "\n\n", "“", `"`, "—", "…", "...", `\n`, `\"`, "日本", "return x", "\u00a0", "\xff",
	}), 0, 24).Draw(t, name), "")
}

// drawQuote draws a quote that is near to something in the content.
func drawQuote(t *rapid.T, content string) string {
	from := rapid.IntRange(0, len(content)).Draw(t, "from")
	s := content[from:rapid.IntRange(from, len(content)).Draw(t, "to")]
	return rapid.SampledFrom([]func(string) string{
		func(s string) string { return s },
		strings.TrimSpace,
		func(s string) string { return toASCII(s).text },
		func(s string) string { return collapseBlanks(s).text },
		func(s string) string { return strings.ReplaceAll(s, "\t", "    ") },
		func(s string) string { return "\n" + s + "\n" },
		func(s string) string { return strings.ReplaceAll(s, "a", "b") },
	}).Draw(t, "twist")(s)
}

func FuzzReplace(f *testing.F) {
	f.Add("a\n\tb\nc", "    b\n", "d", false)
	f.Add("“x”…", `"x"...`, `"y"...`, false)
	f.Add("a\r\nb\r\n", "a\nb", "", true)
	f.Fuzz(func(t *testing.T, content, old, text string, all bool) {
		got, err := Replace(content, old, text, all)
		if err != nil {
			return
		}
		checkSpans(t, content, got.Strategy, got.Spans)
		if got.Text != spliceSpans(content, got.Spans) {
			t.Fatal("text is not the spliced content")
		}
	})
}

// A large file of lines that all resemble the quote must not take minutes. The limit is many times
// what it takes.
func TestEffortIsBounded(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, "compares what takes long on purpose")
	var b strings.Builder
	for i := range 15_000 {
		fmt.Fprintf(&b, "{\"id\": %d, \"name\": \"%s\", \"ratio\": 0.%d},\n", i, strings.Repeat("abcdefg", 20), i*7919%1000003)
	}
	quote := strings.Repeat("{\"id\": x, \"name\": \""+strings.Repeat("gfedcba", 20)+"\", \"ratio\": 0.y},\n", 30)
	began := time.Now()
	_, err := Replace(b.String(), quote, "q", false)
	var nf *NotFoundError
	if !errors.As(err, &nf) {
		t.Error(err)
	}
	if took := time.Since(began); took > testwait.Within(time.Minute) {
		t.Errorf("took %s", took)
	}
}
