package web

import (
	"net/http"
	"net/url"
	"testing"
)

// A search engine's key follows no redirect to another host, nor one that leaves TLS.
func TestAKeyStaysWhereItBelongs(t *testing.T) {
	t.Parallel()
	at := func(raw string) *http.Request {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u}
	}
	for _, c := range []struct {
		from, to string
		follows  bool
	}{
		{"https://api.example/a", "https://api.example/b", true},
		{"http://inside.example/a", "https://inside.example/a", true},
		{"http://inside.example/a", "http://inside.example/b", true},
		{"https://api.example/a", "http://api.example/a", false},
		{"https://api.example/a", "https://other.example/a", false},
		{"https://api.example/a", "https://api.example:8443/a", false},
	} {
		if err := sameHost(at(c.to), []*http.Request{at(c.from)}); (err == nil) != c.follows {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}
