package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick are watchdogs for tests: long enough for a busy machine, short enough to wait for.
var quick = provider.Timeouts{Connect: 5 * time.Second, FirstByte: 5 * time.Second, Idle: 5 * time.Second}

func client(t *testing.T, url string, times provider.Timeouts) *openai.Provider {
	t.Helper()
	p, err := openai.New(provider.Endpoint{Name: "test", BaseURL: url, Key: "sk-test-secret-123456", Timeouts: times})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// got is what a stream yielded.
type got struct {
	text, reasoning string
	calls           []chat.ToolCall
	end             *provider.Chunk
	err             *provider.Error
}

func collect(t *testing.T, p provider.Provider, r provider.Request) got {
	t.Helper()
	return collectCtx(t.Context(), t, p, r)
}

func collectCtx(ctx context.Context, t *testing.T, p provider.Provider, r provider.Request) (g got) {
	t.Helper()
	for c, err := range p.Stream(ctx, r) {
		if g.end != nil || g.err != nil {
			t.Fatal("a chunk came after the end")
		}
		if err != nil {
			if !errors.As(err, &g.err) {
				t.Fatalf("not a *provider.Error: %v", err)
			}
			continue
		}
		switch c.Kind {
		case provider.ChunkText:
			g.text += c.Text
		case provider.ChunkReasoning:
			g.reasoning += c.Text
		case provider.ChunkToolStart:
			if c.Index != len(g.calls) {
				t.Fatalf("call %d starts as number %d", len(g.calls), c.Index)
			}
			g.calls = append(g.calls, chat.ToolCall{ID: c.CallID, Name: c.Name})
		case provider.ChunkToolArgs:
			g.calls[c.Index].Args = append(g.calls[c.Index].Args, c.Text...)
		case provider.ChunkEnd:
			g.end = &c
		}
	}
	if (g.end == nil) == (g.err == nil) {
		t.Fatalf("a stream must end with one end or one error: %+v %v", g.end, g.err)
	}
	return g
}

func ask(text string) provider.Request {
	return provider.Request{Model: "test-model", System: "Be brief.", Messages: []chat.Message{{Role: chat.RoleUser, Text: text}}}
}

func TestOptionalFieldsAreLeftOutAfterARefusal(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Fault: modeltest.FaultNoUsage}, modeltest.Turn{},
		modeltest.Turn{Status: 400, Message: "Unknown parameter: 'reasoning_effort'."}, modeltest.Turn{}, modeltest.Turn{})
	p := client(t, s.URL, quick)
	effort := ask("go")
	effort.Effort = "high"
	for i, r := range []provider.Request{ask("1"), ask("2"), effort, effort} {
		if g := collect(t, p, r); g.err != nil {
			t.Fatalf("request %d: %v", i, g.err)
		}
	}
	var options, efforts int
	for _, r := range s.Requests() {
		var body map[string]json.RawMessage
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		if body["stream_options"] != nil {
			options++
		}
		if body["reasoning_effort"] != nil {
			efforts++
		}
	}
	if options != 1 || efforts != 1 {
		t.Errorf("stream_options was sent %d times, reasoning_effort %d times: want one each", options, efforts)
	}
}

func TestModels(t *testing.T) {
	s := modeltest.NewScript(t, modeltest.Script{Models: []modeltest.Model{{ID: "b", ContextLength: 4096}, {ID: "a"}}})
	list, err := client(t, s.URL, quick).Models(t.Context())
	if err != nil || len(list) != 2 || list[0].ID != "a" || list[1].Window != 4096 || !list[0].Priced {
		t.Fatalf("%+v %v", list, err)
	}
}

func TestBaseURL(t *testing.T) {
	for _, bad := range []string{"", "host:80", "ftp://host/v1", "http://", "http://[::1"} {
		if _, err := openai.New(provider.Endpoint{BaseURL: bad}); err == nil {
			t.Errorf("%q was taken for an address", bad)
		}
	}
	s := modeltest.New(t, modeltest.Turn{}, modeltest.Turn{}, modeltest.Turn{})
	root := strings.TrimSuffix(s.URL, "/v1")
	for _, url := range []string{root, root + "/v1/", root + "/v1/chat/completions"} {
		if g := collect(t, client(t, url, quick), ask("go")); g.err != nil {
			t.Errorf("%s: %v", url, g.err)
		}
	}
	for _, r := range s.Requests() {
		if r.Path != "/v1/chat/completions" {
			t.Errorf("asked at %s", r.Path)
		}
	}
}

func TestNothingFromTheEnvironmentIsSent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-another-host")
	t.Setenv("OPENAI_ORG_ID", "org-secret")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	s := modeltest.New(t, modeltest.Turn{})
	p, err := openai.New(provider.Endpoint{Name: "local", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if g := collect(t, p, ask("go")); g.err != nil {
		t.Fatal(g.err)
	}
	h := s.Requests()[0].Header
	if h.Get("Authorization") != "" || h.Get("OpenAI-Organization") != "" {
		t.Errorf("sent %v", h)
	}
}
