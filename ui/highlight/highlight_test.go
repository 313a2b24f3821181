package highlight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"pgregory.net/rapid"

	"hermes/themes"
	"hermes/ui/style"
	"hermes/ui/text"
)

// samples hold a keyword, a string or a comment of each language, which must not look like the
// rest.
var samples = map[string]string{
	"go": "func main() { println(\"x\") } // c", "python": "def f():\n    return 'x'  # c", "bash": "if true; then echo 'x'; fi # c",
	"yaml": "key: \"value\" # c", "json": `{"a": true, "b": 1}`, "js": "const a = 'x' // c", "ts": "let a: string = 'x'",
	"rust": "fn main() { let x = \"y\"; }", "sql": "SELECT a FROM b WHERE c = 'd'", "dockerfile": "FROM a\nRUN echo \"x\"",
	"make": "all: ## c\n\techo $(X)", "diff": "-a\n+b", "toml": "a = \"b\" # c", "html": "<b class=\"x\">y</b>", "java": "class A { int b = 1; }",
	"c": "int main(void) { return 0; }", "console": "$ echo \"x\"", "lua": "local a = 'b' -- c",
}

func TestUsualLanguagesAreColoured(t *testing.T) {
	theme, _ := themes.Load("hermes")
	for language, code := range samples {
		h := New(style.New(theme, style.True, false), text.Pen{Fg: text.Indexed(1)})
		pens := map[text.Pen]bool{}
		for _, line := range h.Lines(code, language) {
			for _, r := range line {
				pens[r.Pen] = true
			}
		}
		if len(pens) < 2 {
			t.Errorf("%s is drawn in %d styles", language, len(pens))
		}
	}
}

func TestColoursFollowTheTheme(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"hermes", "daylight", "dusk"} {
		theme, _ := themes.Load(name)
		drawn := fmt.Sprint(New(style.New(theme, style.True, false), text.Pen{}).Lines("func f() {}", "go"))
		for other, before := range seen {
			if before == drawn {
				t.Errorf("%s and %s draw the same", name, other)
			}
		}
		seen[name] = drawn
	}
}

func colours() *style.Styles {
	theme, _ := themes.Load("hermes")
	return style.New(theme, style.True, false)
}

func TestTheLanguageOfAFile(t *testing.T) {
	for path, want := range map[string]string{"a/b.go": "go", "x.py": "python", "Makefile": "makefile", "Dockerfile": "docker", "a.b/c": "", "": ""} {
		if got := Language(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

// TestHighlightingKeepsEveryByte: whatever a lexer makes of a text, what is shown is the text.
func TestHighlightingKeepsEveryByte(t *testing.T) {
	h := New(colours(), text.Pen{})
	languages := []string{"go", "python", "bash", "yaml", "html", "markdown", "php", "make", "console", "nonsense", ""}
	pieces := []string{"\"", "'", "`", "/*", "*/", "#", "//", "\n", "\n\n", "{", "}", "<a ", "<?php ", "$(", "0x", "word ", "容器", "\t", "\\", "EOF", "<<EOF\n", ":"}
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "src"), "")
		var b strings.Builder
		for i, line := range h.Lines(src, rapid.SampledFrom(languages).Draw(t, "language")) {
			if i > 0 {
				b.WriteByte('\n')
			}
			for _, r := range line {
				b.WriteString(r.Text)
			}
		}
		if b.String() != src {
			t.Fatalf("%q became %q", src, b.String())
		}
	})
}

// TestALexerThatHangsLeavesPlainCode: the patterns of lexers backtrack, so one of them can need
// hours for a line.
func TestALexerThatHangsLeavesPlainCode(t *testing.T) {
	defer func(usual time.Duration) { Budget = usual }(Budget)
	Budget = 150 * time.Millisecond
	h := New(colours(), text.Pen{})
	h.lexers["evil"] = chroma.MustNewLexer(&chroma.Config{Name: "evil"}, func() chroma.Rules {
		return chroma.Rules{"root": {{Pattern: `(([a-z])+.)+[A-Z]([a-z])+$`, Type: chroma.Keyword, Mutator: nil}, {Pattern: `.|\n`, Type: chroma.Text, Mutator: nil}}}
	})
	line := strings.Repeat("a", 100)
	got := h.Lines(line, "evil")
	if len(got) != 1 || len(got[0]) != 1 || got[0][0] != (Run{line, h.base}) {
		t.Errorf("drawn as %v", got)
	}
}
