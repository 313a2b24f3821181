package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The answers as the vendors' documents print them, with the fields that are not used left in.
const (
	searxngAnswer = `{"query": "go generics", "number_of_results": 0, "results": [
{"url": "https://go.dev/doc/tutorial/generics", "title": "Tutorial: Getting started with generics - The Go Programming Language", "content": "This tutorial introduces the basics of generics in Go.", "thumbnail": null, "engine": "google", "template": "default.html", "parsed_url": ["https", "go.dev", "/doc/tutorial/generics", "", "", ""], "img_src": "", "priority": "", "engines": ["google", "brave"], "positions": [1, 2], "score": 3.0, "category": "general", "publishedDate": null},
{"url": "magnet:?xt=urn:btih:0", "title": "not the web", "content": "x", "engine": "piratebay"},
{"url": "https://go.dev/doc/tutorial/generics", "title": "twice", "content": ""},
{"url": "https://go.dev/blog/intro-generics", "title": "An Introduction To Generics", "content": null}],
"answers": [], "corrections": [], "infoboxes": [], "suggestions": ["go generics tutorial"], "unresponsive_engines": [["duckduckgo", "CAPTCHA"]]}`
	braveAnswer = `{"query": {"original": "brave search", "show_strict_warning": false, "is_navigational": true, "more_results_available": true},
"mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": false}], "top": [], "side": []}, "type": "search",
"web": {"type": "search", "results": [{"title": "Brave Search", "url": "https://search.brave.com/", "is_source_local": false, "is_source_both": false, "description": "Search the web <strong>privately</strong> &amp; freely", "language": "en", "family_friendly": true, "type": "search_result", "subtype": "generic",
"meta_url": {"scheme": "https", "netloc": "search.brave.com", "hostname": "search.brave.com", "favicon": "https://imgs.search.brave.com/x", "path": ""}}], "family_friendly": true}}`
	tavilyAnswer = `{"query": "Who is Leo Messi?", "answer": null, "images": [], "results": [
{"title": "Lionel Messi Facts | Britannica", "url": "https://www.britannica.com/facts/Lionel-Messi", "content": "Lionel Messi, an Argentine footballer, is widely regarded as one of the greatest.", "score": 0.81025416, "raw_content": null, "favicon": "https://britannica.com/favicon.png"}],
"response_time": 1.67, "auto_parameters": {"topic": "general", "search_depth": "basic"}, "request_id": "123e4567-e89b-12d3-a456-426614174111"}`
	duckAnswer = `<!DOCTYPE html><html><body><div id="links" class="results">
<div class="result results_links results_links_deep result--ad"><div class="links_main links_deep result__body"><h2 class="result__title"><a rel="nofollow" class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example&amp;u3=x">Buy Go</a></h2><a class="result__snippet" href="x">Cheap!</a></div></div>
<div class="result results_links results_links_deep web-result "><div class="links_main links_deep result__body"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fgo.dev%2Fdoc%2Ftutorial%2Fgenerics%3Fa%3D1%26b%3D2&amp;rut=8c1">Tutorial: Getting started with <b>generics</b></a></h2>
<div class="result__extras"><a class="result__url" href="x">go.dev/doc</a></div>
<a class="result__snippet" href="//duckduckgo.com/l/?uddg=x">This tutorial introduces the basics of <b>generics</b> in <b>Go</b> &amp; more.</a></div></div>
<div class="result results_links web-result"><h2 class="result__title"><a class="result__a" href="https://example.org/plain">Plain</a></h2></div>
<div class="result web-result"><a class="result__a" href="javascript:alert(1)">no</a></div></div></body></html>`
)

// asked is what an engine was sent.
type asked struct {
	method, path, query, body string
	header                    http.Header
}

func serve(t *testing.T, status int, header map[string]string, answer string) (*httptest.Server, *asked) {
	t.Helper()
	got := &asked{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = asked{r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header}
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s, got
}

var plainClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}

func engines(base string) map[string]Engine {
	return map[string]Engine{
		"searxng": SearXNG(plainClient, base+"/"), "brave": Brave(plainClient, base, "BSA-key"),
		"tavily": Tavily(plainClient, base, "tvly-key"), "duckduckgo": DuckDuckGo(plainClient, base+"/html/", "agent/1"),
	}
}

