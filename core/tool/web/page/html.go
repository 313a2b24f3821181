package page

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxNodes bounds what is worked on: ten times a long encyclopedia article.
const maxNodes = 300_000

// fillFromHTML fills the page from HTML. The main content is what readability finds; where that
// drops most of what can be read (a forum, a list, a page of documentation in many parts), the
// whole page without its frame is used instead.
func (p *Page) fillFromHTML(b Body) error {
	text, err := decodeText(b)
	if err != nil {
		return err
	}
	doc, err := parseHTML(text)
	if err != nil {
		return &UnreadableError{p.Kind, len(b.Data), "the page could not be read: " + err.Error()}
	}
	p.Title = pageTitle(doc)
	base := baseURL(doc, b.URL)
	removeHidden(doc)
	whole := withoutFrame(doc)
	main, name := findArticle(doc, base)
	if p.Title == "" {
		p.Title = name
	}
	chosen := chooseContent(main, whole)
	if chosen == nil {
		return &UnreadableError{p.Kind, len(b.Data), "the page has no text: it may be made by its scripts, which are not run"}
	}
	md, err := renderMarkdown(chosen, base)
	if err != nil {
		return fmt.Errorf("the page could not be turned into Markdown: %w", err)
	}
	p.Text = md
	if strings.TrimSpace(md) == "" {
		return &UnreadableError{p.Kind, len(b.Data), "the page has no text: it may be made by its scripts, which are not run"}
	}
	return nil
}

// parseHTML turns the parser's refusal of deep nesting into an error.
func parseHTML(text string) (doc *html.Node, err error) {
	defer func() {
		if recover() != nil {
			err = errTooDeep
		}
	}()
	doc, err = html.Parse(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	n := 0
	for range doc.Descendants() {
		if n++; n > maxNodes {
			return nil, fmt.Errorf("it has more than %d elements", maxNodes)
		}
	}
	return doc, nil
}

// findArticle is the main content as readability sees it, and the title that it found.
func findArticle(doc *html.Node, base *url.URL) (*html.Node, string) {
	ps := readability.NewParser()
	ps.MaxElemsToParse = maxNodes
	ps.KeepClasses = true // the language of code
	a, err := ps.ParseDocument(doc, base)
	if err != nil {
		return nil, ""
	}
	return a.Node, strings.TrimSpace(a.Title())
}

// enough is the share of the readable text that the main content must hold to be taken for it.
const enough = 0.4

func chooseContent(main, whole *html.Node) *html.Node {
	all, part := weighText(whole), weight{}
	if main != nil {
		part = weighText(main)
	}
	switch {
	case all.letters == 0 && part.letters == 0:
		return nil
	case main != nil && float64(part.letters) >= enough*float64(all.letters) && part.blocks >= all.blocks && 2*part.headings >= all.headings:
		return main
	default:
		return whole
	}
}

// weight is what a page has to say. Readability is made for articles: of documentation it drops the
// tables, the commands and the headings, which is what one came for.
type weight struct{ letters, blocks, headings int }

func weighText(n *html.Node) weight {
	w := weight{letters: countLetters(n)}
	for c := range n.Descendants() {
		if c.Type != html.ElementNode {
			continue
		}
		switch c.Data {
		case "pre", "table", "dl":
			w.blocks++
		case "h2", "h3", "h4":
			w.headings++
		}
	}
	return w
}

// countLetters counts the bytes of text that are not blank, links at a quarter: menus are made of
// them.
func countLetters(n *html.Node) int {
	total := 0
	for c := range n.Descendants() {
		if c.Type != html.TextNode {
			continue
		}
		size := len(strings.Join(strings.Fields(c.Data), ""))
		if inLink(c, n) {
			size /= 4
		}
		total += size
	}
	return total
}

func inLink(n, top *html.Node) bool {
	for ; n != nil && n != top; n = n.Parent {
		if n.DataAtom == atom.A {
			return true
		}
	}
	return false
}

func pageTitle(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Title && n.FirstChild != nil && (n.Parent == nil || n.Parent.DataAtom != atom.Svg) {
			return strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
	}
	return ""
}

// baseURL honours <base href>, for http and https only.
func baseURL(doc *html.Node, from *url.URL) *url.URL {
	if from == nil {
		from = &url.URL{}
	}
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Base {
			continue
		}
		if u, err := from.Parse(strings.TrimSpace(attributeOf(n, "href"))); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			return u
		}
	}
	return from
}

