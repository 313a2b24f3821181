package engine

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"

	"hermes/core/clip"

	"golang.org/x/net/html"
)

// DuckDuckGo reads the page for browsers without scripts. There is no key and no promise: it may
// ask whether a person is there. base is for tests and for other servers with the same page; empty
// is the real one.
func DuckDuckGo(c *http.Client, base, agent string) Engine {
	if base == "" {
		base = "https://html.duckduckgo.com/html/"
	}
	return duckduckgo{call{"duckduckgo", c, ""}, base, agent}
}

type duckduckgo struct {
	call
	base, agent string
}

func (duckduckgo) Name() string { return "duckduckgo" }

func (d duckduckgo) Search(ctx context.Context, query string, limit int) ([]Result, error) {
	form := url.Values{"q": {clip.Runes(query, 480, "")}, "b": {""}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.base, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, &Error{Engine: "duckduckgo", Why: "the address " + d.base + " is not valid", Err: err}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", d.agent)
	body, err := d.sendRequest(r)
	if err != nil {
		return nil, err
	}
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Engine: "duckduckgo", Why: "the answer is no page that can be read", Err: err}
	}
	all, none := parseResults(doc)
	switch {
	case len(all) > 0 || none:
		return keepUsable(all, limit), nil
	case bytes.Contains(body, []byte("anomaly-modal")) || bytes.Contains(body, []byte("challenge-form")):
		return nil, &Error{Engine: "duckduckgo", Why: "it asks whether a person is there and gives no results", Do: "wait some minutes, or set up another engine (SEARXNG_URL, BRAVE_SEARCH_API_KEY, TAVILY_API_KEY)"}
	default:
		return nil, &Error{Engine: "duckduckgo", Why: "the page has no results in the form that is known: " + firstLine([]byte(textOf(doc)))}
	}
}

// parseResults reads hits without advertisements; none reports that the page says that there are
// none.
func parseResults(doc *html.Node) (all []Result, none bool) {
	for n := range doc.Descendants() {
		switch {
		case hasClass(n, "no-results"):
			none = true
		case hasClass(n, "result") && !hasClass(n, "result--ad"):
			var r Result
			for c := range n.Descendants() {
				switch {
				case hasClass(c, "result__a") && r.URL == "":
					r.Title, r.URL = textOf(c), resolveTarget(attributeOf(c, "href"))
				case hasClass(c, "result__snippet"):
					r.Description = textOf(c)
				}
			}
			if r.URL != "" {
				all = append(all, r)
			}
		}
	}
	return all, none
}

// resolveTarget undoes the link that counts clicks: //duckduckgo.com/l/?uddg=<address>. Links of
// advertisements (y.js) lead nowhere.
func resolveTarget(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	ours := u.Host == "" || u.Host == "duckduckgo.com" || strings.HasSuffix(u.Host, ".duckduckgo.com")
	switch {
	case ours && strings.HasPrefix(u.Path, "/l/"):
		return u.Query().Get("uddg")
	case ours && u.Path == "/y.js":
		return ""
	}
	return href
}

func hasClass(n *html.Node, name string) bool {
	if n.Type != html.ElementNode {
		return false
	}
	for c := range strings.FieldsSeq(attributeOf(n, "class")) {
		if c == name {
			return true
		}
	}
	return false
}

func attributeOf(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// stripMarks is text without the marks that engines put around what was found. Only text that has
// some is parsed.
func stripMarks(s string) string {
	if strings.ContainsAny(s, "<&") {
		if doc, err := html.Parse(strings.NewReader(s)); err == nil {
			return textOf(doc)
		}
	}
	return strings.Join(strings.Fields(s), " ")
}