func TestVendorsFormats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  string
		want    []Result
		request func(a asked) bool
	}{
		"searxng": {
			searxngAnswer,
			[]Result{
				{"Tutorial: Getting started with generics - The Go Programming Language", "https://go.dev/doc/tutorial/generics", "This tutorial introduces the basics of generics in Go."},
				{"An Introduction To Generics", "https://go.dev/blog/intro-generics", ""},
			},
			func(a asked) bool {
				return a.method == "GET" && a.path == "/search" && a.query == "format=json&q=go+%26+c"
			},
		},
		"brave": {
			braveAnswer,
			[]Result{{"Brave Search", "https://search.brave.com/", "Search the web privately & freely"}},
			func(a asked) bool {
				return a.method == "GET" && a.path == "/res/v1/web/search" && a.query == "count=3&q=go+%26+c&text_decorations=false" && a.header.Get("X-Subscription-Token") == "BSA-key"
			},
		},
		"tavily": {
			tavilyAnswer,
			[]Result{{"Lionel Messi Facts | Britannica", "https://www.britannica.com/facts/Lionel-Messi", "Lionel Messi, an Argentine footballer, is widely regarded as one of the greatest."}},
			func(a asked) bool {
				var in map[string]any
				want := map[string]any{"query": "go & c", "max_results": 3.0, "search_depth": "basic", "include_answer": false}
				return a.method == "POST" && a.path == "/search" && a.header.Get("Authorization") == "Bearer tvly-key" &&
					a.header.Get("Content-Type") == "application/json" && json.Unmarshal([]byte(a.body), &in) == nil && reflect.DeepEqual(in, want)
			},
		},
		"duckduckgo": {
			duckAnswer,
			[]Result{
				{"Tutorial: Getting started with generics", "https://go.dev/doc/tutorial/generics?a=1&b=2", "This tutorial introduces the basics of generics in Go & more."},
				{"Plain", "https://example.org/plain", ""},
			},
			func(a asked) bool {
				return a.method == "POST" && a.path == "/html/" && a.body == "b=&q=go+%26+c" && a.header.Get("User-Agent") == "agent/1"
			},
		},
	} {
		s, got := serve(t, 200, nil, c.answer)
		res, err := engines(s.URL)[name].Search(context.Background(), "go & c", 3)
		if err != nil || !reflect.DeepEqual(res, c.want) {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		if !c.request(*got) {
			t.Errorf("%s was asked %+v", name, *got)
		}
		if res, err := engines(s.URL)[name].Search(context.Background(), "x", 1); err != nil || len(res) != 1 {
			t.Errorf("%s: the limit gave %v, %v", name, res, err)
		}
	}
}

func TestFailuresAreClear(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, engine string
		status       int
		header       map[string]string
		answer       string
		want         []string
	}{
		{"brave's bad key", "brave", 422, nil, `{"type":"ErrorResponse","error":{"id":"x","status":422,"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"The provided subscription token is invalid."}}`, []string{"brave", "422", "SUBSCRIPTION_TOKEN_INVALID"}},
		{"brave's limit", "brave", 429, map[string]string{"X-RateLimit-Reset": "1, 1419704"}, `{"type":"ErrorResponse","error":{"code":"RATE_LIMITED"}}`, []string{"429", "RATE_LIMITED", "wait 1s"}},
		{"tavily's bad key", "tavily", 401, nil, `{"detail":{"error":"Unauthorized: missing or invalid API key."}}`, []string{"401", "invalid API key", "check TAVILY_API_KEY"}},
		{"tavily's plan", "tavily", 432, nil, `{"detail":{"error":"This request exceeds your plan's set usage limit."}}`, []string{"432", "limit of the plan"}},
		{"retry after", "searxng", 429, map[string]string{"Retry-After": "90"}, "Too Many Requests", []string{"wait 1m30s"}},
		{"retry without a time", "searxng", 429, nil, "", []string{"(nothing)", "ask less often"}},
		{"json is off", "searxng", 403, nil, "<h1>Forbidden</h1>", []string{"403", "search.formats"}},
		{"its engines fail", "searxng", 200, nil, `{"results": [], "unresponsive_engines": [["google", "access denied"]]}`, []string{"none of its engines answered", "google access denied"}},
		{"html in place of json", "searxng", 200, nil, "<!doctype html><title>login</title>", []string{"not what was expected", "<title>login"}},
		{"half an answer", "brave", 200, nil, braveAnswer[:300], []string{"not what was expected"}},
		{"wrong types", "tavily", 200, nil, `{"results": "none"}`, []string{"not what was expected"}},
		{"too large", "tavily", 200, nil, strings.Repeat(" ", maxAnswer+1), []string{"larger than 4 MB"}},
		{"a person is asked for", "duckduckgo", 202, nil, `<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>`, []string{"whether a person is there", "BRAVE_SEARCH_API_KEY"}},
		{"another page", "duckduckgo", 200, nil, `<p>New design!</p>`, []string{"form that is known", "New design!"}},
		{"server error", "duckduckgo", 500, nil, "oops", []string{"500 Internal Server Error: oops"}},
	} {
		s, _ := serve(t, c.status, c.header, c.answer)
		_, err := engines(s.URL)[c.engine].Search(context.Background(), "x", 3)
		var e *Error
		if !errors.As(err, &e) || e.Engine != c.engine {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v lacks %q", c.name, err, want)
			}
		}
	}
}

