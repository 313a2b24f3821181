package markdown

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"

	"hermes/ui/style"
	"hermes/ui/text"
)

// colours returns styles with enough colour to see a style that leaks.
func colours() *style.Styles {
	r := lipgloss.NewRenderer(nil)
	r.SetColorProfile(termenv.TrueColor)
	c := func(n string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(n)) }
	s := &style.Styles{Accent: c("#8888ff"), Strong: r.NewStyle().Bold(true), Code: c("#ff8800"), CodeBlock: c("#cccccc"), Link: c("#00aaff").Underline(true), Faint: c("#444444"), Dim: c("#888888"), Quote: c("#777777"), Good: c("#00ff00"), Info: c("#00ffff")}
	s.Glyphs.Bar, s.Glyphs.Bullet = "│", "•"
	return s
}

func drawn(r *Renderer, d *Doc, w int) []string {
	var out []string
	blocks, _ := d.Blocks()
	for _, b := range blocks {
		out = append(out, b.Lines(r, w)...)
	}
	return out
}

var pieces = []string{
	"word ", "two words", "\n", "\n\n", "\n\n", "\n", "- ", "- item\n", "* other\n", "1. one\n", "12) twelve\n", "  ", "    ", "\t", "# Head\n", "## H\n\n", "```\n", "```go\n", "~~~\n",
	"   ```\n", "  ```\n", "     ```\n", "````\n", "- ```\n", "func f() {}\n", "> quote\n", "> ", "> ```\n", "---\n", "===\n", "| a | b |\n|---|--:|\n| 1 | 2 |\n", "|x|\n", "**bold** ", "*it* ", "`code` ", "~~gone~~ ",
	"[link](http://x.y) ", "[ref]: http://x\n", "[a][ref] ", "[x] ", "<b>", "<br>", "<!-- ", "-->", "<div>\n", "</div>\n", "<pre>\n", "https://a.b/c ", "容器网络，", "👩‍👩‍👧", "❤️", "e\u0301", "&#27;[31m", "&amp; ", `\*`, "averyveryverylongwordwithoutanyblank",
	"\x1b[31m", "\x1b]0;x\x07", "\xff", "\u202e",
}

func document() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
	})
}

func TestBlocksAreTheWholeRender(t *testing.T) {
	r := NewRenderer(colours())
	rapid.Check(t, func(t *rapid.T) {
		src, w := document().Draw(t, "doc"), rapid.IntRange(1, 80).Draw(t, "w")
		var d Doc
		d.Seal(src)
		if got, want := drawn(r, &d, w), r.Render(src, w); !slices.Equal(got, want) {
			t.Fatalf("source %q\nblocks %q\nwhole  %q", src, got, want)
		}
	})
}

func TestEverySplitOfTheStreamEndsTheSame(t *testing.T) {
	r := NewRenderer(colours())
	rapid.Check(t, func(t *rapid.T) {
		src := document().Draw(t, "doc")
		var d Doc
		for rest := src; rest != ""; {
			n := rapid.IntRange(1, 12).Draw(t, "n")
			n = min(n, len(rest))
			d.Append(rest[:n])
			if rapid.Bool().Draw(t, "look") {
				for _, line := range drawn(r, &d, 30) {
					checkLine(t, line, 30)
				}
			}
			rest = rest[n:]
		}
		d.Seal(src)
		if got, want := drawn(r, &d, 30), r.Render(src, 30); !slices.Equal(got, want) {
			t.Fatalf("source %q\nstream %q\nwhole  %q", src, got, want)
		}
	})
}

func checkLine(t interface{ Fatalf(string, ...any) }, line string, w int) {
	if n := text.Width(line); n > w {
		t.Fatalf("%d cells of %d: %q", n, w, line)
	}
	var p text.Pen
	p.Scan(line)
	if p != (text.Pen{}) {
		t.Fatalf("style left open: %q", line)
	}
	if text.SanitizeKeepSGR(line) == "" && line != "" || strings.ContainsAny(line, "\n\t\r\a") {
		t.Fatalf("control character: %q", line)
	}
}

