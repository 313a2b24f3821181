package mcp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/mcp/authtest"
	"hermes/core/testwait"
)

func overHTTP(name, address string) Settings {
	s := Settings{Name: name}
	s.URL = address
	return s
}

// Servers are reached over streamable HTTP, and over SSE where they know no other.
func TestServersOverHTTP(t *testing.T) {
	t.Parallel()
	get := func(*http.Request) *sdk.Server { return honest().Server }
	for kind, handler := range map[string]http.Handler{
		"streamable": sdk.NewStreamableHTTPHandler(get, nil), "sse": sdk.NewSSEHandler(get, nil),
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var key atomic.Value
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				key.Store(r.Header.Get("X-Key"))
				if kind == "sse" && r.Method == http.MethodPost && r.URL.RawQuery == "" {
					http.Error(w, "no", http.StatusMethodNotAllowed)
					return
				}
				handler.ServeHTTP(w, r)
			}))
			defer web.Close()
			p := newPlace(t)
			set := overHTTP("web", web.URL)
			set.Headers = map[string]string{"X-Key": "k"}
			p.Apply(entries(set))
			mustReady(t, p, "web")
			if text, failed := p.call("mcp__web__echo", `{"a":1}`); failed || text != `{"a":1}` || key.Load() != "k" {
				t.Errorf("%q %v, header %v", text, failed, key.Load())
			}
			p.end() // before the server, which waits for its streams
		})
	}
}

// A first connect to an address where nobody listens says so in plain words, over both ways.
func TestAnAddressWhereNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, transport := range []string{"", "http", "sse"} {
		p := newPlace(t)
		set := overHTTP("web", address)
		set.Transport = transport
		p.Apply(entries(set))
		p.Want("web") // and not its state after that: it may be tried again already
		c := p.until("it is tried again", func(c StateChanged) bool { return c.State == StateRetrying })
		if !strings.HasPrefix(c.Error, "it could not be reached: ") || !strings.Contains(c.Error, "connection refused") {
			t.Errorf("%q: %q", transport, c.Error)
		}
		p.end()
	}
}

// A server that goes away is not called ready any more, the call says why, and it is connected to
// again when it is back.
func TestAServerThatGoesAway(t *testing.T) {
	t.Parallel()
	server := honest().Server
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	web := httptest.NewServer(handler)
	address := web.Listener.Addr().String()
	p := newPlace(t)
	p.Apply(entries(overHTTP("web", "http://"+address)))
	mustReady(t, p, "web")
	web.CloseClientConnections()
	web.Close()
	for s := range server.Sessions() {
		_ = s.Close()
	}
	if text, failed := p.call("mcp__web__echo", `{}`); !failed || !strings.Contains(text, "it could not be reached: Post") {
		t.Errorf("%q", text)
	}
	p.until("it is tried again", func(c StateChanged) bool { return c.State == StateRetrying })
	back, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	web = &httptest.Server{Listener: back, Config: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}}
	web.Start()
	defer web.Close()
	p.until("it is ready again", func(c StateChanged) bool { return c.State == StateReady })
	if text, failed := p.call("mcp__web__echo", `{}`); failed {
		t.Error(text)
	}
	p.end()
}

// A token that the server refuses before its time, or that never said when it ends, is renewed.
// When the server does not renew it, a person is asked to log in again, and nothing is lost.
func TestALoginThatTheServerForgot(t *testing.T) {
	t.Parallel()
	for _, endless := range []bool{false, true} {
		t.Run(fmt.Sprintf("endless %v", endless), func(t *testing.T) {
			t.Parallel()
			a := authtest.New(t, honest().Server)
			a.Endless = endless
			p := newPlace(t)
			p.Apply(entries(overHTTP("web", a.MCP())))
			p.Want()
			p.until("a login is wanted", func(c StateChanged) bool { return c.State == StateLogin })
			login(t, p, false)
			a.Forget(false)
			if text, failed := p.call("mcp__web__echo", `{}`); failed {
				t.Errorf("it was not renewed: %s", text)
			}
			a.Forget(true)
			if text, failed := p.call("mcp__web__echo", `{}`); !failed || !strings.Contains(text, "hermes mcp login web") {
				t.Errorf("%q", text)
			}
			p.until("another login is wanted", func(c StateChanged) bool { return c.State == StateLogin })
			if k, err := tokensOf(p.home, "web").readLogin(); err != nil || k.Token.RefreshToken == "" {
				t.Errorf("%+v %v", k, err)
			}
			login(t, p, false)
			if text, failed := p.call("mcp__web__echo", `{}`); failed {
				t.Error(text)
			}
			p.end()
		})
	}
}

