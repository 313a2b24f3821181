package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"hermes/ui/text"
)

// codeSpanText is the text of a code span.
func (d *draw) codeSpanText(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(d.src))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

func (d *draw) plainText(t *ast.Text) string {
	v := t.Segment.Value(d.src)
	if t.IsRaw() {
		return string(v)
	}
	return unescape(v)
}

// unescape takes backslashes and entities away. An entity can spell any character, so what it made
// is sanitised again.
func unescape(v []byte) string {
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
