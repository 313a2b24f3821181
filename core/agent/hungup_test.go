package agent

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
	"hermes/core/tool"
)

// curt is a server that closes the connection on a request of more than most bytes.
func curt(t *testing.T, behind string, most int) string {
	t.Helper()
	to, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(body) > most {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + to.Path
}

// A server that says nothing of a request that is too long, and closes the connection, gets a
// shorter one. A short request is no reason for that: there the line failed.
func TestAServerThatHangsUpOnLongRequests(t *testing.T) {
	for _, kind := range []string{openai.Kind, anthropic.Kind, responses.Kind} {
		t.Run(kind, func(t *testing.T) {
			const window = 8000
			for name, c := range map[string]struct {
				turns, most, compressed int
				end                     event.TurnReason
			}{
				"long": {5, 12_000, 1, event.TurnDone}, "short, whatever comes": {1, 0, 0, event.TurnFailed},
			} {
				counted := &modeltest.Usage{Input: 1050 * c.turns, Output: 5}
				srv := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "I read it.", Usage: counted}}, Loop: true, AuxText: "They read."})
				r := rigWith(t, []tool.Tool{newTool("echo", nil, nil)}) // without tools it would be asked for a summary
				use := func(base string) {
					set := provider.NewSet(provider.Settings{
						Default: "lab/test-model", NoDetect: true, Kinds: wireKinds,
						Providers: map[string]provider.Endpoint{"lab": {
							BaseURL: base, Kind: kind, Key: "k", Models: []string{"test-model"},
							Limits: map[string]provider.Limit{"test-model": {Window: window}},
						}},
					})
					t.Cleanup(set.Close)
					r.deps.Models = set
					r.agent = New(r.deps)
				}
				r.settings(func(s *Settings) { s.Retries = 2 })
				use(srv.URL)
				for i := range c.turns {
					r.submit(strings.Repeat("a long word ", 350), "")
					r.ended(i + 1)
					r.idle()
				}
				use(curt(t, srv.URL, c.most))
				r.submit("and now?", "")
				if end := r.ended(c.turns + 1); end.Reason != c.end {
					t.Fatalf("%s: %+v", name, end)
				}
				r.idle()
				if n := len(each[event.Compressed](r.sink)); n != c.compressed {
					t.Errorf("%s: %d compressions", name, n)
				}
			}
		})
	}
}
