package markdown

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"hermes/ui/style"
	"hermes/ui/text"
)

// palette holds the theme's styles as pens: combining two pens costs nothing, combining two
// lipgloss styles does.
type palette struct {
	heading, strong, code, codeBlock, link, faint, dim, quote text.Pen
}

func newPalette(s *style.Styles) palette {
	p := palette{
		heading: PenOf(s.Accent), strong: PenOf(s.Strong), code: PenOf(s.Code), codeBlock: PenOf(s.CodeBlock), link: PenOf(s.Link),
		faint: PenOf(s.Faint), dim: PenOf(s.Dim), quote: PenOf(s.Quote),
	}
	p.heading.Attr |= text.Bold
	p.strong.Attr |= text.Bold
	p.codeBlock.Bg = 0 // a block has its gutter; a background would end where each line does
	return p
}

// PenOf returns what a style sets, colours and attributes, without its paddings.
func PenOf(s lipgloss.Style) text.Pen {
	var p text.Pen
	before, _, _ := strings.Cut(s.Render("x"), "x")
	p.Scan(before)
	return p
}

// overlayPen lays a pen over another: colours replace, attributes add.
func overlayPen(base, top text.Pen) text.Pen {
	if top.Fg != 0 {
		base.Fg = top.Fg
	}
	if top.Bg != 0 {
		base.Bg = top.Bg
	}
	base.Attr |= top.Attr
	return base
}
