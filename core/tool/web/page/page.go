// Package page turns what a web server sent into text for a model: HTML to Markdown, the main
// content first; PDF to plain text; text, JSON and Markdown as they are, in UTF-8. Everything else
// is refused with its type and size.
//
// The contract: the bytes are hostile. Read never panics, takes time and memory in proportion to a
// body that the caller has bounded, and runs nothing. What people cannot see in a browser
// (comments, scripts, hidden elements) is left out; invisible characters are the caller's to
// remove, as for every other source of text.
package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// Body is what a server sent, decompressed and already bounded in size.
type Body struct {
	URL  *url.URL // where it came from in the end, for relative links
	Type string   // Content-Type as sent; may be empty or wrong
	Data []byte
	Cut  bool // there was more, which was not read
}

// Page is a body as text.
type Page struct {
	Title string
	Text  string // Markdown or plain text, UTF-8
	Kind  string // media type as it was read: text/html, application/pdf, ...
	Notes []string
}

// PDF gives the text of a PDF document; see package pdf.
type PDF func(ctx context.Context, data []byte) (string, error)

// UnreadableError is a body that has no text for a model.
type UnreadableError struct {
	Kind string
	Size int
	Why  string
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s (%s of %s)", e.Why, e.Kind, formatSize(e.Size))
}

// Read turns a body into text.
func Read(ctx context.Context, b Body, pdf PDF) (p Page, err error) {
	kind := Kind(b)
	defer func() {
		if v := recover(); v != nil { // a parser met what it cannot take
			p, err = Page{}, &UnreadableError{kind, len(b.Data), fmt.Sprintf("it could not be read, the parser failed: %v", v)}
		}
	}()
	if b.Cut {
		p.Notes = append(p.Notes, fmt.Sprintf("only the first %s were read", formatSize(len(b.Data))))
	}
	p.Kind = kind
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		return p, p.fillFromHTML(b)
	case kind == "application/pdf":
		return p, p.fillFromPDF(ctx, b, pdf)
	case isText(kind):
		text, err := decodeText(b)
		if err != nil {
			return Page{}, err
		}
		p.Text = text
		return p, nil
	default:
		return Page{}, &UnreadableError{kind, len(b.Data), "it is not text"}
	}
}

func (p *Page) fillFromPDF(ctx context.Context, b Body, pdf PDF) error {
	if pdf == nil {
		return &UnreadableError{p.Kind, len(b.Data), "PDF documents cannot be read here"}
	}
	if b.Cut {
		return &UnreadableError{p.Kind, len(b.Data), "the document is larger than what may be read, and part of a PDF is of no use"}
	}
	text, err := pdf(ctx, b.Data)
	if err != nil {
		return &UnreadableError{p.Kind, len(b.Data), "the document could not be read: " + err.Error()}
	}
	if strings.TrimSpace(text) == "" {
		return &UnreadableError{p.Kind, len(b.Data), "the document has no text in it: it may be a scan"}
	}
	p.Text = text
	return nil
}

// Kind is the media type of a body: what the server says, unless the bytes say better or it says
// nothing.
func Kind(b Body) string {
	kind, _, err := mime.ParseMediaType(b.Type)
	if err != nil {
		kind, _, _ = strings.Cut(b.Type, ";") // a broken parameter does not make the type wrong
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	sniffed, _, _ := mime.ParseMediaType(http.DetectContentType(b.Data))
	switch {
	case bytes.HasPrefix(b.Data, []byte("%PDF-")):
		return "application/pdf"
	case kind == "" || kind == "application/octet-stream" || kind == "binary/octet-stream" || kind == "unknown/unknown":
		return sniffed
	case isText(kind) && sniffed == "application/octet-stream" && bytes.IndexByte(b.Data, 0) >= 0 && !isUTF16(b):
		return sniffed // binary under a wrong name
	case kind == "text/plain" && sniffed == "text/html" && looksHTML(b.Data):
		return sniffed
	}
	return kind
}

// looksHTML is stricter than a browser: source code of HTML pages is served as text/plain on
// purpose, whole pages rarely.
func looksHTML(data []byte) bool {
	head := strings.ToLower(string(data[:min(len(data), 512)]))
	return strings.HasPrefix(strings.TrimSpace(head), "<!doctype html")
}

// isUTF16 reports UTF-16, where every other byte of plain text is NUL.
func isUTF16(b Body) bool {
	_, name, certain := charset.DetermineEncoding(b.Data[:min(len(b.Data), 1024)], b.Type)
	return certain && strings.HasPrefix(name, "utf-16")
}

func isText(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml" {
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/x-javascript", "application/ecmascript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson", "application/jsonl", "application/x-sh", "application/sql",
		"application/x-httpd-php", "application/rtf", "application/x-tex", "application/csv", "application/ld+json", "image/svg+xml", "message/rfc822":
		return true
	}
	return false
}

// fallback is what the standard takes a page for that says nothing and looks like nothing.
const fallback = "windows-1252"

// maxSniff is how far a page may declare its character set, as browsers have it.
const maxSniff = 1024

// decodeText brings a body into UTF-8: by its byte order mark, its Content-Type, its <meta>, or
// what it looks like.
func decodeText(b Body) (string, error) {
	enc, name, certain := charset.DetermineEncoding(b.Data[:min(len(b.Data), maxSniff)], b.Type)
	data := b.Data
	if !certain && name == fallback && isValidUTF8(data, b.Cut) {
		name = "utf-8" // the first kilobyte was plain ASCII, which says nothing
	}
	if name == "utf-8" && !isValidUTF8(data, b.Cut) { // the server says UTF-8 of every page; the page itself knows better
		if e, declared, _ := charset.DetermineEncoding(data[:min(len(data), maxSniff)], ""); declared != "utf-8" && declared != fallback {
			enc, name = e, declared
		}
	}
	if name != "utf-8" {
		out, err := enc.NewDecoder().Bytes(data)
		if err != nil {
			return "", fmt.Errorf("the character set %s: %w", name, err)
		}
		data = out
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\ufffd"), nil
}

// isValidUTF8 is utf8.Valid that forgives a character cut in two at the end.
func isValidUTF8(data []byte, cut bool) bool {
	if cut {
		for i := 0; i < utf8.UTFMax && len(data) > 0 && !utf8.Valid(data[max(0, len(data)-utf8.UTFMax):]); i++ {
			data = data[:len(data)-1]
		}
	}
	return utf8.Valid(data)
}

var errTooDeep = errors.New("its elements are nested too deep")

func formatSize(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}
