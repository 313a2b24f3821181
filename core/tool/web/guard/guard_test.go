package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/http/httpproxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// verdicts of URLs as text, in both modes: ok, private (a setting opens it), never.
var verdicts = []struct{ url, want string }{
	{"https://example.com/", "ok"},
	{"http://example.com:8080/a?b=c#d", "ok"},
	{"HTTPS://EXAMPLE.COM", "ok"},
	{"https://bücher.example/", "ok"},
	{"https://例え.テスト/", "ok"},
	{"https://8.8.8.8/", "ok"},
	{"https://134744072/", "ok"}, // 8.8.8.8
	{"https://[2606:4700:4700::1111]/", "ok"},
	{"https://[64:ff9b::808:808]/", "ok"},
	{"https://a_b.example.com/", "ok"},
	{"https://example.com./", "ok"},
	{"http://100.63.255.255/", "ok"},
	{"http://172.32.0.1/", "ok"},
	{"http://223.255.255.255/", "ok"},

	{"http://127.0.0.1/", "private"},
	{"http://127.1/", "private"},
	{"http://127.0.1/", "private"},
	{"http://2130706433/", "private"},
	{"http://0x7f000001/", "private"},
	{"http://0x7f.0.0.1/", "private"},
	{"http://0X7F.1/", "private"},
	{"http://017700000001/", "private"},
	{"http://0177.0.0.01/", "private"},
	{"http://127.0.0.1./", "private"},
	{"http://127.255.255.254/", "private"},
	{"http://①②⑦.⓪.⓪.①/", "private"},
	{"http://１２７。０。０。１/", "private"},
	{"http://0/", "private"},
	{"http://0.0.0.0/", "private"},
	{"http://0.1.2.3/", "private"},
	{"http://10.0.0.1/", "private"},
	{"http://10.255.255.255/", "private"},
	{"http://172.16.0.1/", "private"},
	{"http://172.31.255.255/", "private"},
	{"http://192.168.1.1/", "private"},
	{"http://0xc0a80101/", "private"},
	{"http://100.64.0.1/", "private"},
	{"http://100.127.255.255/", "private"},
	{"http://192.0.2.1/", "private"},
	{"http://198.18.0.1/", "private"},
	{"http://198.51.100.7/", "private"},
	{"http://203.0.113.9/", "private"},
	{"http://240.0.0.1/", "private"},
	{"http://[::1]/", "private"},
	{"http://[0:0:0:0:0:0:0:1]/", "private"},
	{"http://[::]/", "private"},
	{"http://[::ffff:127.0.0.1]/", "private"},
	{"http://[::ffff:7f00:1]/", "private"},
	{"http://[::ffff:10.0.0.1]/", "private"},
	{"http://[::127.0.0.1]/", "private"},
	{"http://[64:ff9b::7f00:1]/", "private"},
	{"http://[64:ff9b:1::a00:1]/", "private"},
	{"http://[64:ff9b:1::808:808]/", "private"},
	{"http://[2002:7f00:1::]/", "private"},
	{"http://[2002:c0a8:101::1]/", "private"},
	{"http://[2001:0:808:808::f5ff:fffe]/", "private"}, // Teredo, client 10.0.0.1
	{"http://[2001:0:a00:1::f7f7:f7f7]/", "private"},   // Teredo, server 10.0.0.1
	{"http://[2606:4700::5efe:a00:1]/", "private"},     // ISATAP
	{"http://[fc00::1]/", "private"},
	{"http://[fd12:3456::1]/", "private"},
	{"http://[fec0::1]/", "private"},
	{"http://[2001:db8::1]/", "private"},
	{"http://[3fff::1]/", "private"},
	{"http://[4000::1]/", "private"},
	{"http://localhost/", "private"},
	{"http://LOCALHOST:8080/", "private"},
	{"http://ｌｏｃａｌｈｏｓｔ/", "private"},
	{"http://a.localhost/", "private"},
	{"http://printer.local/", "private"},
	{"http://db.internal/", "private"},
	{"http://intranet/", "private"},
	{"http://localhost./", "private"},

	{"http://169.254.169.254/latest/meta-data/", "never"},
	{"http://2852039166/", "never"},
	{"http://0xA9FEA9FE/", "never"},
	{"http://0251.0376.0251.0376/", "never"},
	{"http://169.254.43518/", "never"},
	{"http://[::ffff:169.254.169.254]/", "never"},
	{"http://[64:ff9b::a9fe:a9fe]/", "never"},
	{"http://[2002:a9fe:a9fe::]/", "never"},
	{"http://169.254.1.1/", "never"},
	{"http://169.254.170.2/v2/credentials", "never"},
	{"http://100.100.100.200/", "never"},
	{"http://168.63.129.16/", "never"},
	{"http://[fd00:ec2::254]/", "never"},
	{"http://[fe80::1]/", "never"},
	{"http://[fe80::1%25eth0]/", "never"},
	{"http://224.0.0.1/", "never"},
	{"http://255.255.255.255/", "never"},
	{"http://[ff02::1]/", "never"},
	{"http://metadata.google.internal/computeMetadata/v1/", "never"},
	{"http://METADATA.GOOGLE.INTERNAL./", "never"},
	{"http://metadata/", "never"},
	{"http://metadata.goog/", "never"},
	{"http://instance-data/latest", "never"},
	{"file:///etc/passwd", "never"},
	{"ftp://example.com/", "never"},
	{"gopher://example.com:70/_x", "never"},
	{"javascript:alert(1)", "never"},
	{"data:text/html,x", "never"},
	{"unix:///var/run/docker.sock", "never"},
	{"example.com", "never"},
	{"//example.com/", "never"},
	{"", "never"},
	{"http://", "never"},
	{"http:///path", "never"},
	{"http:example.com", "never"},
	{"https://user:pass@example.com/", "never"},
	{"https://example.com@127.0.0.1/", "never"},
	{`https://example.com\@127.0.0.1/`, "never"},
	{"https://exa mple.com/", "never"},
	{"https://example.com\t/", "never"},
	{"https://exam\u200bple.com/", "never"},
	{"https://example.com/\r\nX: y", "never"},
	{"http://1.2.3.4.5/", "never"},
	{"http://256.1.1.1/", "never"},
	{"http://1.2.3.08/", "never"},
	{"http://0x100000000/", "never"},
	{"http://example..com/", "never"},
	{"http://exa%6dple.com%00/", "never"},
	{"http://[::1/", "never"},
	{"http://[1.2.3.4]/", "never"},
	{"http://example.com:22/", "never"},
	{"http://example.com:6379/", "never"},
	{"http://example.com:0/", "never"},
	{"http://example.com:99999/", "never"},
	{"https://" + strings.Repeat("a", 64) + ".com/", "never"},
	{"https://example.com/" + strings.Repeat("a", maxURL), "never"},
}

