package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/crash"
)

const (
	maxAtOnce   = 64 // requests
	sessionIdle = 30 * time.Minute
	endTime     = 2 * time.Second
)

// HTTP serves clients that know the token, until ctx ends. The listener is on a loopback address;
// it is closed.
func (s *Server) HTTP(ctx context.Context, l net.Listener, token string) error {
	server := &http.Server{
		Handler: s.Handler(token), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	ended := make(chan error, 1)
	crash.Go("mcp http", func() { ended <- server.Serve(l) })
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	err := server.Shutdown(late)
	if err != nil { // streams that clients keep open
		err = server.Close()
	}
	if end := <-ended; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// Handler answers requests of this machine that know the token, and no web page: what a browser
// sends for one has an origin, or a name that was made to lead here.
func (s *Server) Handler(token string) http.Handler {
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.server }, &sdk.StreamableHTTPOptions{
		Logger: s.o.Log, MaxRequestBodyBytes: maxFrame, SessionTimeout: sessionIdle, DisableLocalhostProtection: false,
	})
	room := make(chan struct{}, maxAtOnce)
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !isLoopback(r.Host):
			http.Error(w, "this address is for programs on this machine only", http.StatusForbidden)
			return
		case !sameOrigin(r):
			http.Error(w, "no web page may use this address", http.StatusForbidden)
			return
		case token == "" || !hasToken(r, want):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong: send the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		default:
			http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// hasToken reports whether the request has the token, in a time that does not tell how much of it.
func hasToken(r *http.Request, want [sha256.Size]byte) bool {
	kind, given, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	have := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return ok && strings.EqualFold(kind, "Bearer") && subtle.ConstantTimeCompare(have[:], want[:]) == 1
}

// isLoopback reports whether a host, with a port or without, is this machine by its address or as
// localhost.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// sameOrigin reports whether no web page sent the request, or one of this very address.
func sameOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return r.Header.Get("Sec-Fetch-Site") != "cross-site"
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && u.Host == r.Host
}

// Listen opens an address of this machine for HTTP; others are refused.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	if !isLoopback(address) {
		return nil, errors.New("only addresses of this machine are served: write 127.0.0.1:8765, or 127.0.0.1:0 for any free port")
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", address)
	if err == nil && !isLoopback(l.Addr().String()) { // what localhost means is a file's word
		return nil, errors.Join(fmt.Errorf("%s leads to %s, which is not this machine alone", address, l.Addr()), l.Close())
	}
	return l, err
}