// login logs in as a person does: by the address that they are shown, in a browser, or by pasting
// where it led.
func login(t *testing.T, p *place, paste bool) {
	t.Helper()
	pasted := make(chan string, 1)
	show := func(address string) {
		client := &http.Client{}
		if paste {
			client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		}
		res, err := client.Get(address)
		if err != nil {
			t.Error(err)
			return
		}
		res.Body.Close()
		client.CloseIdleConnections()
		if paste {
			pasted <- "nonsense"
			pasted <- res.Header.Get("Location")
		}
	}
	talk := LoginTalk{Show: show, Paste: pasted}
	if paste {
		talk.Show = func(address string) { go show(address) }
	}
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
	defer cancel()
	if err := p.Login(ctx, "web", talk); err != nil {
		t.Fatal(err)
	}
	p.until("it is ready after the login", func(c StateChanged) bool { return c.State == StateReady })
}

// A server that wants a login says so; after it its tools can be called. The login is kept for its
// owner only, and two programs renew it one after the other, though a refresh token counts once.
func TestLogin(t *testing.T) {
	t.Parallel()
	for _, paste := range []bool{false, true} {
		t.Run(fmt.Sprintf("paste %v", paste), func(t *testing.T) {
			t.Parallel()
			a := authtest.New(t, honest().Server)
			p := newPlace(t)
			p.Apply(entries(overHTTP("web", a.MCP())))
			p.Want()
			p.until("a login is wanted", func(c StateChanged) bool { return c.State == StateLogin })
			login(t, p, paste)
			if text, failed := p.call("mcp__web__echo", `{}`); failed {
				t.Error(text)
			}
			file := tokensOf(p.home, "web")
			info, err := os.Stat(file.path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Fatalf("%v %v", info, err)
			}
			renewedOnce(t, a, file)
			p.end()
		})
	}
}

// A server that lets strangers say hello and asks for the login afterwards says so too. A call that
// the login has no right for asks for another login, which asks for that right.
func TestLoginForMoreRights(t *testing.T) {
	t.Parallel()
	a := authtest.New(t, honest().Server)
	a.Lax = true
	p := newPlace(t)
	p.Apply(entries(overHTTP("web", a.MCP())))
	p.Want()
	wanted := func(c StateChanged) bool { return c.State == StateLogin }
	p.until("a login is wanted", wanted)
	login(t, p, false)
	if text, failed := p.call("mcp__web__echo", `{}`); !failed || !strings.Contains(text, "it wants a login: `hermes mcp login web`") {
		t.Error(text)
	}
	p.until("another login is wanted", wanted)
	login(t, p, false)
	text, failed := p.call("mcp__web__echo", `{}`)
	p.end()
	asked := strings.Fields(a.Asked()) // the library's order is by chance
	if slices.Sort(asked); failed || !slices.Equal(asked, []string{"read", "write"}) {
		t.Error(text, a.Asked())
	}
}

func renewedOnce(t *testing.T, a *authtest.Authority, file tokenFile) {
	t.Helper()
	k, err := file.readLogin()
	if err != nil {
		t.Fatal(err)
	}
	k.Token.Expiry = time.Now().Add(-time.Hour)
	if err := file.writeLogin(k); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var wait sync.WaitGroup
	for range 8 { // eight programs
		wait.Go(func() {
			got, err := (&source{file: file, url: a.URL + "/mcp", client: client, note: func(string) {}}).freshToken(t.Context(), "")
			if err != nil || !got.Valid() {
				t.Errorf("%v %v", got, err)
			}
		})
	}
	wait.Wait()
	if a.Renewals() != 1 {
		t.Errorf("%d renewals", a.Renewals())
	}
	a.Forget(true)
	if k, err = file.readLogin(); err != nil {
		t.Fatal(err)
	}
	k.Token.Expiry = time.Now().Add(-time.Hour)
	if err := file.writeLogin(k); err != nil {
		t.Fatal(err)
	}
	_, err = (&source{file: file, url: a.URL + "/mcp", client: client, note: func(string) {}}).freshToken(t.Context(), "")
	after, rerr := file.readLogin()
	if err == nil || !strings.Contains(err.Error(), "could not be renewed") || rerr != nil || after.Token.RefreshToken != k.Token.RefreshToken {
		t.Errorf("%v; kept %+v %v", err, after, rerr)
	}
}
