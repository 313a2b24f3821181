package markdown

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/glamour/ansi"
	"github.com/muesli/termenv"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"hermes/ui/style"
	"hermes/ui/text"
)

// newGlamour returns glamour's renderer in the colours of a theme. It wraps nothing (WordWrap 0):
// glamour breaks CJK text at blanks only and keeps no long word inside of the width, flow does
// both.
func newGlamour(p *palette) renderer.Renderer {
	config := ansi.StyleConfig{
		H1: blockStyle(p.headings[0]), H2: blockStyle(p.headings[1]), H3: blockStyle(p.headings[2]),
		H4: blockStyle(p.headings[3]), H5: blockStyle(p.headings[4]), H6: blockStyle(p.headings[5]),
		Strong:        primitiveStyle(text.Pen{Attr: text.Bold}),
		Emph:          primitiveStyle(text.Pen{Attr: text.Italic}),
		Strikethrough: primitiveStyle(text.Pen{Attr: text.Strike}),
		Code:          blockStyle(p.code),
		LinkText:      primitiveStyle(p.link),
		ImageText:     primitiveStyle(p.dim), // what is said beside the text: see leaf.aside
	}
	options := ansi.Options{Styles: config, ColorProfile: termenv.TrueColor, PreserveNewLines: true}
	return renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(ansi.NewRenderer(options), 1)))
}

func blockStyle(pen text.Pen) ansi.StyleBlock {
	return ansi.StyleBlock{StylePrimitive: primitiveStyle(pen)}
}

// primitiveStyle is a pen in glamour's words. The colours of a theme fit the terminal already.
func primitiveStyle(pen text.Pen) ansi.StylePrimitive {
	on := func(a text.Attr) *bool {
		if pen.Attr&a == 0 {
			return nil
		}
		set := true
		return &set
	}
	colour := func(c text.Colour) *string {
		if c == 0 {
			return nil
		}
		name := c.String()
		return &name
	}
	return ansi.StylePrimitive{
		Color: colour(pen.Fg), BackgroundColor: colour(pen.Bg),
		Bold: on(text.Bold), Italic: on(text.Italic), Underline: on(text.Underline),
		CrossedOut: on(text.Strike), Inverse: on(text.Reverse),
	}
}

// leaf is the text of one paragraph, heading or cell as a document of its own, for glamour. Its
// text is resolved and clean, and written so that glamour, which takes backslashes and entities
// away, gives it back.
type leaf struct {
	d   *draw
	src []byte
}

// drawInline lets glamour draw the text below n, over base.
func (d *draw) drawInline(n ast.Node, base text.Pen) []run {
	l := leaf{d: d}
	var holder ast.Node = ast.NewParagraph()
	if h, ok := n.(*ast.Heading); ok {
		holder = ast.NewHeading(h.Level)
	}
	l.copyChildren(holder, n)
	doc := ast.NewDocument()
	doc.AppendChild(doc, holder)
	var out bytes.Buffer
	if err := d.glamour.Render(&out, l.src, doc); err != nil { // it writes to memory only
		return []run{{string(d.rawLines(n)), base}}
	}
	return runsOf(strings.TrimSuffix(out.String(), "\n"), base)
}

// copyChildren puts what is below from into to, in the words that glamour draws well.
func (l *leaf) copyChildren(to, from ast.Node) {
	said := "" // the parser cuts one text into many
	for c := from.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			said += l.d.markMaths(t) + lineBreak(t)
			continue
		}
		l.addText(to, simpleMaths(said))
		said = ""
		l.addNode(to, c)
	}
	l.addText(to, simpleMaths(said))
}

