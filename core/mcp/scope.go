package mcp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// maxScopes bounds the rights that a login asks for because earlier ones lacked them.
const maxScopes = 50

// wantsLogin reports whether a refusal asks for a login, and which rights a login that there is
// lacks.
func wantsLogin(res *http.Response) (lacks []string, wants bool) {
	if res.StatusCode == http.StatusUnauthorized {
		return nil, true
	}
	if res.StatusCode != http.StatusForbidden {
		return nil, false
	}
	challenges, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, false
	}
	for _, c := range challenges {
		if strings.EqualFold(c.Scheme, "bearer") && c.Params["error"] == "insufficient_scope" {
			return strings.Fields(c.Params["scope"]), true
		}
	}
	return nil, false
}

// noteLacking keeps with the login which rights it was refused for. The next login, which may be in
// another program, asks for them too.
func (f tokenFile) noteLacking(address string, scopes []string) error {
	unlock, err := f.lockFile()
	if err != nil {
		return err
	}
	defer unlock()
	k, err := f.readLogin()
	if err != nil || k == nil || k.URL != address {
		return err
	}
	had := len(k.Lacked)
	k.Lacked = unionOf(k.Lacked, scopes)
	if k.Lacked = k.Lacked[:min(len(k.Lacked), maxScopes)]; len(k.Lacked) == had {
		return nil
	}
	return f.writeLogin(k)
}

// lackedRights are the rights that earlier logins to the address were refused for.
func (f tokenFile) lackedRights(address string) []string {
	if k, err := f.readLogin(); err == nil && k != nil && k.URL == address {
		return k.Lacked
	}
	return nil
}

// unionOf is a, and what b has beyond it.
func unionOf(a, b []string) []string {
	out := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}