func TestLinesFit(t *testing.T) {
	r := NewRenderer(colours())
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, 50).Draw(t, "w")
		for _, line := range r.Render(document().Draw(t, "doc"), w) {
			checkLine(t, line, w)
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("a\n\n- b\n\n  ```\n  c\n\nd\n")
	f.Add("<!-- a\n\nb -->\n\n[x]: y\n\n[x]\n")
	r := NewRenderer(colours())
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 2000 {
			return
		}
		var d Doc
		d.Seal(src)
		if got, want := drawn(r, &d, 40), r.Render(src, 40); !slices.Equal(got, want) {
			t.Fatalf("source %q\nblocks %q\nwhole  %q", src, got, want)
		}
	})
}

func TestDrawing(t *testing.T) {
	plain := &style.Styles{Plain: true}
	r := NewRenderer(plain)
	tests := []struct{ name, src, want string }{
		{"heading and prose", "# One\ntwo *three* `four`", "One||two three four|"},
		{"soft and hard breaks", "a\nb  \nc", "a b|c|"},
		{"list", "- a\n- b\n  1. c\n  2. d", "• a|• b|  1. c|  2. d|"},
		{"loose list", "- a\n\n- b", "• a||• b|"},
		{"quote", "> a\n>\n> b", "│ a|│|│ b|"},
		{"link", "[a](http://b) http://c <http://d>", "a (http://b) http://c|http://d|"},
		{"entity", "a &lt; b &#27;[31m", "a < b [31m|"},
		{"table", "|a|b|\n|-|-:|\n|1|22|", "a │  b|──┼───|1 │ 22|"},
		{"cjk", "容器网络容器网络容器网络容器网络，好", "容器网络容器网络容器网络|容器网络，好|"},
		{"reference", "[a][b]\n\n[b]: http://c", "a (http://c)|"},
		{"html", "a <b>c</b><br>d", "a <b>c</b>|d|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := r.Render(tt.src, 24)
			for i := range lines {
				checkLine(t, lines[i], 24)
				lines[i] = strings.TrimRight(text.Sanitize(lines[i]), " ")
			}
			if got := strings.Join(lines, "|"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestLongOpenBlocksAreShownInPieces(t *testing.T) {
	r := NewRenderer(colours())
	var d Doc
	d.Append("```go\n")
	for i := range 2000 {
		d.Append(fmt.Sprintf("line %d\n", i))
		if i%50 == 0 {
			d.Blocks()
		}
	}
	blocks, stable := d.Blocks()
	if len(blocks) < 4 || stable != 0 {
		t.Fatalf("%d blocks, %d stable", len(blocks), stable)
	}
	lines := drawn(r, &d, 40)
	if len(lines) != 2002 || !strings.Contains(lines[2000], "1999") {
		t.Fatalf("%d lines, the last is %q", len(lines), lines[len(lines)-2])
	}
	again, _ := d.Blocks()
	d.Append("more\n")
	after, _ := d.Blocks()
	for i := range len(after) - 2 {
		if again[i] != after[i] {
			t.Fatalf("piece %d was made again", i)
		}
	}
}

// sample is what models write: headings, prose, lists, code, tables.
func sample(size int) string {
	rnd := rand.New(rand.NewSource(1))
	words := strings.Fields("the agent reads a file then edits one line and runs tests while state stays small because every frame is pure")
	para := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[rnd.Intn(len(words))]
		}
		return strings.Join(out, " ")
	}
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "## Section %d: %s\n\n%s, with **%s** and `%s`.\n\n- %s\n- %s\n\n", i, para(4), para(30), para(2), para(1), para(9), para(9))
		if i%2 == 1 {
			b.WriteString("```go\nfunc step(ctx context.Context) error {\n\tfor i, s := range in {\n\t\treturn fmt.Errorf(\"step %d: %w\", i, err)\n\t}\n}\n```\n\n")
		}
		if i%3 == 0 {
			b.WriteString("| name | value |\n| --- | ---: |\n| a | 1 |\n| b | 22 |\n\n")
		}
	}
	return b.String()[:size]
}

func BenchmarkRender(b *testing.B) {
	r := NewRenderer(colours())
	src := sample(200_000)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		r.Render(src, 80)
	}
}

func BenchmarkAppend(b *testing.B) {
	src := sample(200_000)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		var d Doc
		for i := 0; i < len(src); i += 20 {
			d.Append(src[i : i+20])
		}
	}
}
