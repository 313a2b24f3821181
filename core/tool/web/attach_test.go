package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hermes/core/chat"
)

// TestAttachedPage: a page that a person names comes as a stranger's word, by the rules of
// web_extract.
func TestAttachedPage(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("<title>Notes</title><p>The key is red.</p>"))
	}))
	t.Cleanup(site.Close)
	p := New(open(Options{})).Attach(t.Context(), "s", site.URL+"/x")
	if p.Kind != chat.PartResource || p.URI != site.URL+"/x" || !strings.Contains(p.Text, strangers) || !strings.Contains(p.Text, "The key is red.") {
		t.Errorf("%+v", p)
	}
	p = New(open(Options{})).Attach(t.Context(), "s", site.URL+"/gone")
	if !strings.Contains(p.Text, "could not be read") || !strings.Contains(p.Text, "404") {
		t.Errorf("%+v", p)
	}
	if p = New(Options{}).Attach(t.Context(), "s", site.URL+"/x"); !strings.Contains(p.Text, "could not be read") {
		t.Errorf("an address inside is read: %+v", p)
	}
}
