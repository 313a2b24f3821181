// Package web holds the tools that reach the web: web_search asks a search engine, web_extract
// reads pages.
//
// The contract: both only read, so nobody is asked; queries and URLs leave this machine, and
// docs/web.md says to whom. No address is contacted but through package guard. What comes back was
// written by strangers: invisible characters are removed, a note tells the model so, Options.Block
// takes out text that gives orders, and whatever a server does ends in bounded time, memory and
// characters. Results are JSON, in the form that scripts of execute_code expect; what a page has
// beyond its share is kept in a file.
package web

import (
	"cmp"
	"net/http"
	"strings"
	"sync"
	"time"

	"hermes/core/tool"
	"hermes/core/tool/web/engine"
	"hermes/core/tool/web/guard"
	"hermes/core/tool/web/page"
)

// Options of the web tools. Zero values mean the defaults that are named.
type Options struct {
	Search    Search
	Guard     guard.Options
	Timeout   time.Duration // of one search or one page, redirects included; 30 s
	MaxBytes  int64         // of one page, before and after decompression; 10 MB
	CharLimit int           // characters of one page that a model sees; 15,000
	CacheTTL  time.Duration // how long a page is not fetched again; 5 minutes, negative: never kept
	Budget    int           // characters of a whole result; tool.DefaultMaxResult
	SpillDir  string        // keeps the whole text of cut pages; "" keeps none
	PDF       page.PDF      // nil: PDF documents are refused
	// Block takes lines that try to give orders to the agent out of a text and says why, in words
	// for people. May be nil.
	Block func(text string) (out string, reasons []string)
	// Problems are said once, with the first result: a blocklist file that could not be read.
	Problems []string
}

// Search says which engine answers web_search.
type Search struct {
	// Backend is searxng, brave (brave-free), tavily, duckduckgo (ddgs) or static; anything else
	// takes the first that is set up.
	Backend       string
	SearXNG       string // address of an instance
	BraveKey      string
	TavilyKey     string
	StaticIndex   string // file; see engine.Static
	BraveURL      string // in place of the real ones
	TavilyURL     string
	DuckDuckGoURL string
}

// agent is how the tools introduce themselves.
const agent = "Mozilla/5.0 (compatible; Hermes-Workbench/1.0; reads pages that a person's AI agent asks for)"

// Web is what the tools share. Safe for concurrent use.
type Web struct {
	o      Options
	guard  *guard.Guard
	client *http.Client // pages
	plain  *http.Client // the search engine, which a person chose and which may be inside
	cache  cache
	say    sync.Once
}

// New returns the tools' common part. It contacts nobody.
func New(o Options) *Web {
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxBytes = cmp.Or(o.MaxBytes, 10<<20)
	o.CharLimit = cmp.Or(o.CharLimit, 15_000)
	o.CacheTTL = cmp.Or(o.CacheTTL, 5*time.Minute)
	o.Budget = cmp.Or(o.Budget, tool.DefaultMaxResult)
	g := guard.New(o.Guard)
	direct := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	return &Web{
		o: o, guard: g, client: g.Client(), cache: cache{ttl: o.CacheTTL},
		plain: &http.Client{Transport: direct, CheckRedirect: sameHost},
	}
}

// sameHost keeps a key from following a redirect to somebody else.
func sameHost(r *http.Request, via []*http.Request) error {
	open := r.URL.Scheme != "https" && via[0].URL.Scheme == "https" // anybody on the way could read the key
	if len(via) >= 3 || r.URL.Host != via[0].URL.Host || open {
		return http.ErrUseLastResponse
	}
	return nil
}

// Engine returns the engine that the settings choose, or an error that says what to set.
func (s Search) chosenEngine(c *http.Client) (engine.Engine, error) {
	known := map[string]func() (engine.Engine, error){
		"searxng": func() (engine.Engine, error) {
			return engine.SearXNG(c, s.SearXNG), requireSetting(s.SearXNG, "SEARXNG_URL (or web.searxng_url)")
		},
		"brave": func() (engine.Engine, error) {
			return engine.Brave(c, s.BraveURL, s.BraveKey), requireSetting(s.BraveKey, "BRAVE_SEARCH_API_KEY")
		},
		"tavily": func() (engine.Engine, error) {
			return engine.Tavily(c, s.TavilyURL, s.TavilyKey), requireSetting(s.TavilyKey, "TAVILY_API_KEY")
		},
		"static": func() (engine.Engine, error) {
			return engine.Static(s.StaticIndex), requireSetting(s.StaticIndex, "web.static_index")
		},
		"duckduckgo": func() (engine.Engine, error) { return engine.DuckDuckGo(c, s.DuckDuckGoURL, agent), nil },
	}
	if choose, ok := known[s.backendName()]; ok {
		e, err := choose()
		if err != nil {
			return nil, unset(s.backendName() + " is chosen by web.search_backend or web.backend: " + err.Error())
		}
		return e, nil
	}
	for _, name := range []string{"searxng", "brave", "tavily", "static"} { // never one that was not asked for
		if e, err := known[name](); err == nil {
			return e, nil
		}
	}
	return nil, unset("no search engine is set up: set SEARXNG_URL, BRAVE_SEARCH_API_KEY or TAVILY_API_KEY in .env; " +
		"web.search_backend: ddgs in config.yaml searches with DuckDuckGo, without a key")
}

// backendName gives the names of the Python program one spelling.
func (s Search) backendName() string {
	switch name := strings.ToLower(strings.TrimSpace(s.Backend)); name {
	case "brave-free":
		return "brave"
	case "ddgs", "ddg":
		return "duckduckgo"
	default:
		return name
	}
}

// unset is a setting that is missing.
type unset string

func (e unset) Error() string { return string(e) }

func requireSetting(value, name string) error {
	if value == "" {
		return unset("it needs " + name)
	}
	return nil
}
