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

// drawBlock draws one block without outer blank lines.
func (d *draw) drawBlock(n ast.Node, w int) []string {
	switch n := n.(type) {
	case *ast.List:
		return d.drawList(n, w)
	case *ast.Blockquote:
		return d.drawQuote(n, w)
	case *ast.FencedCodeBlock:
		return d.drawCode(d.rawLines(n), string(n.Language(d.src)), w)
	case *ast.CodeBlock:
		return d.drawCode(d.rawLines(n), "", w)
	case *ast.HTMLBlock:
		return d.htmlBlock(n, w)
	case *ast.ThematicBreak:
		f := flow{w: w}
		f.addText(strings.Repeat(d.rule, min(w, 40)), d.pens.faint)
		return f.finish()
	case *east.Table:
		return d.drawTable(n, w)
	default:
		return d.drawFlow(n, w)
	}
}

func (d *draw) drawFlow(n ast.Node, w int) []string {
	f := flow{w: w}
	for _, r := range d.drawInline(n, text.Pen{}) {
		f.addText(r.s, r.pen)
	}
	return f.finish()
}

// drawChildren draws the blocks inside a container.
func (d *draw) drawChildren(n ast.Node, w int, loose bool) []string {
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if loose && len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, d.drawBlock(c, w)...)
	}
	return out
}

func (d *draw) drawList(n *ast.List, w int) []string {
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
		in := indent
		if box := task(item); box != nil {
			marker, in = d.box(box), min(4, max(0, w-minWidth))
		}
		if !n.IsTight && len(out) > 0 {
			out = append(out, "")
		}
		lines := d.drawChildren(item, w-in, !n.IsTight)
		if len(lines) == 0 {
			lines = []string{""}
		}
		for i, line := range lines {
			out = append(out, markerLine(i, in, marker, line))
		}
	}
	return out
}

// task is the box that an item of a list begins with; nil for most.
func task(item ast.Node) *east.TaskCheckBox {
	first := item.FirstChild()
	if first == nil {
		return nil
	}
	box, _ := first.FirstChild().(*east.TaskCheckBox)
	return box
}

// box is the box of a task, which stands in the place of a bullet.
func (d *draw) box(t *east.TaskCheckBox) string {
	if t.IsChecked {
		return "[" + d.done + "]"
	}
	return "[ ]"
}

// markerLine puts the marker before the first line of an item and blanks before the others.
func markerLine(i, indent int, marker, line string) string {
	if i > 0 {
		if line == "" {
			return ""
		}
		return text.Blank(indent) + line
	}
	return text.Fit(text.FitLeft(marker, max(0, indent-1)), indent) + line
}

func (d *draw) drawQuote(n ast.Node, w int) []string {
	bar, inner := d.bar+" ", w-2
	if inner < minWidth {
		bar, inner = "", w
	}
	lines := d.drawChildren(n, inner, true)
	mark := withPen(bar, d.pens.quote)
	for i, line := range lines {
		lines[i] = mark + line
	}
	return lines
}

// htmlBlock shows HTML as what it is: text that nobody interprets here.
func (d *draw) htmlBlock(n *ast.HTMLBlock, w int) []string {
	raw := d.rawLines(n)
	if n.HasClosure() {
		raw += string(n.ClosureLine.Value(d.src))
	}
	f := flow{w: w}
	f.addText(strings.TrimRight(text.ExpandTabs(raw, TabWidth), "\n "), d.pens.dim)
	return f.finish()
}

func withPen(s string, pen text.Pen) string {
	if s == "" || pen == (text.Pen{}) {
		return s
	}
	return pen.SGR() + s + reset
}
