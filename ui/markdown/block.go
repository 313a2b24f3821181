package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"hermes/ui/text"
)

// minWidth is the narrowest that containers leave for what they hold.
const minWidth = 4

// block draws one block without outer blank lines.
func (d *draw) block(n ast.Node, w int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return d.flow(n, w, d.pens.heading)
	case *ast.List:
		return d.list(n, w)
	case *ast.Blockquote:
		return d.quote(n, w)
	case *ast.FencedCodeBlock:
		return d.code(d.lines(n), string(n.Language(d.src)), w)
	case *ast.CodeBlock:
		return d.code(d.lines(n), "", w)
	case *ast.HTMLBlock:
		return d.htmlBlock(n, w)
	case *ast.ThematicBreak:
		f := flow{w: w}
		f.add(strings.Repeat(d.rule, min(w, 40)), d.pens.faint)
		return f.end()
	case *east.Table:
		return d.table(n, w)
	default:
		return d.flow(n, w, text.Pen{})
	}
}

func (d *draw) flow(n ast.Node, w int, pen text.Pen) []string {
	f := flow{w: w}
	for _, r := range d.inline(nil, n, pen) {
		f.add(r.s, r.pen)
	}
	return f.end()
}

// children draws the blocks inside a container.
func (d *draw) children(n ast.Node, w int, loose bool) []string {
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if loose && len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, d.block(c, w)...)
	}
	return out
}

func (d *draw) list(n *ast.List, w int) []string {
	number, widest := n.Start, 1
	if n.IsOrdered() {
		widest = len(strconv.Itoa(n.Start+n.ChildCount()-1)) + 1
	}
	indent := min(widest+1, max(0, w-minWidth))
	var out []string
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := d.dot
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + string(n.Marker)
			number++
		}
		if !n.IsTight && len(out) > 0 {
			out = append(out, "")
		}
		lines := d.children(item, w-indent, !n.IsTight)
		if len(lines) == 0 {
			lines = []string{""}
		}
		for i, line := range lines {
			out = append(out, lead(i, indent, marker, line))
		}
	}
	return out
}

// lead puts the marker before the first line of an item and blanks before the others.
func lead(i, indent int, marker, line string) string {
	if i > 0 {
		if line == "" {
			return ""
		}
		return text.Blank(indent) + line
	}
	return text.Fit(text.FitLeft(marker, max(0, indent-1)), indent) + line
}

func (d *draw) quote(n ast.Node, w int) []string {
	bar, inner := d.bar+" ", w-2
	if inner < minWidth {
		bar, inner = "", w
	}
	lines := d.children(n, inner, true)
	mark := styled(bar, d.pens.quote)
	for i, line := range lines {
		lines[i] = mark + line
	}
	return lines
}

// htmlBlock shows HTML as what it is: text that nobody interprets here.
func (d *draw) htmlBlock(n *ast.HTMLBlock, w int) []string {
	raw := d.lines(n)
	if n.HasClosure() {
		raw += string(n.ClosureLine.Value(d.src))
	}
	f := flow{w: w}
	f.add(strings.TrimRight(text.ExpandTabs(raw, TabWidth), "\n "), d.pens.dim)
	return f.end()
}

func styled(s string, pen text.Pen) string {
	if s == "" || pen == (text.Pen{}) {
		return s
	}
	return pen.SGR() + s + reset
}
