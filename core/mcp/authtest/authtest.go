// Package authtest is for tests only: a server of tools that wants a login, and the OAuth server of
// that login, which checks what real ones check.
package authtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Authority is a server of tools with a login: it registers clients, gives codes, and takes each
// refresh token once. The login's server is found from a refusal (RFC 9728, RFC 8414).
type Authority struct {
	*httptest.Server
	mu       sync.Mutex
	serial   int
	access   map[string]bool
	refresh  map[string]bool
	renewals int
	codes    map[string]url.Values // what the login was asked for with that gave a code
	asked    string                // rights that the last login asked for

	Endless bool // tokens do not say when they end; set before the first login
	Lax     bool // strangers may say hello, and calls want the right "write"; set before the first request
}

// New serves the tools of a server at /mcp of the Authority's URL until the test ends.
func New(t testing.TB, server *sdk.Server) *Authority {
	t.Helper()
	a := &Authority{access: map[string]bool{}, refresh: map[string]bool{}, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
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
	answer("/token", a.answerToken)
	return a
}

// door leads to one handler or the other.
func (a *Authority) door(closed, open http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct{ Method string }
		_ = json.Unmarshal(body, &m)
		a.mu.Lock()
		may := strings.Contains(a.asked, "write")
		a.mu.Unlock()
		switch {
		case a.Lax && (m.Method == "initialize" || strings.HasPrefix(m.Method, "notifications/")):
			open.ServeHTTP(w, r)
		case a.Lax && m.Method == "tools/call" && !may:
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="read write"`)
			w.WriteHeader(http.StatusForbidden)
		default:
			closed.ServeHTTP(w, r)
		}
	})
}

func (a *Authority) answerToken(r *http.Request) any {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.FormValue("grant_type") == "refresh_token" {
		old := r.FormValue("refresh_token")
		if !a.refresh[old] || r.FormValue("resource") != a.URL+"/mcp" {
			return nil
		}
		delete(a.refresh, old)
		a.renewals++
	} else if !a.isSameClient(r) {
		return nil
	}
	a.serial++
	access, refresh := fmt.Sprintf("access-%d-0123456789", a.serial), fmt.Sprintf("refresh-%d-0123456789", a.serial)
	a.access[access], a.refresh[refresh] = true, true
	out := map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer"}
	if !a.Endless {
		out["expires_in"] = 3600
	}
	return out
}

// isSameClient reports whether who brings a code is who asked for it: the address that it came
// back to, the proof key (RFC 7636), the server that it is for (RFC 8707). A code counts once.
func (a *Authority) isSameClient(r *http.Request) bool {
	q, known := a.codes[r.FormValue("code")]
	delete(a.codes, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	back, err := url.Parse(q.Get("redirect_uri"))
	return known && err == nil && back.Hostname() == "127.0.0.1" && q.Get("code_challenge_method") == "S256" &&
		q.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:]) && r.FormValue("redirect_uri") == q.Get("redirect_uri") &&
		q.Get("client_id") == "client" && q.Get("resource") == a.URL+"/mcp" && r.FormValue("resource") == q.Get("resource")
}

// MCP is the address of the tools.
func (a *Authority) MCP() string { return a.URL + "/mcp" }

// Renewals counts how often a login was renewed.
func (a *Authority) Renewals() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.renewals
}

// Asked are the rights that the last login asked for.
func (a *Authority) Asked() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

// Forget has the server of the login know no access token any more, and no refresh token if all.
func (a *Authority) Forget(all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.access)
	if all {
		clear(a.refresh)
	}
}
