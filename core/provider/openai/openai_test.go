package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, url string) provider.Provider {
	t.Helper()
	return modeltest.Client(t, openai.Make, provider.Endpoint{Name: "test", BaseURL: url, Key: "sk-test-secret-123456"})
}

func collect(t *testing.T, p provider.Provider, r provider.Request) modeltest.Heard {
	t.Helper()
	return modeltest.Hear(t.Context(), t, p, r)
}

func ask(text string) provider.Request {
	return provider.Request{Model: "test-model", System: "Be brief.", Messages: []chat.Message{{Role: chat.RoleUser, Text: text}}}
}

func TestOptionalFieldsAreLeftOutAfterARefusal(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Fault: modeltest.FaultNoUsage}, modeltest.Turn{},
		modeltest.Turn{Status: 400, Message: "Unknown parameter: 'reasoning_effort'."}, modeltest.Turn{}, modeltest.Turn{})
	p := client(t, s.URL)
	effort := ask("go")
	effort.Effort = "high"
	for i, r := range []provider.Request{ask("1"), ask("2"), effort, effort} {
		if g := collect(t, p, r); g.Err != nil {
			t.Fatalf("request %d: %v", i, g.Err)
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
	list, err := client(t, s.URL).Models(t.Context())
	if err != nil || len(list) != 2 || list[0].ID != "a" || list[1].Window != 4096 || !list[0].Priced {
		t.Fatalf("%+v %v", list, err)
	}
}

func TestBaseURL(t *testing.T) {
	for _, bad := range []string{"", "host:80", "ftp://host/v1", "http://", "http://[::1"} {
		if _, err := openai.Make(provider.Endpoint{BaseURL: bad}); err == nil {
			t.Errorf("%q was taken for an address", bad)
		}
	}
	s := modeltest.New(t, modeltest.Turn{}, modeltest.Turn{}, modeltest.Turn{})
	root := strings.TrimSuffix(s.URL, "/v1")
	for _, url := range []string{root, root + "/v1/", root + "/v1/chat/completions"} {
		if g := collect(t, client(t, url), ask("go")); g.Err != nil {
			t.Errorf("%s: %v", url, g.Err)
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
	p := modeltest.Client(t, openai.Make, provider.Endpoint{Name: "local", BaseURL: s.URL})
	if g := collect(t, p, ask("go")); g.Err != nil {
		t.Fatal(g.Err)
	}
	h := s.Requests()[0].Header
	if h.Get("Authorization") != "" || h.Get("OpenAI-Organization") != "" {
		t.Errorf("sent %v", h)
	}
}
