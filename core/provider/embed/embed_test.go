package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers embedding requests by a script and keeps what it was asked.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	asks []string // method, path, key and body
	say  func(n int, texts []string) (status int, body string)
}

func newServer(t *testing.T, say func(n int, texts []string) (int, string)) *server {
	t.Helper()
	s := &server{say: say}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var got struct {
			Input []string `json:"input"`
		}
		_ = json.Unmarshal(body, &got)
		s.mu.Lock()
		n := len(s.asks)
		s.asks = append(s.asks, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Authorization"), body))
		s.mu.Unlock()
		status, answer := s.say(n, got.Input)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// numbers is an answer in the format of OpenAI: the length of each text, and its place.
func numbers(texts []string) string {
	var b strings.Builder
	b.WriteString(`{"object":"list","data":[`)
	for i := range texts { // backwards: the index counts, not the order
		at := len(texts) - 1 - i
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"object":"embedding","index":%d,"embedding":[%d.0,1.0]}`, at, len(texts[at]))
	}
	b.WriteString(`],"model":"text-embedding-3-small","usage":{"prompt_tokens":5,"total_tokens":5}}`)
	return b.String()
}

func client(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.pause = func(context.Context, time.Duration) {}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func endpoint(name, url string) provider.Endpoint {
	return provider.Endpoint{Name: name, BaseURL: url, Key: "sk-test-secret-123456"}
}

func TestRequestsByteForByte(t *testing.T) {
	for name, tc := range map[string]struct {
		options      Options
		answer, want string
	}{
		"openai": {
			Options{Model: "text-embedding-3-small", Dimensions: 2, Endpoint: provider.Endpoint{Name: "openai", BaseURL: "/v1"}},
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.0023064255,-0.009327292]},{"object":"embedding","index":1,"embedding":[1,2]}],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}`,
			`POST /v1/embeddings Bearer sk-test-secret-123456 {"input":["a < b","c"],"model":"text-embedding-3-small","encoding_format":"float","dimensions":2}`,
		},
		"base64": {
			Options{Model: "m", Endpoint: provider.Endpoint{Name: "other", BaseURL: "/v1/embeddings"}},
			`{"object":"list","data":[{"index":0,"embedding":"AACAPwAAAEA="},{"index":1,"embedding":"AACAPwAAAEA="}]}`,
			`POST /v1/embeddings Bearer sk-test-secret-123456 {"input":["a < b","c"],"model":"m","encoding_format":"float"}`,
		},
		"ollama": {
			Options{Model: "all-minilm", Endpoint: provider.Endpoint{Name: "ollama", BaseURL: "/v1"}},
			`{"model":"all-minilm","embeddings":[[0.010071029,-0.0017594862],[-0.0098027,0.06042469]],"total_duration":14143917,"load_duration":1019500,"prompt_eval_count":8}`,
			`POST /api/embed Bearer sk-test-secret-123456 {"model":"all-minilm","input":["a < b","c"],"truncate":false}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(int, []string) (int, string) { return 200, tc.answer })
			tc.options.Endpoint = endpoint(tc.options.Endpoint.Name, s.URL+tc.options.Endpoint.BaseURL)
			vectors, err := client(t, tc.options).Embed(t.Context(), []string{"a < b", "c"}, false)
			if err != nil || len(vectors) != 2 || len(vectors[0]) != 2 {
				t.Errorf("%v, %v", vectors, err)
			}
			if s.asks[0] != tc.want {
				t.Errorf("sent\n%s, want\n%s", s.asks[0], tc.want)
			}
		})
	}
}

func TestOrderPrefixSecretsAndBatches(t *testing.T) {
	s := newServer(t, func(_ int, texts []string) (int, string) { return 200, numbers(texts) })
	c := client(t, Options{Model: "nomic-embed-text", Endpoint: endpoint("vllm", s.URL), Prefix: PrefixOf("nomic-embed-text:v1.5")})
	texts := make([]string, 150)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	vectors, err := c.Embed(t.Context(), texts, false)
	if err != nil || len(vectors) != 150 {
		t.Fatal(len(vectors), err)
	}
	for i, v := range vectors {
		if int(v[0]) != len("search_document: ")+i+1 {
			t.Fatalf("text %d got the vector of another one: %v", i, v)
		}
	}
	if len(s.asks) != 3 {
		t.Errorf("%d requests for 150 texts, want 3", len(s.asks))
	}
	if _, err := c.Embed(t.Context(), []string{"the key is sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"}, true); err != nil {
		t.Fatal(err)
	}
	if last := s.asks[3]; strings.Contains(last, "Ab3dEf6h") || !strings.Contains(last, "search_query: the key is") {
		t.Errorf("sent %s", last)
	}
}

func TestFaults(t *testing.T) {
	ok := func(_ int, texts []string) (int, string) { return 200, numbers(texts) }
	for name, tc := range map[string]struct {
		say   func(n int, texts []string) (int, string)
		asks  int
		class provider.Class // "": it works in the end
	}{
		"busy, then well": {func(n int, texts []string) (int, string) {
			if n < 2 {
				return 503, `{"error":{"message":"overloaded"}}`
			}
			return ok(n, texts)
		}, 3, ""},
		"rate limit for ever": {func(int, []string) (int, string) { return 429, `{"error":{"message":"slow down"}}` }, 4, provider.ClassRateLimit},
		"wrong key":           {func(int, []string) (int, string) { return 401, `{"error":{"message":"bad key"}}` }, 1, provider.ClassAuth},
		"too few":             {func(int, []string) (int, string) { return 200, numbers([]string{"a"}) }, 3, provider.ClassMalformed},
		"an index twice": {func(int, []string) (int, string) {
			return 200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`
		}, 3, provider.ClassMalformed},
		"an index far away": {func(int, []string) (int, string) {
			return 200, `{"data":[{"index":9,"embedding":[1]},{"index":1,"embedding":[1]}]}`
		}, 3, provider.ClassMalformed},
		"no numbers":    {func(int, []string) (int, string) { return 200, `{"data":[{"embedding":["a"]},{"embedding":[]}]}` }, 3, provider.ClassMalformed},
		"empty vectors": {func(int, []string) (int, string) { return 200, `{"data":[{"embedding":[]},{"embedding":[]}]}` }, 3, provider.ClassMalformed},
		"a page":        {func(int, []string) (int, string) { return 200, `<html>login</html>` }, 3, provider.ClassMalformed},
		"too large a number": {func(int, []string) (int, string) {
			return 200, `{"data":[{"embedding":[1e99]},{"embedding":[1]}]}`
		}, 3, provider.ClassMalformed},
		"different lengths": {func(int, []string) (int, string) {
			return 200, `{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`
		}, 1, provider.ClassMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, tc.say)
			_, err := client(t, Options{Model: "m", Endpoint: endpoint("x", s.URL)}).Embed(t.Context(), []string{"a", "bb"}, false)
			var failed *provider.Error
			if tc.class == "" && err != nil || tc.class != "" && (!errors.As(err, &failed) || failed.Class != tc.class) {
				t.Errorf("error %v, want class %q", err, tc.class)
			}
			if len(s.asks) != tc.asks {
				t.Errorf("%d requests, want %d", len(s.asks), tc.asks)
			}
			if err != nil && strings.Contains(err.Error(), "sk-test") {
				t.Errorf("the key is in %v", err)
			}
		})
	}
}

