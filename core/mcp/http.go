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
	closeIdle(h.next)
}

func closeIdle(next http.RoundTripper) {
	if c, ok := next.(interface{ CloseIdleConnections() }); ok {
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
	seen := s.watchRefusals(client)
	transport := &sdk.StreamableClientTransport{Endpoint: set.URL, HTTPClient: client, MaxRetries: 2}
	session, err := s.newClient(set).Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: stdioProtocol})
	if err == nil {
		return webConnection(session, client, seen), nil
	}
	client.CloseIdleConnections()
	switch code := seen.lastCode(); {
	case seen.login.Load():
		return nil, seen.explainRefusal(err)
	case set.Transport == "" && (code == http.StatusNotFound || code == http.StatusMethodNotAllowed || code == http.StatusBadRequest):
		c, sseErr := s.dialSSE(ctx, set)
		if sseErr == nil {
			return c, nil
		}
	}
	return nil, errors.New(plainText(strings.TrimSpace(explainNotSent(err).Error())))
}

func (s *server) dialSSE(ctx context.Context, set Settings) (*connection, error) {
	client, err := s.httpClient(set)
	if err != nil {
		return nil, err
	}
	seen := s.watchRefusals(client)
	session, err := s.newClient(set).Connect(ctx, &sdk.SSEClientTransport{Endpoint: set.URL, HTTPClient: client},
		&sdk.ClientSessionOptions{ProtocolVersion: stdioProtocol})
	if err != nil {
		client.CloseIdleConnections()
		return nil, seen.explainRefusal(explainNotSent(err))
	}
	return webConnection(session, client, seen), nil
}

func webConnection(session *sdk.ClientSession, client *http.Client, seen *refusals) *connection {
	end := func() {
		_ = session.Close() // the server may be gone already
		client.CloseIdleConnections()
	}
	return &connection{session: session, end: end, cause: seen.explainRefusal}
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
		return nil, stopFor(err)
	}
	c.Transport = bearer{c.Transport, u.Host, &source{file: tokensOf(s.m.o.Home, set.Name), url: set.URL, client: refresh, note: s.log.addNote}}
	return c, nil
}

// plainClient sends the entry's headers and nothing else.
func (s *server) plainClient(set Settings) (*http.Client, error) {
	r, err := http.NewRequest(http.MethodGet, set.URL, http.NoBody)
	if err != nil {
		return nil, stopFor(fmt.Errorf("the address cannot be read: %w", err))
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{Transport: headers{base, r.URL.Host, set.Headers}}, nil
}

// refusals keeps what a server last refused a request with, and whether it wants a login for it.
type refusals struct {
	next  http.RoundTripper
	of    *server
	code  atomic.Int64
	login atomic.Bool
}

// watchRefusals has what the server refuses the client kept.
func (s *server) watchRefusals(client *http.Client) *refusals {
	seen := &refusals{next: client.Transport, of: s}
	client.Transport = seen
	return seen
}

func (f *refusals) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := f.next.RoundTrip(r)
	if err != nil || res.StatusCode < http.StatusBadRequest {
		return res, err
	}
	f.code.Store(int64(res.StatusCode))
	lacks, wants := wantsLogin(res)
	if !wants {
		return res, nil
	}
	f.login.Store(true)
	if set := f.of.currentSettings(); len(lacks) > 0 {
		if err := tokensOf(f.of.m.o.Home, set.Name).noteLacking(set.URL, lacks); err != nil {
			f.of.log.addNote("which rights its login lacks could not be kept: " + err.Error())
		}
	}
	return res, nil
}

func (f *refusals) lastCode() int { return int(f.code.Load()) }

// explainRefusal says that a login is wanted, if that is why.
func (f *refusals) explainRefusal(err error) error {
	if f.login.Load() {
		return loginError{fmt.Errorf("it wants a login: `hermes mcp login %s`",
			f.of.currentSettings().Name)}
	}
	return err
}

// CloseIdleConnections lets go of what the client does not use.
func (f *refusals) CloseIdleConnections() {
	closeIdle(f.next)
}
