package config

import "time"

// Web is how the web is searched and read. Keys of search engines are in .env:
// BRAVE_SEARCH_API_KEY, TAVILY_API_KEY.
type Web struct {
	Backend          string        `key:"backend" oneof:"|auto|searxng|brave|brave-free|tavily|ddgs|duckduckgo|static|firecrawl|exa|parallel|xai" fold:"yes" doc:"search engine; empty or auto: the first that is set up of searxng, brave, tavily, static; firecrawl, exa, parallel and xai are the Python program's: as auto"`
	SearchBackend    string        `key:"search_backend" oneof:"|auto|searxng|brave|brave-free|tavily|ddgs|duckduckgo|static|firecrawl|exa|parallel|xai" fold:"yes" doc:"as backend, and before it"`
	SearXNGURL       string        `key:"searxng_url" url:"yes" doc:"address of a SearXNG instance that answers in JSON; empty: SEARXNG_URL"`
	StaticIndex      string        `key:"static_index" doc:"file with a list of documents (title, url, description, content) that web_search looks in"`
	ExtractCharLimit int           `key:"extract_char_limit" min:"500" max:"500000" doc:"most characters of one page that the model sees; the whole is kept in a file"`
	Timeout          time.Duration `key:"timeout" min:"1" doc:"longest wait for one search or one page"`
	MaxDownload      Size          `key:"max_download" min:"0.1" doc:"most that is read of one page"`
	CacheTTL         time.Duration `key:"cache_ttl" min:"0" doc:"how long a page is not fetched again; 0: it always is"`
	AllowPrivateURLs bool          `key:"allow_private_urls" strict:"false" doc:"let pages be read from this machine and private networks; metadata services of clouds stay closed"`
	TrustProxy       bool          `key:"trust_proxy" strict:"false" doc:"with a proxy in the environment: let it resolve names that cannot be checked here"`
	Blocklist        []string      `key:"blocklist" refuses:"web" doc:"sites that are never visited: example.com with all below it, *.example.com only what is below"`
	BlocklistFiles   []string      `key:"blocklist_files" refuses:"web" doc:"files with one such site a line; relative to the home folder"`
}