func TestEveryURLHasItsVerdict(t *testing.T) {
	t.Parallel()
	closed, open := New(Options{}), New(Options{AllowPrivate: true})
	for _, v := range verdicts {
		_, strict := closed.CheckURL(v.url)
		_, loose := open.CheckURL(v.url)
		got := map[[2]bool]string{{true, true}: "ok", {false, true}: "private", {false, false}: "never"}[[2]bool{strict == nil, loose == nil}]
		if got != v.want {
			t.Errorf("%q is %q, want %q (%v / %v)", clipURL(v.url), got, v.want, strict, loose)
		}
		var r *Refusal
		if strict != nil && (!errors.As(strict, &r) || r.Why == "") {
			t.Errorf("%q is refused without a reason: %v", v.url, strict)
		}
	}
}

func TestOneFormOfAURL(t *testing.T) {
	t.Parallel()
	g := New(Options{AllowPrivate: true})
	for in, want := range map[string]string{
		"HTTP://EXAMPLE.com:80/A#frag": "http://example.com:80/A",
		"http://0x7f.1:8080/":          "http://127.0.0.1:8080/",
		"https://bücher.example":       "https://xn--bcher-kva.example",
		"http://[0::1]:9000/":          "http://[::1]:9000/",
		"https://example.com/\n":       "https://example.com/",
	} {
		u, err := g.CheckURL(in)
		if err != nil || u.String() != want {
			t.Errorf("%s: %v, %v; want %s", in, u, err, want)
		}
	}
}

