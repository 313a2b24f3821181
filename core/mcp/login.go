package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"hermes/core/atomicfile"
	"hermes/core/clip"
	"hermes/core/crash"
	"hermes/core/secret"
)

// tokenFile is what is kept of a login: readable by its owner only, changed under a lock, since two
// programs may hold the same refresh token, which many servers take once.
type tokenFile struct{ path string }

func tokensOf(home, server string) tokenFile {
	form, exact := legalName(server)
	if !exact {
		form += "_" + shortHash(server)
	}
	return tokenFile{filepath.Join(home, "mcp-tokens", form+".json")}
}

// kept is one login.
type kept struct {
	URL          string        `json:"url"` // of the server: a token is for one
	ClientID     string        `json:"client_id"`
	ClientSecret string        `json:"client_secret,omitempty"`
	TokenURL     string        `json:"token_url"`
	AuthStyle    int           `json:"auth_style,omitempty"`
	Token        *oauth2.Token `json:"token"`
	Lacked       []string      `json:"lacked,omitempty"` // rights that it was refused for
	// Resource is what the login asked a token for (RFC 8707); "" in old files: the URL.
	Resource string `json:"resource,omitempty"`
}

// isFor reports whether there is a login, and it is one to the address.
func (k *kept) isFor(address string) bool { return k != nil && k.URL == address }

func (f tokenFile) readLogin() (*kept, error) {
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the login cannot be read: %w", err)
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil || k.Token == nil {
		return nil, fmt.Errorf("%s is no login: delete it and log in again", f.path)
	}
	secret.Add(k.Token.AccessToken, k.Token.RefreshToken, k.ClientSecret)
	return &k, nil
}

func (f tokenFile) writeLogin(k *kept) error {
	secret.Add(k.Token.AccessToken, k.Token.RefreshToken, k.ClientSecret)
	return atomicfile.WriteJSON(f.path, k)
}

// lockFile holds the file against other programs.
func (f tokenFile) lockFile() (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, err
	}
	return atomicfile.Lock(f.path + ".lock")
}

// source gives the token of a login, a new one when the old is over. Another program's newer one is
// taken. A refresh that fails loses nothing: the file stays.
type source struct {
	file   tokenFile
	url    string
	client *http.Client
	note   func(string) // the server's log
	mu     sync.Mutex
}

// errNoLogin says that nobody logged in to the server.
var errNoLogin = errors.New("nobody is logged in")

// freshToken returns the token of the login. Stale is one that the server of tools refused before
// its time, or whose end nobody was told; "" is none.
func (s *source) freshToken(ctx context.Context, stale string) (*oauth2.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.file.readLogin()
	switch {
	case err != nil:
		return nil, err
	case !k.isFor(s.url):
		return nil, errNoLogin
	case k.Token.Valid() && k.Token.AccessToken != stale:
		return k.Token, nil
	}
	unlock, err := s.file.lockFile()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if k, err = s.file.readLogin(); err != nil || !k.isFor(s.url) {
		return nil, errors.Join(errNoLogin, err)
	}
	if k.Token.Valid() && k.Token.AccessToken != stale { // another program was faster
		return k.Token, nil
	}
	if k.Token.RefreshToken == "" {
		return nil, errNoLogin
	}
	old := *k.Token
	old.Expiry = time.Unix(1, 0) // it is over, whatever it says
	cfg := &oauth2.Config{ClientID: k.ClientID, ClientSecret: k.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: k.TokenURL, AuthStyle: oauth2.AuthStyle(k.AuthStyle)}}
	named := *s.client // what it is told to ask elsewhere gets neither the token nor an empty request
	named.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	named.Transport = resourceNamer{cmp.Or(s.client.Transport, http.DefaultTransport), cmp.Or(k.Resource, k.URL)}
	fresh, err := cfg.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, &named), &old).Token()
	var no *oauth2.RetrieveError
	switch {
	case errors.As(err, &no) && no.Response.StatusCode/100 == 4 && no.Response.StatusCode != http.StatusTooManyRequests:
		err = fmt.Errorf("the login could not be renewed, %w any more: %s %s", errNoLogin, plainText(no.ErrorCode), clip.Runes(plainText(no.ErrorDescription), 200, "…"))
		s.note(err.Error())
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("the login could not be renewed: %w", err)
	}
	k.Token = fresh
	return fresh, s.file.writeLogin(k)
}

// resourceNamer says in requests for a token what it is for (RFC 8707), as the protocol demands:
// the library says so for the first one only.
type resourceNamer struct {
	next     http.RoundTripper
	resource string
}

// RoundTrip implements http.RoundTripper.
func (n resourceNamer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	form.Set("resource", n.resource)
	said := form.Encode()
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(said)), int64(len(said))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(said)), nil }
	return n.next.RoundTrip(r)
}

// bearer sends the token of a login with every request to the server's host, if there is one.
type bearer struct {
	next http.RoundTripper
	host string
	of   *source
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != b.host || r.Header.Get("Authorization") != "" {
		return b.next.RoundTrip(r)
	}
	t, err := b.of.freshToken(r.Context(), "")
	switch {
	case errors.Is(err, errNoLogin):
		return b.next.RoundTrip(r)
	case err != nil:
		return nil, err
	}
	res, err := b.next.RoundTrip(withToken(r, t))
	if err != nil || res.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil {
		return res, err
	}
	fresh, err := b.of.freshToken(r.Context(), t.AccessToken)
	if errors.Is(err, errNoLogin) {
		return res, nil
	}
	_ = res.Body.Close() // what it says is over with what comes now
	if err != nil {
		return nil, err
	}
	again := withToken(r, fresh)
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return b.next.RoundTrip(again)
}

