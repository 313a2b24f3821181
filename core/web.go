package core

import (
	"cmp"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/net/http/httpproxy"

	"hermes/core/config"
	"hermes/core/injection"
	"hermes/core/realpath"
	"hermes/core/tool/web"
	"hermes/core/tool/web/guard"
	"hermes/core/tool/web/pdf"
)

// noDownloadLimit is what `none` means for web.max_download: a page is kept in memory.
const noDownloadLimit = 256 << 20

// webOptions says how the web is reached.
func webOptions(c *config.Config) *web.Options {
	list, problems := loadBlocklist(c)
	secret := func(name string) string {
		v, _ := c.Secret(name)
		return v
	}
	o := web.Options{
		Search: web.Search{
			Backend: cmp.Or(c.Web.SearchBackend, c.Web.Backend), SearXNG: cmp.Or(c.Web.SearXNGURL, secret("SEARXNG_URL")),
			BraveKey: secret("BRAVE_SEARCH_API_KEY"), TavilyKey: secret("TAVILY_API_KEY"), TavilyURL: secret("TAVILY_API_URL"),
			StaticIndex: inHome(c, c.Web.StaticIndex),
		},
		Guard: guard.Options{
			AllowPrivate: c.Web.AllowPrivateURLs || c.Security.AllowPrivateURLs, AllowFakeIP: c.Security.AllowTunFakeIP,
			Blocklist: list, Proxy: httpproxy.FromEnvironment(), TrustProxy: c.Web.TrustProxy,
		},
		Timeout: c.Web.Timeout, MaxBytes: int64(c.Web.MaxDownload), CharLimit: c.Web.ExtractCharLimit, CacheTTL: c.Web.CacheTTL,
		Budget: c.ToolOutput.MaxBytes, SpillDir: c.Paths().SpillDir, PDF: pdf.Text, Block: withoutOrders, Problems: problems,
	}
	if o.MaxBytes < 0 {
		o.MaxBytes = noDownloadLimit
	}
	if o.CacheTTL == 0 {
		o.CacheTTL = -time.Second
	}
	return &o
}

// loadBlocklist joins the two places where sites can be named.
func loadBlocklist(c *config.Config) (list *guard.Blocklist, problems []string) {
	domains, files := c.Web.Blocklist, c.Web.BlocklistFiles
	if b := c.Security.WebsiteBlocklist; b.Enabled {
		domains, files = append(domains[:len(domains):len(domains)], b.Domains...), append(files[:len(files):len(files)], b.SharedFiles...)
	}
	places := make([]string, len(files))
	for i, f := range files {
		places[i] = inHome(c, f)
	}
	list, errs := guard.NewBlocklist(domains, places)
	for _, err := range errs {
		problems = append(problems, err.Error())
	}
	return list, problems
}

// inHome makes a path of the settings absolute: ~ is the person's home, relative paths start in
// Hermes' own.
func inHome(c *config.Config, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	home, _ := os.UserHomeDir() // without one, ~ stays as it is
	return realpath.Absolute(home, c.Paths().Home, path)
}

// withoutOrders takes the lines out of a page that try to give orders to the agent.
func withoutOrders(text string) (out string, reasons []string) {
	out, hits := injection.Block(text)
	for _, h := range hits {
		reasons = append(reasons, h.Reason+": "+injection.Excerpt(text, h))
	}
	return out, reasons
}