// A refusal must not repeat what may be a secret.
func TestRefusalsHideQueriesAndPasswords(t *testing.T) {
	t.Parallel()
	g := New(Options{})
	for _, raw := range []string{"https://user:hunter22@example.com/", "http://127.0.0.1/?token=hunter22"} {
		if _, err := g.CheckURL(raw); err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// names resolves from a table, through public-looking addresses to local servers.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	list, ok := n[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var out []netip.Addr
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

// to connects every checked address to one local server.
func to(s *httptest.Server) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
}

func get(t *testing.T, g *Guard, raw string) (*http.Response, error) {
	t.Helper()
	c := g.Client()
	t.Cleanup(c.CloseIdleConnections)
	r, err := c.Get(raw)
	if err == nil {
		r.Body.Close()
	}
	return r, err
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) || !strings.Contains(r.Error(), want) {
		t.Errorf("got %v, want a refusal with %q", err, want)
	}
}

func TestEveryHopIsChecked(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			t.Errorf("%s was told where we came from: %s", r.URL, r.Header.Get("Referer"))
		}
		if target := r.URL.Query().Get("to"); target != "" {
			http.Redirect(w, r, target, http.StatusFound)
		}
	}))
	defer s.Close()
	b, _ := NewBlocklist([]string{"evil.test"}, nil)
	g := New(Options{Resolver: names{
		"public.test": {"93.184.216.34"}, "inside.test": {"10.0.0.8"}, "mixed.test": {"127.0.0.1", "93.184.216.34"},
		"cloud.test": {"169.254.169.254"}, "evil.test": {"93.184.216.35"},
	}, Dial: to(s), Blocklist: b})
	start := func(target string) string { return "http://public.test/?to=" + url.QueryEscape(target) }
	for target, want := range map[string]string{
		start("http://127.0.0.1/"):                   "this machine itself",
		start("http://0x7f.1/"):                      "this machine itself",
		start("http://inside.test/"):                 "it leads to 10.0.0.8, a private address",
		start("http://cloud.test/latest"):            "credentials",
		start("http://169.254.169.254/latest"):       "nothing opens it",
		start(start("http://[::1]/")):                "this machine itself",
		start("file:///etc/passwd"):                  "only http and https",
		start("https://u:p@public.test/"):            "user name or password",
		start("http://www.evil.test/"):               "blocklist",
		start("http://public.test:25/"):              "not one of the web",
		"http://inside.test/":                        "web.allow_private_urls",
		"http://evil.test/":                          "evil.test in config.yaml",
		start("http://public.test/?to=//localhost/"): "of this machine",
	} {
		_, err := get(t, g, target)
		refused(t, err, want)
	}
	for _, fine := range []string{"http://public.test/", start("http://public.test/x"), start("/relative"), "http://mixed.test/"} {
		if _, err := get(t, g, fine); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}

func TestEndlessRedirectsEnd(t *testing.T) {
	t.Parallel()
	var hops atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("/%d", hops.Add(1)), http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	_, err := get(t, New(Options{Resolver: names{"public.test": {"93.184.216.34"}}, Dial: to(s)}), "http://public.test/")
	refused(t, err, "more than 10 times")
	if n := hops.Load(); n != maxRedirects {
		t.Errorf("%d requests, want %d", n, maxRedirects)
	}
}

// The metadata service stays closed when private addresses are open.
func TestPrivateOpensNoMetadata(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	g := New(Options{AllowPrivate: true, Resolver: names{"cloud.test": {"169.254.169.254"}, "azure.test": {"168.63.129.16"}}})
	if _, err := get(t, g, s.URL); err != nil {
		t.Errorf("a local server with private addresses allowed: %v", err)
	}
	for _, u := range []string{"http://cloud.test/", "http://azure.test/", "http://169.254.169.254/"} {
		_, err := get(t, g, u)
		refused(t, err, "nothing opens it")
	}
}

func TestFakeAddressesOfTunnels(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	o := Options{Resolver: names{"site.test": {"198.18.0.5"}}, Dial: to(s)}
	_, err := get(t, New(o), "http://site.test/")
	refused(t, err, "security.allow_tun_fakeip")
	o.AllowFakeIP = true
	if _, err := get(t, New(o), "http://site.test/"); err != nil {
		t.Error(err)
	}
	_, err = get(t, New(o), "http://198.18.0.5/")
	refused(t, err, "reserved")
}

// rebinder is a real DNS server whose answer changes with every question: public first, this
// machine next.
func rebinder(t *testing.T) (*net.Resolver, *atomic.Int32) {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			if out := answer(buf[:n], &asked); out != nil {
				_, _ = pc.WriteTo(out, from)
			}
		}
	}()
	t.Cleanup(func() { pc.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}, &asked
}

