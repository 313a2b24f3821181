// Package markdown draws Markdown in a terminal, also while it still streams in.
//
// The contract:
//
//   - A Doc cuts its text into top-level blocks as it grows. A closed block never changes again, so
//     it is drawn once and only when somebody looks at it; appending costs what was appended.
//   - The blocks of a sealed document, drawn one after the other, are byte for byte what Render
//     gives for the whole text, and any way of cutting the stream into pieces ends in the same
//     blocks. Where a cut could change the meaning (a link definition, an HTML comment, a fence
//     that its list item does not hold) the rest stays one block. Only a single block beyond 16 kB
//     is drawn in pieces, because parsing some texts costs the square of their length.
//   - Text is hostile: it is sanitised on its way in, and again where an entity could bring a
//     control character back.
//   - Lines are at most as wide as asked for, styles are closed at each line's end.
//
// goldmark parses. glamour draws the text of each paragraph, heading and cell in the theme's
// colours, and chroma colours code. What stands around that is ours, because it is better at it:
// blocks that are drawn once and only if seen, lists, quotes and tables, lines that break around
// CJK characters and inside of long words, addresses of links that are shown as they are, and
// bounds on what a hostile block may cost.
//
// A Renderer is not safe for concurrent use: the screen's one goroutine owns it.
package markdown

import (
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"hermes/ui/highlight"
	"hermes/ui/style"
	"hermes/ui/text"

	"github.com/yuin/goldmark"
)

// TabWidth is how many cells a tab advances to in code.
const TabWidth = 4

// Renderer draws with the styles of one theme.
type Renderer struct {
	pens      palette
	glamour   renderer.Renderer
	highlight *highlight.Highlighter
	bar       string
	dot       string
	rule      string
	corner    string // before the language of a code block
	goesOn    string // before a line of code that is broken
	done      string // a task that is
}

// newParser is put together at first use: start-up must not pay for it.
var newParser = sync.OnceValue(func() parser.Parser {
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))
	p := md.Parser()
	p.AddOptions(parser.WithInlineParsers(util.Prioritized(extension.NewLinkifyParser(), 999)))
	return p
})

// NewRenderer returns a renderer for a theme.
func NewRenderer(s *style.Styles) *Renderer {
	r := &Renderer{pens: newPalette(s), bar: s.Glyphs.Bar, dot: s.Glyphs.Bullet, rule: "─"}
	r.glamour = newGlamour(&r.pens)
	r.highlight = highlight.New(s, r.pens.codeBlock)
	r.corner, r.goesOn, r.done = "╭", highlight.Continued(s.ASCII), "✓"
	if r.bar == "" {
		r.bar = "│"
	}
	if r.dot == "" {
		r.dot = "•"
	}
	if r.bar == "|" {
		r.rule, r.corner, r.done = "-", "+", "x"
	}
	return r
}

// Render draws a whole document w cells wide. It ends with an empty line unless it is empty.
func (r *Renderer) Render(src string, w int) []string {
	return r.render(text.Sanitize(src), w, false)
}

// render draws; goesOn says that src begins in the middle of a code block.
func (r *Renderer) render(src string, w int, goesOn bool) []string {
	if w <= 0 {
		return nil
	}
	source := []byte(src)
	d := &draw{Renderer: r, src: source, unnamed: goesOn}
	var out []string
	for n := newParser().Parse(gtext.NewReader(source)).FirstChild(); n != nil; n = n.NextSibling() {
		if lines := d.drawBlock(n, w); len(lines) > 0 {
			out = append(append(out, lines...), "")
		}
	}
	return out
}

// draw is one pass over one source.
type draw struct {
	*Renderer
	src     []byte
	unnamed bool // a code block goes on: its language was said above
}

// rawLines returns the raw lines of a block.
func (d *draw) rawLines(n ast.Node) string {
	var b []byte
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b = append(b, seg.Value(d.src)...)
	}
	return string(b)
}
