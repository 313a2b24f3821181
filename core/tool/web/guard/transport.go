package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// transport is two ways out. Without a proxy the guard itself dials the address it judged. With one
// (HTTP_PROXY and HTTPS_PROXY, NO_PROXY counts) the proxy resolves the name a second time, so the
// guard can only judge what it resolves itself first, and refuses names that it cannot resolve. The
// proxy's own address is the person's choice and may be private.
type transport struct {
	g       *Guard
	direct  *http.Transport
	proxied *http.Transport
}

func (g *Guard) newTransport() *transport {
	direct := &http.Transport{
		DialContext: g.dialAllowed, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: 256 << 10, DisableCompression: true,
		DisableKeepAlives: true, // pages are read one at a time, and an open connection is one that nobody looks at
	}
	proxied := direct.Clone()
	proxied.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	proxied.Proxy = func(r *http.Request) (*url.URL, error) { return g.proxy(r.URL) }
	return &transport{g: g, direct: direct, proxied: proxied}
}

// RoundTrip checks the request's URL, first hop and redirects alike.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := t.g.CheckURL(r.URL.String()); err != nil {
		return nil, err
	}
	proxy, err := t.g.proxy(r.URL)
	if err != nil {
		return nil, fmt.Errorf("the proxy settings of the environment: %w", err)
	}
	if proxy == nil {
		return t.direct.RoundTrip(r)
	}
	if err := t.g.checkBeforeProxy(r.Context(), r.URL.Hostname()); err != nil {
		return nil, err
	}
	return t.proxied.RoundTrip(r)
}

// checkBeforeProxy judges where a name leads before a proxy is asked to go there.
func (g *Guard) checkBeforeProxy(ctx context.Context, host string) error {
	_, err := g.resolveAllowed(ctx, host)
	var dns *net.DNSError
	if errors.As(err, &dns) {
		if g.o.TrustProxy {
			return nil
		}
		return &Refusal{Target: host, Why: "its address cannot be found here, only the proxy may know it, and then nobody would check where it leads; web.trust_proxy: true in config.yaml leaves that to the proxy"}
	}
	return err
}
