// Package engine asks web search engines. Each is one file and one small function over HTTP.
//
// The contract: Search returns at most limit results in the engine's order, or an *Error that says
// which engine, what happened and what to do; a caller's cancelled context is returned as it is.
// Answers are bounded in size and time. Titles and descriptions are plain text, and hostile: the
// caller removes what cannot be seen. Addresses are http or https.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hermes/core/clip"
)

// Result is one hit.
type Result struct {
	Title, URL, Description string
}

// Engine is one way to search.
type Engine interface {
	Name() string
	Search(ctx context.Context, query string, limit int) ([]Result, error)
}

// Error is a search that failed.
type Error struct {
	Engine, Why, Do string
	Wait            time.Duration // when the engine said how long to wait
	Err             error         // may be nil
}

func (e *Error) Error() string {
	text := e.Engine + ": " + e.Why
	if e.Wait > 0 {
		text += fmt.Sprintf(", wait %s", e.Wait.Round(time.Second))
	}
	if e.Do != "" {
		text += "; " + e.Do
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// maxAnswer is more than any engine sends for one page of results.
const maxAnswer = 4 << 20

// call is one request to an engine.
type call struct {
	engine string
	client *http.Client
	key    string // name of the variable or setting that holds the key, for messages
}

// sendRequest sends r and returns the whole answer.
func (c call) sendRequest(r *http.Request) ([]byte, error) {
	resp, err := c.client.Do(r)
	if err != nil {
		return nil, c.unreachedError(r, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, c.statusError(resp, body)
	case err != nil:
		return nil, c.unreachedError(r, err)
	case len(body) > maxAnswer:
		return nil, &Error{Engine: c.engine, Why: fmt.Sprintf("the answer is larger than %d MB", maxAnswer>>20)}
	}
	return body, nil
}

// decodeJSON reads a JSON answer into v.
func (c call) decodeJSON(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return &Error{Engine: c.engine, Why: fmt.Sprintf("the answer is not what was expected (%v): %s", err, firstLine(body)), Err: err}
	}
	return nil
}

func (c call) unreachedError(r *http.Request, err error) error {
	if cause := context.Cause(r.Context()); errors.Is(cause, context.Canceled) {
		return cause
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err // the URL has the query, and for some engines the key
	}
	e := &Error{Engine: c.engine, Why: fmt.Sprintf("%s cannot be reached: %v", r.URL.Host, err), Err: err}
	var slow interface{ Timeout() bool }
	if errors.As(err, &slow) && slow.Timeout() {
		e.Why = r.URL.Host + " did not answer in time"
	}
	return e
}

// statusError explains an answer that is no success.
func (c call) statusError(resp *http.Response, body []byte) error {
	e := &Error{Engine: c.engine, Why: fmt.Sprintf("the answer was %d %s: %s", resp.StatusCode, http.StatusText(resp.StatusCode), firstLine(body))}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		if c.key != "" {
			e.Do = "check " + c.key
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		e.Wait = retryDelay(resp.Header)
		if e.Wait == 0 {
			e.Do = "wait a little, or ask less often"
		}
	case 432, 433: // Tavily: the plan's limit, the pay-as-you-go limit
		e.Do = "the limit of the plan is reached"
	}
	return e
}

// retryDelay reads how long a server asks to be left alone: Retry-After in seconds or as a date, or
// the first of Brave's X-RateLimit-Reset.
func retryDelay(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if when, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(when))
	}
	if text == "" {
		text, _, _ = strings.Cut(h.Get("X-RateLimit-Reset"), ",")
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n < 0 || n > 86400*31 {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// firstLine is the beginning of an answer on one line.
func firstLine(body []byte) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(body[:min(len(body), 2000)]), "\ufffd")), " ")
	text = clip.Runes(text, 200, "...")
	if text == "" {
		return "(nothing)"
	}
	return text
}

// keepUsable drops results without an address of the web and those beyond limit.
func keepUsable(all []Result, limit int) []Result {
	out := make([]Result, 0, min(len(all), limit))
	seen := map[string]bool{}
	for _, r := range all {
		u, err := url.Parse(strings.TrimSpace(r.URL))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || seen[u.String()] {
			continue
		}
		if len(out) == limit {
			break
		}
		seen[u.String()] = true
		out = append(out, Result{Title: stripMarks(r.Title), URL: u.String(), Description: stripMarks(r.Description)})
	}
	return out
}
