package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hermes/core/clip"
)

// SearXNG asks an instance of the person's own. Its settings.yml must list json under
// search.formats.
func SearXNG(c *http.Client, base string) Engine {
	return searxng{call{"searxng", c, "SEARXNG_URL"}, strings.TrimSuffix(strings.TrimSuffix(base, "/"), "/search")}
}

type searxng struct {
	call
	base string
}

func (searxng) Name() string { return "searxng" }

func (s searxng) Search(ctx context.Context, query string, limit int) ([]Result, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/search?"+url.Values{"q": {query}, "format": {"json"}}.Encode(), nil)
	if err != nil {
		return nil, &Error{Engine: "searxng", Why: "the address " + s.base + " is not valid", Do: "check SEARXNG_URL or web.searxng_url", Err: err}
	}
	r.Header.Set("Accept", "application/json")
	body, err := s.sendRequest(r)
	if err != nil {
		return nil, forbiddenFormat(err)
	}
	var answer struct {
		Results []struct{ Title, URL, Content string } `json:"results"`
		Failed  [][]string                             `json:"unresponsive_engines"`
	}
	if err := s.decodeJSON(body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Results) == 0 && len(answer.Failed) > 0 {
		return nil, &Error{Engine: "searxng", Why: "none of its engines answered: " + failureText(answer.Failed), Do: "look at the instance"}
	}
	var all []Result
	for _, x := range answer.Results {
		all = append(all, Result{x.Title, x.URL, x.Content})
	}
	return keepUsable(all, limit), nil
}

// forbiddenFormat: an instance that does not allow JSON answers 403, which looks like a missing
// key.
func forbiddenFormat(err error) error {
	var e *Error
	if errors.As(err, &e) && strings.Contains(e.Why, "403") {
		e.Do = "the instance may not allow JSON: add json to search.formats in its settings.yml"
	}
	return err
}

func failureText(list [][]string) string {
	var parts []string
	for _, f := range list {
		parts = append(parts, strings.Join(f, " "))
	}
	return firstLine([]byte(strings.Join(parts, ", ")))
}

// Brave asks the Brave Search API with a key. base is for tests; empty is the real one.
func Brave(c *http.Client, base, key string) Engine {
	if base == "" {
		base = "https://api.search.brave.com"
	}
	return brave{call{"brave", c, "BRAVE_SEARCH_API_KEY"}, base, key}
}

type brave struct {
	call
	base, token string
}

func (brave) Name() string { return "brave" }

func (b brave) Search(ctx context.Context, query string, limit int) ([]Result, error) {
	// Brave takes at most 400 characters and 50 words, and 20 results a page.
	q := url.Values{"q": {clip.Runes(query, 400, "")}, "count": {strconv.Itoa(min(limit, 20))}, "text_decorations": {"false"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+"/res/v1/web/search?"+q.Encode(), nil)
	if err != nil {
		return nil, &Error{Engine: "brave", Why: "the address is not valid", Err: err}
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("X-Subscription-Token", b.token)
	body, err := b.sendRequest(r)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Web struct {
			Results []struct{ Title, URL, Description string } `json:"results"`
		} `json:"web"`
	}
	if err := b.decodeJSON(body, &answer); err != nil {
		return nil, err
	}
	var all []Result
	for _, x := range answer.Web.Results {
		all = append(all, Result{x.Title, x.URL, x.Description})
	}
	return keepUsable(all, limit), nil
}

// Tavily asks the Tavily API with a key. base is TAVILY_API_URL; empty is the real one.
func Tavily(c *http.Client, base, key string) Engine {
	if base == "" {
		base = "https://api.tavily.com"
	}
	return tavily{call{"tavily", c, "TAVILY_API_KEY"}, strings.TrimSuffix(base, "/"), key}
}

type tavily struct {
	call
	base, token string
}

func (tavily) Name() string { return "tavily" }

func (t tavily) Search(ctx context.Context, query string, limit int) ([]Result, error) {
	in, err := json.Marshal(map[string]any{"query": clip.Runes(query, 400, ""), "max_results": min(limit, 20), "search_depth": "basic", "include_answer": false})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.base+"/search", bytes.NewReader(in))
	if err != nil {
		return nil, &Error{Engine: "tavily", Why: "the address " + t.base + " is not valid", Do: "check TAVILY_API_URL", Err: err}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+t.token)
	body, err := t.sendRequest(r)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Results []struct{ Title, URL, Content string } `json:"results"`
	}
	if err := t.decodeJSON(body, &answer); err != nil {
		return nil, err
	}
	var all []Result
	for _, x := range answer.Results {
		all = append(all, Result{x.Title, x.URL, x.Content})
	}
	return keepUsable(all, limit), nil
}