func attributeOf(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasAttribute(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// removeHidden removes what a browser does not show: it is where text for models only is put.
func removeHidden(doc *html.Node) { removeNodes(doc, isHidden) }

func isHidden(n *html.Node) bool {
	switch n.Type {
	case html.CommentNode:
		return true
	case html.ElementNode:
	default:
		return false
	}
	switch n.Data {
	case "script":
		return attributeOf(n, "type") != "application/ld+json" // readability takes the title from it
	case "style", "template", "iframe", "object", "embed", "canvas", "svg", "link":
		return true
	case "html", "body", "head":
		return false // some pages show themselves by script
	}
	return hasAttribute(n, "hidden") || attributeOf(n, "aria-hidden") == "true" && n.DataAtom != atom.Div || unseenStyle(attributeOf(n, "style"))
}

// unseenStyle knows the ways to hide text that are written on the element itself.
func unseenStyle(style string) bool {
	if style == "" {
		return false
	}
	s := strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '\n' {
			return -1
		}
		return r
	}, strings.ToLower(style)) + ";"
	for _, sign := range []string{
		"display:none", "visibility:hidden", "visibility:collapse", "opacity:0;", "opacity:0.0", "font-size:0;", "font-size:0px", "font-size:0pt",
		"font-size:0em", "clip:rect(0", "text-indent:-9", "left:-9", "top:-9", "color:transparent", "opacity:0!", "font-size:0!",
	} {
		if strings.Contains(s, sign) {
			return true
		}
	}
	return false
}

// withoutFrame is a copy of the body, or of its <main>, without what frames the content of most
// pages.
func withoutFrame(doc *html.Node) *html.Node {
	out := cloneNode(mainContent(doc))
	removeNodes(out, func(n *html.Node) bool {
		if n.Type != html.ElementNode {
			return false
		}
		switch n.Data {
		case "nav", "aside", "form", "button", "select", "dialog", "noscript", "script", "footer":
			return true
		case "header":
			return n.Parent == out // of the page; that of an article has its title
		}
		role := attributeOf(n, "role")
		return role == "navigation" || role == "banner" || role == "contentinfo" || role == "search" || role == "dialog"
	})
	return out
}

// mainContent is the one <main> of a page, else its body.
func mainContent(doc *html.Node) *html.Node {
	body, main, mains := doc, doc, 0
	for n := range doc.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.Body:
			body = n
		case n.DataAtom == atom.Main || attributeOf(n, "role") == "main":
			main, mains = n, mains+1
		}
	}
	if mains == 1 {
		return main
	}
	return body
}

func cloneNode(n *html.Node) *html.Node {
	out := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: append([]html.Attribute(nil), n.Attr...)}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		out.AppendChild(cloneNode(c)) // at most 512 deep: the parser sees to that
	}
	return out
}

func removeNodes(n *html.Node, drop func(*html.Node) bool) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if drop(c) {
			n.RemoveChild(c)
		} else {
			removeNodes(c, drop)
		}
		c = next
	}
}

// toMarkdown is made at first use: start-up pays nothing.
var toMarkdown = sync.OnceValue(func() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
		table.NewTablePlugin(table.WithSpanCellBehavior(table.SpanBehaviorMirror), table.WithHeaderPromotion(true), table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
	))
})

func renderMarkdown(n *html.Node, base *url.URL) (string, error) {
	removeNodes(n, func(c *html.Node) bool {
		return c.DataAtom == atom.Img && strings.HasPrefix(attributeOf(c, "src"), "data:")
	})
	plainLinks(n, base)
	narrowTables(n)
	out, err := toMarkdown().ConvertNode(n)
	return strings.TrimSpace(string(out)), err
}

// plainLinks makes links and images absolute, and text of those that lead nowhere on the web.
func plainLinks(top *html.Node, base *url.URL) {
	for n := range top.Descendants() {
		key := map[atom.Atom]string{atom.A: "href", atom.Img: "src"}[n.DataAtom]
		if key == "" || n.Type != html.ElementNode {
			continue
		}
		for i, a := range n.Attr {
			if a.Key != key {
				continue
			}
			u, err := base.Parse(strings.TrimSpace(a.Val))
			switch {
			case err != nil, u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto", strings.HasPrefix(a.Val, "#"):
				n.Attr[i].Val = ""
			default:
				n.Attr[i].Val = u.String()
			}
		}
		if n.DataAtom == atom.A && attributeOf(n, "href") == "" {
			n.DataAtom, n.Data, n.Attr = atom.Span, "span", nil
		}
	}
}

// maxSpan is how many cells one cell of a table may stand for; more is no table but an attack on
// memory.
const maxSpan = 16

func narrowTables(top *html.Node) {
	for n := range top.Descendants() {
		for i, a := range n.Attr {
			if a.Key != "colspan" && a.Key != "rowspan" {
				continue
			}
			if span, err := strconv.Atoi(strings.TrimSpace(a.Val)); err != nil || span < 1 || span > maxSpan {
				n.Attr[i].Val = "1"
			}
		}
	}
}