// withToken is the request with a token.
func withToken(r *http.Request, t *oauth2.Token) *http.Request {
	r = r.Clone(r.Context())
	t.SetAuthHeader(r)
	return r
}

// CloseIdleConnections lets go of what the client does not use.
func (b bearer) CloseIdleConnections() {
	closeIdle(b.next)
}

// LoginTalk is how a login speaks with the person. Show gets the address for a browser;
// Paste brings the address that the browser was led back to, where it could not reach this machine.
type LoginTalk struct {
	Show  func(address string)
	Paste <-chan string
}

// Login logs in to a server, keeps what it gave, and connects anew.
func (m *Manager) Login(ctx context.Context, name string, talk LoginTalk) error {
	s, err := m.findServer(name)
	if err != nil {
		return err
	}
	set := s.currentSettings()
	if set.usesStdio() || set.Problem != "" {
		return fmt.Errorf("%s cannot be logged in to: %s", name, firstSet(set.Problem, "it is a program, which gets its keys by env"))
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(set.OAuth.Port)))
	if err != nil {
		return fmt.Errorf("no port for the browser to come back to: %w (oauth.redirect_port)", err)
	}
	defer func() { _ = listener.Close() }() // it is closed already when the browser came back
	did := false
	handler, err := s.loginHandler(set, "http://"+listener.Addr().String()+"/callback", func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		did = true
		return comeBack(ctx, listener, a.URL, talk)
	})
	if err != nil {
		return err
	}
	client, err := s.plainClient(set)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	session, err := s.newClient(set).Connect(ctx, &sdk.StreamableClientTransport{Endpoint: set.URL, HTTPClient: client, MaxRetries: -1, OAuthHandler: handler, DisableStandaloneSSE: true},
		&sdk.ClientSessionOptions{ProtocolVersion: stdioProtocol})
	if err == nil {
		if has := session.InitializeResult().Capabilities; !did && has != nil && has.Tools != nil {
			_, err = session.ListTools(ctx, nil) // some let strangers in and ask for the login here
		}
		_ = session.Close() // the server's goroutine makes a connection of its own
	}
	if err != nil {
		return fmt.Errorf("the login to %s failed: %s", name, plainText(err.Error()))
	}
	if !did {
		return fmt.Errorf("%s asked for no login: it can be used as it is", name)
	}
	s.restartConnection()
	return nil
}

// loginHandler is the library's way through a login, which keeps what comes of it.
func (s *server) loginHandler(set Settings, back string, fetch auth.AuthorizationCodeFetcher) (auth.OAuthHandler, error) {
	client, err := s.plainClient(set)
	if err != nil {
		return nil, err
	}
	tokens, resource := tokensOf(s.m.o.Home, set.Name), ""
	asked := func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		if u, err := url.Parse(a.URL); err == nil {
			resource = u.Query().Get("resource")
		}
		return fetch(ctx, a)
	}
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back, AuthorizationCodeFetcher: asked, RequestRefreshToken: true, Client: client, AcceptUnadvertisedIss: true,
		NewTokenSource: func(_ context.Context, cfg *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			unlock, err := tokens.lockFile()
			if err != nil {
				return nil, err
			}
			defer unlock()
			k := &kept{URL: set.URL, ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.Endpoint.TokenURL, AuthStyle: int(cfg.Endpoint.AuthStyle), Token: t}
			k.Resource = resource
			k.Lacked = tokens.lackedRights(set.URL)
			return oauth2.StaticTokenSource(t), tokens.writeLogin(k)
		},
	}
	c.ScopeFilter = func(named []string) []string {
		if len(set.OAuth.Scopes) > 0 {
			return set.OAuth.Scopes
		}
		return unionOf(named, tokens.lackedRights(set.URL))
	}
	described := strings.HasPrefix(set.OAuth.ClientID, "https://") && set.OAuth.ClientSecret == ""
	if described {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: set.OAuth.ClientID}
	}
	if set.OAuth.ClientID != "" && !described {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: set.OAuth.ClientID}
		if set.OAuth.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: set.OAuth.ClientSecret}
		}
	} else {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Hermes", RedirectURIs: []string{back}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
	}
	return auth.NewAuthorizationCodeHandler(c)
}

// comeBack shows the address and waits until the browser comes back, or the person pastes where it
// was led.
func comeBack(ctx context.Context, listener net.Listener, address string, talk LoginTalk) (*auth.AuthorizationResult, error) {
	got := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/callback" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "Hermes has what it needs. You can close this window.")
		select {
		case got <- r.URL.Query():
		default:
		}
	})}
	served := make(chan struct{})
	crash.Go("mcp login", func() {
		defer close(served)
		_ = server.Serve(listener)
	})
	defer func() {
		_ = server.Close()
		<-served
	}()
	talk.Show(address)
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case v := <-got:
			return readAuthorization(v)
		case text, open := <-talk.Paste:
			if !open {
				talk.Paste = nil
				continue
			}
			u, err := url.Parse(strings.TrimSpace(text))
			if err != nil || u.Query().Get("code") == "" && u.Query().Get("error") == "" {
				continue // not the address
			}
			return readAuthorization(u.Query())
		}
	}
}

func readAuthorization(v url.Values) (*auth.AuthorizationResult, error) {
	if code := v.Get("error"); code != "" {
		return nil, fmt.Errorf("the server said no: %s %s", plainText(code), clip.Runes(plainText(v.Get("error_description")), 200, "…"))
	}
	return &auth.AuthorizationResult{Code: v.Get("code"), State: v.Get("state"), Iss: v.Get("iss")}, nil
}
