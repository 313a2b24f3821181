package provider

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"hermes/core/crash"
)

// localServers are the model servers that people run on their own machine, at the port that each
// has by default.
func (c *Catalogue) localServers() []Vendor {
	var out []Vendor
	for _, v := range c.Vendors {
		if v.Local && isLoopback(v.BaseURL) {
			out = append(out, v)
		}
	}
	return out
}

// detectTime bounds Detect: a server on this machine that needs longer is not there.
const detectTime = 300 * time.Millisecond

// Detect looks for model servers on this machine, all at the same time, at most 300 ms, and
// remembers what it found. It only talks to loopback addresses and sends no key.
func (s *Set) Detect(ctx context.Context) []Endpoint {
	ctx, cancel := context.WithTimeout(ctx, detectTime)
	defer cancel()
	client := &http.Client{
		Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	list := s.serversWith(s.settings.OllamaHost)
	found := make([]*Endpoint, len(list))
	var wait sync.WaitGroup
	for i, l := range list {
		wait.Add(1)
		crash.Go("provider detect "+l.Name, func() {
			defer wait.Done()
			if e := (Endpoint{Name: l.Name, BaseURL: l.BaseURL, catalogue: s.settings.catalogueOf()}); answersModels(ctx, client, e) {
				found[i] = &e
			}
		})
	}
	wait.Wait()
	var out []Endpoint
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range found {
		if e != nil {
			out = append(out, *e)
			s.local[e.Name] = *e
		}
	}
	return out
}

// answersModels reports whether the address answers GET /models like a model server does. Anything
// may listen on port 8080.
func answersModels(ctx context.Context, client *http.Client, e Endpoint) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.BaseURL+"/models", nil)
	if err != nil {
		return false
	}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return false
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil {
		return false
	}
	list, err := ParseModels(e, body)
	return err == nil && len(list) > 0 // a server without a model is of no use
}

// serversWith is locals with Ollama at the place that OLLAMA_HOST names, if that is on this
// machine.
func (s *Set) serversWith(ollamaHost string) []Vendor {
	out := s.settings.catalogueOf().localServers()
	base, ok := ollamaBase(ollamaHost)
	for i := range out {
		if ok && out[i].Name == "ollama" {
			out[i].BaseURL = base
		}
	}
	return out
}

// ollamaBase reads OLLAMA_HOST: host, host:port, :port or a URL. A server listens on 0.0.0.0, a
// client asks 127.0.0.1.
func ollamaBase(host string) (string, bool) {
	host = strings.TrimSpace(host)
	if host == "" {
		return "", false
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return "", false
	}
	name, port := u.Hostname(), u.Port()
	if port == "" {
		port = "11434"
	}
	if ip := net.ParseIP(name); name == "" || (ip != nil && ip.IsUnspecified()) {
		name = "127.0.0.1"
	}
	base := fmt.Sprintf("%s://%s/v1", u.Scheme, net.JoinHostPort(name, port))
	return base, isLoopback(base)
}
