// Package guard decides which addresses of the web a model may reach from this machine, and is the
// only way there.
//
// The contract: nothing is contacted before it was checked, and what was checked is what is
// contacted. A URL is checked as text (scheme, name, every spelling of an IP address), its name is
// resolved here, and the connection goes to an address that was judged: no second look-up lies
// between, so a name that changes its answer gains nothing. Each redirect starts anew. Addresses
// that belong to this machine or its networks are refused unless Options.AllowPrivate; services
// that hand out the credentials of a machine in a cloud are refused always, and so are sites on the
// Blocklist. A refusal is a *Refusal, written for the model.
package guard

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Options of a Guard. The zero value refuses everything private and uses no proxy.
type Options struct {
	// AllowPrivate lets through loopback, private and other addresses that are not public. Metadata
	// services stay refused.
	AllowPrivate bool
	Blocklist    *Blocklist // may be nil
	// Proxy is what the environment says about proxies; nil means none. See transport.
	Proxy *httpproxy.Config
	// AllowFakeIP lets names, not bare addresses, lead to 198.18.0.0/15: tunnels (Clash, sing-box)
	// answer with such addresses and route them to the real ones.
	AllowFakeIP bool
	// TrustProxy lets names through that only the proxy can resolve: then the proxy decides where
	// they lead.
	TrustProxy bool
	// Resolver looks names up; nil is the system's.
	Resolver Resolver
	// Dial connects to a checked address; nil is the network. It is for tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Resolver is the part of *net.Resolver that is used.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Guard checks and connects. Safe for concurrent use.
type Guard struct {
	o     Options
	proxy func(*url.URL) (*url.URL, error)
}

// New returns a guard.
func New(o Options) *Guard {
	g := &Guard{o: o, proxy: func(*url.URL) (*url.URL, error) { return nil, nil }}
	if o.Resolver == nil {
		g.o.Resolver = net.DefaultResolver
	}
	if o.Proxy != nil {
		g.proxy = o.Proxy.ProxyFunc()
	}
	return g
}

// Refusal says why an address is not contacted. It is for models and people.
type Refusal struct {
	Target string // URL without its query, or host
	Why    string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s is refused: %s", r.Target, r.Why) }

// Client returns an HTTP client that reaches only what the guard allows, directly and through
// redirects (at most 10). It keeps no cookies and no connections, and sends no Referer.
func (g *Guard) Client() *http.Client {
	return &http.Client{Transport: g.newTransport(), CheckRedirect: g.checkRedirect}
}

// maxRedirects is how many hops a fetch may take, as browsers and Go have it.
const maxRedirects = 10

func (g *Guard) checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return &Refusal{Target: shortURL(via[0].URL), Why: fmt.Sprintf("it redirects more than %d times", maxRedirects)}
	}
	r.Header.Del("Referer") // the address of one site is nothing to tell another
	u, err := g.CheckURL(r.URL.String())
	if err != nil {
		return err
	}
	r.URL = u
	return nil
}

// dialAllowed connects to the first address of host:port that is allowed. Every name is resolved
// here, and only here.
func (g *Guard) dialAllowed(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	addrs, err := g.resolveAllowed(ctx, host)
	if err != nil {
		return nil, err
	}
	var last error
	for _, a := range addrs {
		conn, err := g.dialAddress(ctx, network, host, netip.AddrPortFrom(a, portOf(port)))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, last
}

// maxAddresses bounds how many addresses of one name are tried.
const maxAddresses = 4

// resolveAllowed returns the allowed addresses of a host, or a *Refusal when it has none.
func (g *Guard) resolveAllowed(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, ok, err := parseIP(host); err != nil {
		return nil, &Refusal{Target: host, Why: err.Error()}
	} else if ok {
		return []netip.Addr{ip}, g.checkAddress(host, ip)
	}
	all, err := g.o.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var allowed []netip.Addr
	var refused error
	for _, a := range all {
		if err := g.checkAddress(host, a); err != nil {
			refused = err
		} else if len(allowed) < maxAddresses {
			allowed = append(allowed, a.Unmap())
		}
	}
	switch {
	case len(allowed) > 0:
		return allowed, nil
	case refused != nil:
		return nil, refused
	default:
		return nil, &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
}

// fakeIPs is for benchmarks by the book, and where tunnels put names.
const fakeIPs = "198.18.0.0/15"

// checkAddress refuses an address that the guard does not allow.
func (g *Guard) checkAddress(host string, a netip.Addr) error {
	class := Classify(a)
	if class == Public || g.o.AllowPrivate && !class.alwaysRefused() {
		return nil
	}
	fake := host != a.String() && isWithin(a.Unmap(), fakeIPs)
	if fake && g.o.AllowFakeIP {
		return nil
	}
	why := "it leads to " + a.String() + ", " + class.describe()
	if host == a.String() {
		why = "it is " + class.describe()
	}
	switch {
	case fake:
		why += ", as the tunnels of some proxies answer; security.allow_tun_fakeip: true in config.yaml allows it"
	case !class.alwaysRefused():
		why += "; web.allow_private_urls: true in config.yaml allows it"
	}
	return &Refusal{Target: host, Why: why}
}

// dialAddress dials one judged address. The socket is looked at once more before it connects, so
// that no mistake above can matter.
func (g *Guard) dialAddress(ctx context.Context, network, host string, to netip.AddrPort) (net.Conn, error) {
	if g.o.Dial != nil {
		return g.o.Dial(ctx, network, to.String())
	}
	d := net.Dialer{Timeout: 10 * time.Second, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return g.checkAddress(host, at.Addr())
	}}
	return d.DialContext(ctx, network, to.String())
}
