package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"hermes/ui/text"
)

// inline collects the styled text below n.
func (d *draw) inline(out []run, n ast.Node, pen text.Pen) []run {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			out = append(out, run{d.plain(c), pen})
			if c.HardLineBreak() {
				out = append(out, run{"\n", pen})
			} else if c.SoftLineBreak() {
				out = append(out, run{" ", pen})
			}
		case *ast.String:
			out = append(out, run{resolve(c.Value), pen})
		case *ast.CodeSpan:
			out = append(out, run{d.raw(c), over(pen, d.pens.code)})
		case *ast.Emphasis:
			p := pen
			if c.Level == 1 {
				p.Attr |= text.Italic
			} else {
				p.Attr |= text.Bold
			}
			out = d.inline(out, c, p)
		case *east.Strikethrough:
			p := pen
			p.Attr |= text.Strike
			out = d.inline(out, c, p)
		case *ast.RawHTML:
			out = append(out, d.html(c, pen))
		case *east.TaskCheckBox:
			box := "[ ] "
			if c.IsChecked {
				box = "[x] "
			}
			out = append(out, run{box, pen})
		default:
			out = d.link(out, c, pen)
		}
	}
	return out
}

// link shows where a link goes: what a reader cannot see, a reader cannot judge.
func (d *draw) link(out []run, n ast.Node, pen text.Pen) []run {
	p := over(pen, d.pens.link)
	switch n := n.(type) {
	case *ast.AutoLink:
		return append(out, run{text.Sanitize(string(n.Label(d.src))), p})
	case *ast.Link:
		from := len(out)
		out = d.inline(out, n, p)
		return d.target(out, from, n.Destination, pen)
	case *ast.Image:
		from := len(out) + 1
		out = append(out, run{"image: ", over(pen, d.pens.dim)})
		out = d.inline(out, n, p)
		return d.target(out, from, n.Destination, pen)
	default:
		return d.inline(out, n, pen)
	}
}

func (d *draw) target(out []run, from int, dest []byte, pen text.Pen) []run {
	to := resolve(dest)
	var shown strings.Builder
	for _, r := range out[from:] {
		shown.WriteString(r.s)
	}
	if s := shown.String(); to == "" || s == to || "mailto:"+s == to {
		return out
	}
	return append(out, run{" (" + to + ")", over(pen, d.pens.dim)})
}

func (d *draw) html(n *ast.RawHTML, pen text.Pen) run {
	var b []byte
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		b = append(b, seg.Value(d.src)...)
	}
	if s := strings.ToLower(string(b)); s == "<br>" || s == "<br/>" || s == "<br />" {
		return run{"\n", pen}
	}
	return run{strings.ReplaceAll(string(b), "\n", " "), over(pen, d.pens.dim)}
}

// raw is the text of a code span.
func (d *draw) raw(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(d.src))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

func (d *draw) plain(t *ast.Text) string {
	v := t.Segment.Value(d.src)
	if t.IsRaw() {
		return string(v)
	}
	return resolve(v)
}

// resolve takes backslashes and entities away. An entity can spell any character, so what it made is sanitised again.
func resolve(v []byte) string {
	if bytes.IndexByte(v, '\\') < 0 && bytes.IndexByte(v, '&') < 0 {
		return string(v)
	}
	v = util.UnescapePunctuations(v)
	if bytes.IndexByte(v, '&') < 0 {
		return string(v)
	}
	s := text.Sanitize(string(util.ResolveEntityNames(util.ResolveNumericReferences(v))))
	return strings.ReplaceAll(s, "\n", " ")
}