func TestAQuestionIsTriedOnce(t *testing.T) {
	s := newServer(t, func(int, []string) (int, string) { return 500, "{}" })
	if _, err := client(t, Options{Model: "m", Endpoint: endpoint("x", s.URL)}).Embed(t.Context(), []string{"a"}, true); err == nil || len(s.asks) != 1 {
		t.Errorf("%v after %d requests", err, len(s.asks))
	}
}

// Ollama refuses what is longer than the window of the model; so do others, in their words.
func TestATextThatIsTooLongIsCut(t *testing.T) {
	s := newServer(t, func(_ int, texts []string) (int, string) {
		vectors := make([]string, len(texts))
		for i, text := range texts {
			if len(text) > 300 {
				return 400, `{"error":"the input length exceeds the context length"}`
			}
			vectors[i] = fmt.Sprintf("[%d]", len(text))
		}
		return 200, `{"embeddings":[` + strings.Join(vectors, ",") + `]}`
	})
	c := client(t, Options{Model: "m", Endpoint: endpoint("ollama", s.URL)})
	vectors, err := c.Embed(t.Context(), []string{"short", strings.Repeat("é", 2000), "end"}, false)
	if err != nil || len(vectors) != 3 || vectors[0][0] != 5 || vectors[1][0] < 64 || vectors[2][0] != 3 {
		t.Errorf("%v, %v", vectors, err)
	}
}

// The key is for one host: a redirect is no way to another.
func TestARedirectGetsNothing(t *testing.T) {
	other := newServer(t, func(_ int, texts []string) (int, string) { return 200, numbers(texts) })
	first := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/embeddings", http.StatusTemporaryRedirect))
	defer first.Close()
	_, err := client(t, Options{Model: "m", Endpoint: endpoint("x", first.URL)}).Embed(t.Context(), []string{"a"}, true)
	if err == nil || len(other.asks) != 0 {
		t.Errorf("%v, the other host got %q", err, other.asks)
	}
}

func TestTimeout(t *testing.T) {
	hang := make(chan struct{})
	s := newServer(t, func(int, []string) (int, string) { <-hang; return 200, "{}" })
	defer close(hang)
	_, err := client(t, Options{Model: "m", Endpoint: endpoint("x", s.URL), Timeout: 20 * time.Millisecond}).Embed(t.Context(), []string{"a"}, true)
	var failed *provider.Error
	if !errors.As(err, &failed) || failed.Class != provider.ClassTimeout {
		t.Error(err)
	}
}

func TestWhoHasNone(t *testing.T) {
	if _, err := New(Options{Model: "claude", Endpoint: provider.Endpoint{Name: "anthropic", Kind: provider.ModeMessages, BaseURL: "https://api.anthropic.com/v1"}}); err == nil || !strings.Contains(err.Error(), "no embeddings") {
		t.Error(err)
	}
	if _, err := New(Options{Endpoint: endpoint("x", "http://x")}); err == nil {
		t.Error("without a model")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]}]}`))
	f.Add([]byte(`{"data":[{"index":0,"embedding":"AACAPw=="}]}`))
	f.Add([]byte(`{"embeddings":[[1,2]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, api := range []string{OpenAI, Ollama} {
			c := &Client{o: Options{API: api}}
			if vectors, err := c.readVectors(data, 1); err == nil && (len(vectors) != 1 || len(vectors[0]) == 0 || len(vectors[0]) > maxDims) {
				t.Errorf("%s: %v", api, vectors)
			}
		}
	})
}
