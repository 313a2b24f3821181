package mcp

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// A server of logins that sends a renewal elsewhere is asked nothing more: the login is kept.
func TestARenewalIsNotSentElsewhere(t *testing.T) {
	for _, code := range []int{http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect} {
		elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("%d: a renewal went elsewhere: %s %s", code, r.Method, r.FormValue("refresh_token"))
		}))
		t.Cleanup(elsewhere.Close)
		at := httptest.NewServer(http.RedirectHandler(elsewhere.URL, code))
		t.Cleanup(at.Close)
		file := tokenFile{path: filepath.Join(t.TempDir(), "login.json")}
		k := &kept{URL: "https://tools.example/mcp", ClientID: "c", TokenURL: at.URL, AuthStyle: int(oauth2.AuthStyleInParams), Token: &oauth2.Token{AccessToken: "old-access", RefreshToken: "old-refresh"}}
		if err := file.writeLogin(k); err != nil {
			t.Fatal(err)
		}
		s := &source{file: file, url: k.URL, client: &http.Client{}, note: func(string) {}}
		if _, err := s.freshToken(t.Context(), "old-access"); err == nil || !strings.Contains(err.Error(), "could not be renewed") || errors.Is(err, errNoLogin) {
			t.Errorf("%d: %v", code, err)
		}
		if after, err := file.readLogin(); err != nil || after.Token.RefreshToken != "old-refresh" {
			t.Errorf("%d: %+v %v", code, after, err)
		}
	}
}
