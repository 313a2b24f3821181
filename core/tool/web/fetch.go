package web

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hermes/core/injection"
	"hermes/core/tool/web/guard"
	"hermes/core/tool/web/page"
)

// readPage reads one page, from the cache if it can; failures are part of what it returns.
func (w *Web) readPage(ctx context.Context, raw string) *one {
	p := &one{URL: visibleLine(raw, 500)}
	u, err := w.guard.CheckURL(raw)
	if err != nil {
		p.Error = err.Error()
		return p
	}
	if secretIn(u.String()) {
		p.URL = u.Host
		p.Error = "the URL holds what looks like a password or key, and would have told it to the site; nothing was sent"
		return p
	}
	f, ok := w.cache.get(u.String())
	if !ok {
		if f, err = w.fetchPage(ctx, u); err != nil {
			p.Error = w.explainFailure(ctx, u, err)
			return p
		}
		w.cache.put(u.String(), f)
	}
	p.Title, p.whole, p.Warnings = f.title, f.text, append([]string(nil), f.notes...)
	if f.final != u.String() {
		p.Final = f.final
	}
	if name := credentialParameter(u); name != "" {
		p.Warnings = append(p.Warnings, "the URL has a parameter called "+name+", as links with credentials have: the site and its logs know it now")
	}
	return p
}

// fetched is a page as the cache keeps it.
type fetched struct {
	final, title, text string
	notes              []string
}

func (w *Web) fetchPage(ctx context.Context, u *url.URL) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fetched{}, err
	}
	r.Header.Set("User-Agent", agent)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,text/markdown,text/plain,application/json,application/pdf;q=0.9,*/*;q=0.1")
	r.Header.Set("Accept-Language", "en,*;q=0.5")
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := w.client.Do(r)
	if err != nil {
		return fetched{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fetched{}, statusError(resp)
	}
	body, err := w.readBody(resp)
	if err != nil {
		return fetched{}, err
	}
	p, err := page.Read(ctx, body, w.o.PDF)
	if err != nil {
		return fetched{}, err
	}
	return w.cleanPage(p, resp.Request.URL.String()), nil
}

// cleanPage takes out what cannot be seen and what gives orders.
func (w *Web) cleanPage(p page.Page, final string) fetched {
	text, removed := injection.Clean(p.Text)
	f := fetched{final: final, title: visibleLine(p.Title, 300), text: strings.TrimSpace(text), notes: p.Notes}
	if removed > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%d invisible characters were removed", removed))
	}
	var title, body []string
	f.title, title = w.blockOrders(f.title)
	f.text, body = w.blockOrders(f.text)
	for _, why := range append(title, body...) {
		f.notes = append(f.notes, "a line that tries to give orders is blocked: "+why)
	}
	return f
}

// readBody reads what the server sent, within bounds. What is plainly no text is not read at all.
func (w *Web) readBody(resp *http.Response) (page.Body, error) {
	b := page.Body{URL: resp.Request.URL, Type: resp.Header.Get("Content-Type")}
	if kind, _, err := mime.ParseMediaType(b.Type); err == nil && isMedia(kind) {
		why := "it is not text"
		if resp.ContentLength < 0 {
			return b, fmt.Errorf("%s (%s)", why, kind)
		}
		return b, &page.UnreadableError{Kind: kind, Size: int(resp.ContentLength), Why: why}
	}
	in := io.LimitReader(resp.Body, w.o.MaxBytes)
	switch enc := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); enc {
	case "", "identity":
		in = io.LimitReader(resp.Body, w.o.MaxBytes+1)
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return b, fmt.Errorf("what the server sent is not the gzip that it says: %w", err)
		}
		in = io.LimitReader(z, w.o.MaxBytes+1)
	default:
		return b, fmt.Errorf("the server compressed the page as %q, which it was not asked for", visibleLine(enc, 40))
	}
	data, err := io.ReadAll(in)
	if int64(len(data)) > w.o.MaxBytes {
		data, b.Cut, err = data[:w.o.MaxBytes], true, nil
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && len(data) > 0 {
		b.Cut, err = true, nil // the compressed form was cut, or the server hung up: what came is worth reading
	}
	b.Data = data
	return b, err
}

func isMedia(kind string) bool {
	head, _, _ := strings.Cut(kind, "/")
	return (head == "image" && kind != "image/svg+xml") || head == "audio" || head == "video" || head == "font"
}

// serverError is an answer that is no success.
type serverError string

func (e serverError) Error() string { return string(e) }

func statusError(resp *http.Response) error {
	text := fmt.Sprintf("the server answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += ": the page is not open to everybody, or not to programs"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if after := resp.Header.Get("Retry-After"); after != "" {
			text += ": try again after " + visibleLine(after, 40)
			if strings.Trim(after, "0123456789") == "" {
				text += " s"
			}
		}
	}
	return serverError(text)
}

// explainFailure says why a page could not be read, in words that help.
func (w *Web) explainFailure(ctx context.Context, u *url.URL, err error) string {
	var refused *guard.Refusal
	var unreadable *page.UnreadableError
	var status serverError
	var dns *net.DNSError
	var slow interface{ Timeout() bool }
	switch {
	case ctx.Err() != nil:
		return "interrupted"
	case errors.As(err, &refused):
		return refused.Error()
	case errors.As(err, &unreadable), errors.As(err, &status):
		return err.Error()
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host called " + dns.Name
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return fmt.Sprintf("%s did not send the page within %s", u.Host, w.o.Timeout.Round(time.Second/10))
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return visibleLine(u.Host+": "+err.Error(), 300)
}