// No results is no failure, and keys never stand in an error.
func TestNothingFoundAndNoKeyLeaks(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"searxng": `{"results": []}`, "brave": `{"type": "search"}`, "tavily": `{"results": []}`, "duckduckgo": `<div class="no-results">No results.</div>`,
	} {
		s, _ := serve(t, 200, nil, answer)
		if res, err := engines(s.URL)[name].Search(context.Background(), "x", 3); err != nil || len(res) != 0 {
			t.Errorf("%s: %v, %v", name, res, err)
		}
	}
	for name, e := range engines("http://127.0.0.1:1") {
		_, err := e.Search(context.Background(), "my query", 3)
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1 cannot be reached") || strings.Contains(err.Error(), "query") || strings.Contains(err.Error(), "-key") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSlowAndCancelled(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(release)
	for name, e := range engines(s.URL) {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		if _, err := e.Search(ctx, "x", 3); err == nil || !strings.Contains(err.Error(), "did not answer in time") {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		ctx, cancel = context.WithCancel(context.Background())
		cancel()
		if _, err := e.Search(ctx, "x", 3); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStaticIndex(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "index.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`
- {title: Rust async runtimes, url: "https://a.example/1", description: "tokio and others, a comparison"}
- {title: Cooking, url: "https://a.example/2", description: Rust stains on pans}
- {title: 图书馆开放时间, url: "https://a.example/3", content: 每天晚上十点关门}
- {title: No address, url: "", description: rust}
`)
	search := func(q string, n int) string {
		res, err := Static(file).Search(context.Background(), q, n)
		if err != nil {
			return err.Error()
		}
		var urls []string
		for _, r := range res {
			urls = append(urls, strings.TrimPrefix(r.URL, "https://a.example/"))
		}
		return strings.Join(urls, " ")
	}
	for q, want := range map[string]string{"Rust async comparison": "1 2", "rust": "1 2", "图书馆": "3", "十点": "3", "nothing of it": "", "pans RUST": "2 1"} {
		if got := search(q, 5); got != want {
			t.Errorf("%s: %q, want %q", q, got, want)
		}
	}
	if got := search("rust", 1); got != "1" {
		t.Errorf("limit: %q", got)
	}
	write(`[{"title": "json too", "url": "https://a.example/9", "description": ""}]`)
	if got := search("json", 5); got != "9" {
		t.Errorf("JSON: %q", got)
	}
	write("not: a list")
	if got := search("x", 5); !strings.Contains(got, "is no list of documents") {
		t.Error(got)
	}
	if _, err := Static(file+".gone").Search(context.Background(), "x", 1); err == nil || !strings.Contains(err.Error(), "check web.static_index") {
		t.Error(err)
	}
}

func FuzzDuckDuckGo(f *testing.F) {
	f.Add(duckAnswer)
	f.Fuzz(func(t *testing.T, page string) {
		s := &http.Client{Transport: answering(page)}
		res, _ := DuckDuckGo(s, "http://d.example/", "a").Search(context.Background(), "x", 5)
		for _, r := range res {
			if !strings.HasPrefix(r.URL, "http") {
				t.Errorf("%q", r.URL)
			}
		}
	})
}

type answering string

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}