func answer(q []byte, asked *atomic.Int32) []byte {
	var m dnsmessage.Message
	if m.Unpack(q) != nil || len(m.Questions) != 1 {
		return nil
	}
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}
	m.Additionals = nil
	if m.Questions[0].Type == dnsmessage.TypeA {
		ip := [4]byte{93, 184, 216, 34}
		if asked.Add(1) > 1 {
			ip = [4]byte{127, 0, 0, 1}
		}
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.AResource{A: ip},
		}}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

func TestRebindingGainsNothing(t *testing.T) {
	t.Parallel()
	resolver, asked := rebinder(t)
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	var dialed []string
	g := New(Options{Resolver: resolver, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dialed = append(dialed, addr)
		return to(s)(ctx, network, addr)
	}})
	if _, err := get(t, g, "http://rebind.test/"); err != nil {
		t.Fatal(err)
	}
	if len(dialed) != 1 || dialed[0] != "93.184.216.34:80" || asked.Load() != 1 {
		t.Errorf("dialed %v after %d questions: what was checked must be what is dialed, from one answer", dialed, asked.Load())
	}
	_, err := get(t, g, "http://rebind.test/") // the second answer is this machine
	refused(t, err, "this machine itself")
	if len(dialed) != 1 {
		t.Errorf("dialed %v", dialed)
	}
}

// The socket itself is looked at before it connects: a bug above must not be enough.
func TestTheSocketIsCheckedToo(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, err := New(Options{}).dialAddress(context.Background(), "tcp", "public.test", netip.MustParseAddrPort(s.Listener.Addr().String()))
	refused(t, err, "this machine itself")
}

func TestProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	p := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.Store(r.URL.String()) }))
	defer p.Close()
	o := Options{Proxy: &httpproxy.Config{HTTPProxy: p.URL}, Resolver: names{"public.test": {"93.184.216.34"}, "inside.test": {"10.0.0.8"}}}
	if _, err := get(t, New(o), "http://public.test/x"); err != nil || asked.Load() != "http://public.test/x" {
		t.Errorf("the proxy was asked for %v: %v", asked.Load(), err)
	}
	_, err := get(t, New(o), "http://inside.test/")
	refused(t, err, "a private address")
	_, err = get(t, New(o), "http://169.254.169.254/")
	refused(t, err, "nothing opens it")
	_, err = get(t, New(o), "http://elsewhere.test/")
	refused(t, err, "web.trust_proxy")
	o.TrustProxy = true
	if _, err := get(t, New(o), "http://elsewhere.test/"); err != nil {
		t.Error(err)
	}
}

func TestBlocklist(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(file, []byte("\ufeff# comment\n\nhttps://www.Tracker.test:8443/path\nads.test # why\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, errs := NewBlocklist([]string{"evil.test", "*.wild.test", "bücher.test", "shop*.test", "10.0.0.1", "user@x", "  "}, []string{file, file + ".missing"})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "missing") {
		t.Errorf("errors %v", errs)
	}
	for host, want := range map[string]string{
		"evil.test": "evil.test in config.yaml", "a.b.evil.test": "evil.test in config.yaml", "EVIL.test.": "evil.test in config.yaml",
		"notevil.test": "", "wild.test": "", "a.wild.test": "*.wild.test in config.yaml", "xn--bcher-kva.test": "xn--bcher-kva.test in config.yaml",
		"shop24.test": "shop*.test in config.yaml", "tracker.test": "tracker.test in " + file, "www.tracker.test": "tracker.test in " + file,
		"ads.test": "ads.test in " + file, "10.0.0.1": "10.0.0.1 in config.yaml", "example.com": "",
	} {
		if got := b.Match(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, v := range verdicts {
		if len(v.url) < 200 {
			f.Add(v.url)
		}
	}
	g := New(Options{})
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := g.CheckURL(raw)
		if err != nil {
			return
		}
		if u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			t.Fatalf("%q passed as %q", raw, u)
		}
		if again, err := g.CheckURL(u.String()); err != nil || again.String() != u.String() {
			t.Fatalf("%q became %q, which becomes %v (%v)", raw, u, again, err)
		}
		if ip, ok, err := parseIP(u.Hostname()); err != nil || ok && Classify(ip) != Public {
			t.Fatalf("%q passed with the address %v (%v)", raw, ip, err)
		}
	})
}