func (l *leaf) addNode(to, from ast.Node) {
	switch n := from.(type) {
	case *ast.String:
		l.addText(to, unescape(n.Value))
	case *ast.CodeSpan:
		span := ast.NewCodeSpan()
		l.putText(span, strings.ReplaceAll(l.d.codeSpanText(n), "&", "&amp;"))
		to.AppendChild(to, span)
	case *ast.Emphasis:
		l.nestNode(to, ast.NewEmphasis(n.Level), n)
	case *east.Strikethrough:
		l.nestNode(to, east.NewStrikethrough(), n)
	case *ast.RawHTML:
		l.addHTML(to, n)
	case *east.TaskCheckBox:
		if n.Parent() == nil || n.Parent().Parent() == nil || task(n.Parent().Parent()) != n { // else its list draws it
			l.addText(to, l.d.box(n)+" ")
		}
	case *ast.AutoLink:
		label := text.Sanitize(string(n.Label(l.d.src)))
		l.addText(l.addLink(to), label)
	case *ast.Link:
		l.copyChildren(l.addLink(to), n)
		l.addTarget(to, n.Destination, n)
	case *ast.Image:
		l.addDim(to, "image: ")
		l.copyChildren(l.addLink(to), n)
		l.addTarget(to, n.Destination, n)
	default:
		l.copyChildren(to, n)
	}
}

func lineBreak(t *ast.Text) string {
	switch {
	case t.HardLineBreak():
		return "\n"
	case t.SoftLineBreak():
		return " "
	default:
		return ""
	}
}

func (l *leaf) nestNode(to, made, from ast.Node) {
	l.copyChildren(made, from)
	to.AppendChild(to, made)
}

// addLink appends the text part of a link. Its address is an anchor, which glamour leaves out: it
// shows some addresses changed ("/a" as "a") and others not at all; target shows all of them.
func (l *leaf) addLink(to ast.Node) ast.Node {
	link := ast.NewLink()
	link.Destination = []byte("#")
	to.AppendChild(to, link)
	return link
}

// addTarget shows where a link goes: what a reader cannot see, a reader cannot judge.
func (l *leaf) addTarget(to ast.Node, dest []byte, n ast.Node) {
	where, shown := unescape(dest), l.d.textOf(n)
	if where != "" && shown != where && "mailto:"+shown != where {
		l.addDim(to, " ("+where+")")
	}
}

func (l *leaf) addHTML(to ast.Node, n *ast.RawHTML) {
	var raw []byte
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		raw = append(raw, seg.Value(l.d.src)...)
	}
	switch strings.ToLower(string(raw)) {
	case "<br>", "<br/>", "<br />":
		l.addText(to, "\n")
	default:
		l.addDim(to, strings.ReplaceAll(string(raw), "\n", " "))
	}
}

// addDim appends dim text: an image without an address, of which glamour draws the text only.
func (l *leaf) addDim(to ast.Node, s string) {
	image := ast.NewImage(ast.NewLink())
	l.putText(image, strings.ReplaceAll(s, `\`, `\\`))
	to.AppendChild(to, image)
}

func (l *leaf) addText(to ast.Node, s string) {
	s = strings.ReplaceAll(s, `\`, `\\`)
	l.putText(to, strings.ReplaceAll(s, "&", "&amp;"))
}

func (l *leaf) putText(to ast.Node, s string) {
	if s == "" {
		return
	}
	at := len(l.src)
	l.src = append(l.src, s...)
	to.AppendChild(to, ast.NewTextSegment(gtext.NewSegment(at, len(l.src))))
}

// textOf is what of n is shown, without styles.
func (d *draw) textOf(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(d.plainText(c) + lineBreak(c))
		case *ast.CodeSpan:
			b.WriteString(d.codeSpanText(c))
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// runsOf splits text with SGR sequences into runs, each over base.
func runsOf(s string, base text.Pen) []run {
	var out []run
	var pen text.Pen
	for s != "" {
		at := strings.IndexByte(s, 0x1b)
		if at != 0 {
			if at < 0 {
				at = len(s)
			}
			out = append(out, run{s[:at], style.Over(base, pen)})
			s = s[at:]
			continue
		}
		n := text.Sequence(s)
		pen.Scan(s[:n])
		s = s[n:]
	}
	return out
}
