package style

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"hermes/ui/text"
)

// PenOf returns what a style sets, colours and attributes, without its paddings.
func PenOf(s lipgloss.Style) text.Pen {
	var p text.Pen
	before, _, _ := strings.Cut(s.Render("x"), "x")
	p.Scan(before)
	return p
}

// Over lays a pen over another: colours replace, attributes add.
func Over(base, top text.Pen) text.Pen {
	if top.Fg != 0 {
		base.Fg = top.Fg
	}
	if top.Bg != 0 {
		base.Bg = top.Bg
	}
	base.Attr |= top.Attr
	return base
}
