package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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

// authority is a server of tools with a login: it registers clients, gives codes, and takes each
// refresh token once.
type authority struct {
	*httptest.Server
	mu       sync.Mutex
	serial   int
	access   map[string]bool
	refresh  map[string]bool
	renewals int
	codes    map[string]url.Values // what the login was asked for with that gave a code
	endless  bool                  // tokens do not say when they end
	lax      bool                  // strangers may say hello, and calls want the right "write"
	asked    string                // rights that the last login asked for
}

func newAuthority(t *testing.T) *authority {
	a := &authority{access: map[string]bool{}, refresh: map[string]bool{}, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	server := honest().Server
	t.Cleanup(func() { // what the library's client leaves there when it was not let in to say goodbye
		for s := range server.Sessions() {
			_ = s.Close()
		}
	})
	tools := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !a.access[token] {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Expiration: time.Now().Add(time.Hour)}, nil
	}
	closed := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: a.URL + "/.well-known/oauth-protected-resource"})(tools)
	mux.Handle("/mcp", a.door(closed, tools))
	answer := func(path string, f func(r *http.Request) any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			v := f(r)
			if v == nil {
				w.WriteHeader(http.StatusBadRequest)
				v = map[string]string{"error": "invalid_grant"}
			}
			_ = json.NewEncoder(w).Encode(v)
		})
	}
	answer("/.well-known/oauth-protected-resource", func(*http.Request) any {
		return map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}}
	})
	answer("/.well-known/oauth-authorization-server", func(*http.Request) any {
		return map[string]any{
			"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token", "registration_endpoint": a.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
		}
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var given map[string]any
		_ = json.NewDecoder(r.Body).Decode(&given)
		given["client_id"] = "client"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(given)
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		a.mu.Lock()
		a.asked = q.Get("scope")
		a.serial++
		code := fmt.Sprintf("code-%d", a.serial)
		a.codes[code] = q
		a.mu.Unlock()
		back := q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
		http.Redirect(w, r, back, http.StatusFound)
	})
	answer("/token", a.token)
	return a
}

// door leads to one handler or the other.
func (a *authority) door(closed, open http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct{ Method string }
		_ = json.Unmarshal(body, &m)
		a.mu.Lock()
		may := strings.Contains(a.asked, "write")
		a.mu.Unlock()
		switch {
		case a.lax && (m.Method == "initialize" || strings.HasPrefix(m.Method, "notifications/")):
			open.ServeHTTP(w, r)
		case a.lax && m.Method == "tools/call" && !may:
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="read write"`)
			w.WriteHeader(http.StatusForbidden)
		default:
			closed.ServeHTTP(w, r)
		}
	})
}

func (a *authority) token(r *http.Request) any {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.FormValue("grant_type") == "refresh_token" {
		old := r.FormValue("refresh_token")
		if !a.refresh[old] {
			return nil
		}
		delete(a.refresh, old)
		a.renewals++
	} else if !a.proves(r) {
		return nil
	}
	a.serial++
	access, refresh := fmt.Sprintf("access-%d-0123456789", a.serial), fmt.Sprintf("refresh-%d-0123456789", a.serial)
	a.access[access], a.refresh[refresh] = true, true
	out := map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer"}
	if !a.endless {
		out["expires_in"] = 3600
	}
	return out
}

// proves reports whether who brings a code is who asked for it: the address that it came back to,
// the proof key (RFC 7636), the server that it is for (RFC 8707). A code counts once.
func (a *authority) proves(r *http.Request) bool {
	q, known := a.codes[r.FormValue("code")]
	delete(a.codes, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	back, err := url.Parse(q.Get("redirect_uri"))
	return known && err == nil && back.Hostname() == "127.0.0.1" && q.Get("code_challenge_method") == "S256" &&
		q.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:]) && r.FormValue("redirect_uri") == q.Get("redirect_uri") &&
		q.Get("client_id") == "client" && q.Get("resource") == a.URL+"/mcp" && r.FormValue("resource") == q.Get("resource")
}

// forget has the server of the login know no access token any more, and no refresh token if all.
func (a *authority) forget(all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.access)
	if all {
		clear(a.refresh)
	}
}

// A token that the server refuses before its time, or that never said when it ends, is renewed.
// When the server does not renew it, a person is asked to log in again, and nothing is lost.
func TestALoginThatTheServerForgot(t *testing.T) {
	t.Parallel()
	for _, endless := range []bool{false, true} {
		t.Run(fmt.Sprintf("endless %v", endless), func(t *testing.T) {
			t.Parallel()
			a := newAuthority(t)
			a.endless = endless
			p := newPlace(t)
			p.Apply(entries(overHTTP("web", a.URL+"/mcp")))
			p.Want()
			p.until("a login is wanted", func(c StateChanged) bool { return c.State == StateLogin })
			login(t, p, false)
			a.forget(false)
			if text, failed := p.call("mcp__web__echo", `{}`); failed {
				t.Errorf("it was not renewed: %s", text)
			}
			a.forget(true)
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
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
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
			a := newAuthority(t)
			p := newPlace(t)
			p.Apply(entries(overHTTP("web", a.URL+"/mcp")))
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
	a := newAuthority(t)
	a.lax = true
	p := newPlace(t)
	p.Apply(entries(overHTTP("web", a.URL+"/mcp")))
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
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := strings.Fields(a.asked) // the library's order is by chance
	if slices.Sort(asked); failed || !slices.Equal(asked, []string{"read", "write"}) {
		t.Error(text, a.asked)
	}
}

func renewedOnce(t *testing.T, a *authority, file tokenFile) {
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
		wait.Add(1)
		go func() {
			defer wait.Done()
			got, err := (&source{file: file, url: a.URL + "/mcp", client: client, note: func(string) {}}).freshToken(t.Context(), "")
			if err != nil || !got.Valid() {
				t.Errorf("%v %v", got, err)
			}
		}()
	}
	wait.Wait()
	if a.renewals != 1 {
		t.Errorf("%d renewals", a.renewals)
	}
	a.mu.Lock()
	clear(a.refresh) // the server has forgotten it
	a.mu.Unlock()
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
