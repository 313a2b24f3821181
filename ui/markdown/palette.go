package markdown

import (
	"hermes/ui/style"
	"hermes/ui/text"
)

// palette holds the theme's styles as pens: combining two pens costs nothing, combining two
// lipgloss styles does.
type palette struct {
	headings                                         [6]text.Pen
	add, del, hunk                                   text.Pen
	strong, code, codeBlock, link, faint, dim, quote text.Pen
}

func newPalette(s *style.Styles) palette {
	p := palette{
		add: style.PenOf(s.DiffAdd), del: style.PenOf(s.DiffDel), hunk: style.PenOf(s.DiffHunk), strong: style.PenOf(s.Strong), code: style.PenOf(s.Code), codeBlock: style.PenOf(s.CodeBlock), link: style.PenOf(s.Link),
		faint: style.PenOf(s.Faint), dim: style.PenOf(s.Dim), quote: style.PenOf(s.Quote),
	}
	accent, strong, plain := style.PenOf(s.Accent), style.PenOf(s.Strong), style.PenOf(s.Text)
	for i, looks := range [...]struct {
		pen  text.Pen
		attr text.Attr
	}{{accent, text.Bold | text.Underline}, {accent, text.Bold}, {strong, text.Bold | text.Italic}, {plain, text.Italic}, {p.dim, text.Italic}, {p.dim, 0}} {
		p.headings[i] = looks.pen
		p.headings[i].Attr |= looks.attr
	}
	p.strong.Attr |= text.Bold
	p.codeBlock.Bg = 0 // a block has its gutter; a background would end where each line does
	return p
}
