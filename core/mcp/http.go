package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/config"
)

// headers sends the entry's headers with every request to its host, and to no other.
type headers struct {
	next http.RoundTripper
	host string
	set  map[string]string
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(h.set) > 0 && r.URL.Host == h.host {
		r = r.Clone(r.Context())
		for name, value := range h.set {
			r.Header.Set(name, value)
		}
	}
	return h.next.RoundTrip(r)
}

// CloseIdleConnections lets go of what the client does not use.
func (h headers) CloseIdleConnections() {
	if c, ok := h.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// dialHTTP connects to an address: streamable HTTP, and the older SSE where the server knows no
// other.
func (s *server) dialHTTP(ctx context.Context, set Settings) (*connection, error) {
	if set.Transport == "sse" {
		return s.dialSSE(ctx, set)
	}
	client, err := s.httpClient(set)
	if err != nil {
		return nil, err
	}
	seen := &statusSeen{next: client.Transport}
	client.Transport = seen
	transport := &sdk.StreamableClientTransport{Endpoint: set.URL, HTTPClient: client, MaxRetries: 2}
	session, err := s.client(set).Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: stdioProtocol})
	if err == nil {
		return s.overHTTP(session, client), nil
	}
	client.CloseIdleConnections()
	switch code := seen.last(); {
	case code == http.StatusUnauthorized:
		return nil, loginError{fmt.Errorf("it wants a login: `hermes mcp login %s`", set.Name)}
	case set.Transport == "" && (code == http.StatusNotFound || code == http.StatusMethodNotAllowed || code == http.StatusBadRequest):
		c, sseErr := s.dialSSE(ctx, set)
		if sseErr == nil {
			return c, nil
		}
	}
	return nil, errors.New(plain(strings.TrimSpace(err.Error())))
}

func (s *server) dialSSE(ctx context.Context, set Settings) (*connection, error) {
	client, err := s.httpClient(set)
	if err != nil {
		return nil, err
	}
	session, err := s.client(set).Connect(ctx, &sdk.SSEClientTransport{Endpoint: set.URL, HTTPClient: client},
		&sdk.ClientSessionOptions{ProtocolVersion: stdioProtocol})
	if err != nil {
		client.CloseIdleConnections()
		return nil, err
	}
	return s.overHTTP(session, client), nil
}

func (s *server) overHTTP(session *sdk.ClientSession, client *http.Client) *connection {
	end := func() {
		_ = session.Close() // the server may be gone already
		client.CloseIdleConnections()
	}
	return &connection{session: session, end: end, cause: func(err error) error { return err }}
}

// httpClient speaks with the host of one server, logged in if somebody did.
func (s *server) httpClient(set Settings) (*http.Client, error) {
	c, err := s.plainClient(set)
	if err != nil || set.Auth == "none" {
		return c, err
	}
	refresh, err := s.plainClient(Settings{MCPServer: config.MCPServer{URL: set.URL}})
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(set.URL)
	if err != nil {
		return nil, stop(err)
	}
	c.Transport = bearer{c.Transport, u.Host, &source{file: tokensOf(s.m.o.Home, set.Name), url: set.URL, client: refresh}}
	return c, nil
}

// plainClient sends the entry's headers and nothing else.
func (s *server) plainClient(set Settings) (*http.Client, error) {
	r, err := http.NewRequest(http.MethodGet, set.URL, http.NoBody)
	if err != nil {
		return nil, stop(fmt.Errorf("the address cannot be read: %w", err))
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{Transport: headers{base, r.URL.Host, set.Headers}}, nil
}

// statusSeen keeps the last status of a refusal.
type statusSeen struct {
	next http.RoundTripper
	code atomic.Int64
}

func (s *statusSeen) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := s.next.RoundTrip(r)
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		s.code.Store(int64(res.StatusCode))
	}
	return res, err
}

func (s *statusSeen) last() int { return int(s.code.Load()) }

// CloseIdleConnections lets go of what the client does not use.
func (s *statusSeen) CloseIdleConnections() {
	if c, ok := s.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
