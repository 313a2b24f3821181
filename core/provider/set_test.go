package provider_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/offline"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
	"hermes/core/testwait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var kinds = map[string]provider.Maker{
	openai.Kind: openai.Make, responses.Kind: responses.Make, anthropic.Kind: anthropic.Make, "offline": offline.Make,
}

func env(pairs ...string) func(string) string {
	return func(k string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == k {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func newSet(t *testing.T, s provider.Settings) *provider.Set {
	t.Helper()
	s.Kinds = kinds
	set := provider.NewSet(s)
	t.Cleanup(set.Close)
	return set
}

func TestResolve(t *testing.T) {
	two := provider.Settings{NoDetect: true, Providers: map[string]provider.Endpoint{
		"openai":     {BaseURL: "https://api.openai.com/v1", Key: "k"},
		"openrouter": {BaseURL: "https://openrouter.ai/api/v1", Key: "k", Models: []string{"z/own"}},
	}}
	withDefault := two
	withDefault.Default = "openrouter/anthropic/claude-sonnet-4.5"
	for _, c := range []struct {
		settings             provider.Settings
		ref, provider, model string
	}{
		{two, "", "openai", "gpt-5-mini"},
		{two, "openai/gpt-4o", "openai", "gpt-4o"},
		{two, "gpt-4o", "openai", "gpt-4o"},
		{two, "openrouter", "openrouter", "z/own"},
		{two, "z/own", "openrouter", "z/own"},
		{two, "openrouter/anthropic/claude-sonnet-4.5", "openrouter", "anthropic/claude-sonnet-4.5"},
		{two, "meta/llama", "openai", "meta/llama"},
		{two, "offline", "offline", "offline"},
		{withDefault, "", "openrouter", "anthropic/claude-sonnet-4.5"},
		{withDefault, "gpt-4o", "openrouter", "gpt-4o"},
		{provider.Settings{NoDetect: true}, "", "offline", "offline"},
		{provider.Settings{NoDetect: true}.WithEnv(env("OPENAI_API_KEY", "k", "HERMES_MODEL", "mock-model")), "", "openai", "mock-model"},
		{provider.Settings{NoDetect: true}.WithEnv(env("DEEPSEEK_API_KEY", "k")), "", "deepseek", "deepseek-chat"},
	} {
		p, m, err := newSet(t, c.settings).Resolve(t.Context(), c.ref)
		if err != nil || p.Name() != c.provider || m.ID != c.model || m.Provider != c.provider {
			t.Errorf("%q: %+v %v, want %s %s", c.ref, m, err, c.provider, c.model)
		}
	}
}

func TestADefaultWithoutAnyProvider(t *testing.T) {
	s := provider.Settings{NoDetect: true, Default: "anthropic/claude-opus-4.5"}
	if p, _, err := newSet(t, s).Resolve(t.Context(), ""); err != nil || p.Name() != provider.Offline {
		t.Errorf("a default from the file, without a key: %v %v", p, err)
	}
	if _, _, err := newSet(t, s).Resolve(t.Context(), s.Default); err == nil {
		t.Error("a model that was asked for by name was replaced")
	}
	s.Explicit = true
	if _, _, err := newSet(t, s.WithEnv(env("HERMES_MODEL", "offline"))).Resolve(t.Context(), ""); err == nil {
		t.Error("a model that was chosen for this run was replaced")
	}
}

func TestResolveSaysWhatToDo(t *testing.T) {
	for ref, want := range map[string]string{"gpt-4o": "hermes setup", "nowhere/gpt-4o": "offline"} {
		_, _, err := newSet(t, provider.Settings{NoDetect: true}).Resolve(t.Context(), ref)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	odd := provider.Settings{Providers: map[string]provider.Endpoint{"x": {Kind: "telepathy", BaseURL: "http://x/v1", Models: []string{"m"}}, "y": {BaseURL: "::", Models: []string{"m"}}}}
	for ref, want := range map[string]string{"x/m": "telepathy", "y/m": "base URL"} {
		if _, _, err := newSet(t, odd).Resolve(t.Context(), ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// A model whose provider has no key is that provider's failure: a run ends with its exit code.
func TestAMissingKeyIsAFailureOfTheProvider(t *testing.T) {
	_, _, err := newSet(t, provider.Settings{NoDetect: true}).Resolve(t.Context(), "openai/gpt-4o")
	var pe *provider.Error
	if !errors.As(err, &pe) || pe.Class != provider.ClassAuth || !strings.Contains(err.Error(), "set OPENAI_API_KEY") {
		t.Errorf("%v", err)
	}
}

// Where nobody sees who answers, offline does not step in for a model that is not there, but
// answers where it was chosen.
func TestFirmHasNoStandIn(t *testing.T) {
	s := provider.Settings{NoDetect: true, NoSubstitute: true}
	_, _, err := newSet(t, s).Resolve(t.Context(), "")
	var pe *provider.Error
	if !errors.As(err, &pe) || pe.Class != provider.ClassModelNotFound || !strings.HasPrefix(err.Error(), "no model") || !strings.Contains(pe.Hint, "hermes setup") {
		t.Errorf("%v", err)
	}
	chosen := s
	chosen.Default = provider.Offline
	for _, c := range []struct {
		settings provider.Settings
		ref      string
	}{{s, provider.Offline}, {chosen, ""}, {s.WithEnv(env("HERMES_MODEL", "offline")), ""}} {
		if p, _, err := newSet(t, c.settings).Resolve(t.Context(), c.ref); err != nil || p.Name() != provider.Offline {
			t.Errorf("%+v %q: %v", c.settings, c.ref, err)
		}
	}
}

func TestAKeyGoesToItsOwnHostOnly(t *testing.T) {
	s := provider.Settings{Providers: map[string]provider.Endpoint{
		"deepseek": {BaseURL: "https://evil.example/v1"},
		"mistral":  {},
		"groq":     {Key: "mine"},
	}}.WithEnv(env("DEEPSEEK_API_KEY", "d", "MISTRAL_API_KEY", "m", "GROQ_API_KEY", "g", "OPENAI_API_KEY", "o", "OPENAI_BASE_URL", "http://127.0.0.1:9/v1"))
	for name, want := range map[string]provider.Endpoint{
		"deepseek": {BaseURL: "https://evil.example/v1"},
		"mistral":  {BaseURL: "https://api.mistral.ai/v1", Key: "m"},
		"groq":     {BaseURL: "https://api.groq.com/openai/v1", Key: "mine"},
		"openai":   {BaseURL: "http://127.0.0.1:9/v1", Key: "o"},
	} {
		if got := s.Providers[name]; got.BaseURL != want.BaseURL || got.Key != want.Key {
			t.Errorf("%s: %q with key %q", name, got.BaseURL, got.Key)
		}
	}
	if len(s.Providers) != 4 {
		t.Errorf("%d providers", len(s.Providers))
	}
}

func TestDetect(t *testing.T) {
	server := modeltest.NewScript(t, modeltest.Script{Models: []modeltest.Model{{ID: "qwen3:4b", ContextLength: 40960}}})
	host := strings.TrimSuffix(server.URL, "/v1")
	for _, ref := range []string{"", "ollama", "ollama/qwen3:4b", "qwen3:4b"} {
		p, m, err := newSet(t, provider.Settings{OllamaHost: host, Catalogue: provider.OnlyOllama()}).Resolve(t.Context(), ref)
		if err != nil || p.Name() != "ollama" || m.ID != "qwen3:4b" || !m.Priced || m.PriceIn != 0 {
			t.Errorf("%q: %+v %v", ref, m, err)
		}
	}
	set := newSet(t, provider.Settings{OllamaHost: host, Catalogue: provider.OnlyOllama()})
	list := set.List(t.Context())
	if len(list) != 2 || list[0].Window != 40960 || list[1].Provider != "offline" {
		t.Errorf("list: %+v", list)
	}
	if _, m, _ := set.Resolve(t.Context(), "ollama/qwen3:4b"); m.Window != 40960 {
		t.Errorf("the window that the server told is forgotten: %+v", m)
	}
}

func TestDetectIsQuickAndKeepsToThisMachine(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	begin := time.Now()
	if found := newSet(t, provider.Settings{OllamaHost: silent.Addr().String(), Catalogue: provider.OnlyOllama()}).Detect(t.Context()); found != nil {
		t.Errorf("found %+v", found)
	}
	if took := time.Since(begin); took > testwait.Within(2*time.Second) {
		t.Errorf("it took %s", took)
	}
	for host, want := range map[string]string{
		"0.0.0.0":                "http://127.0.0.1:11434/v1",
		":8000":                  "http://127.0.0.1:8000/v1",
		"localhost:1":            "http://localhost:1/v1",
		"http://[::1]:5/":        "http://[::1]:5/v1",
		"example.com":            "",
		"http://192.168.1.5:1":   "",
		"ftp://127.0.0.1":        "",
		"127.0.0.1.example.com":  "",
		"http://127.0.0.1@evil/": "",
		"":                       "",
	} {
		if got, ok := provider.OllamaBase(host); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v", host, got, ok)
		}
	}
}

func TestListShowsConfiguredModelsOfAProviderThatIsDown(t *testing.T) {
	s := provider.Settings{NoDetect: true, Providers: map[string]provider.Endpoint{"down": {BaseURL: "http://127.0.0.1:1/v1", Models: []string{"m"}}}}
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
	defer cancel()
	list := newSet(t, s).List(ctx)
	if len(list) != 2 || list[0].ID != "m" || list[0].Provider != "down" {
		t.Errorf("%+v", list)
	}
}

func TestListShowsConfiguredModelsThatTheServerDoesNotList(t *testing.T) {
	server := modeltest.NewScript(t, modeltest.Script{Models: []modeltest.Model{{ID: "theirs"}}})
	s := provider.Settings{NoDetect: true, Providers: map[string]provider.Endpoint{"up": {BaseURL: server.URL, Models: []string{"mine"}}}}
	list := newSet(t, s).List(t.Context())
	var mine, all int
	for _, m := range list {
		if m.Provider == "up" {
			all++
			if m.ID == "mine" {
				mine++
			}
		}
	}
	if mine != 1 || all < 2 {
		t.Errorf("%+v", list)
	}
}

func TestCatalog(t *testing.T) {
	vendors, models := provider.CatalogSize()
	if vendors < 5 || models < 10 {
		t.Fatalf("the embedded data has %d vendors and %d models", vendors, models)
	}
	own := provider.Endpoint{Name: "openai", BaseURL: "https://api.openai.com/v1"}
	m := provider.Known(own, "gpt-4o-2024-08-06")
	if m.Window != 128000 || !m.Priced || m.PriceIn != 2.5 {
		t.Errorf("%+v", m)
	}
	if m := provider.Known(own, "gpt-4o-mini"); m.PriceIn != 0.15 {
		t.Errorf("a longer name is another model: %+v", m)
	}
	if m := provider.Known(own, "gpt-9"); m.Window != 0 || m.Priced {
		t.Errorf("unknown must be zero: %+v", m)
	}
	if m := provider.Known(provider.Endpoint{BaseURL: "https://reseller.example/v1"}, "gpt-4o"); m.Priced || m.Window != 128000 {
		t.Errorf("a reseller has its own price: %+v", m)
	}
	u := m.Charge(chat.Usage{Input: 1_000_000, Cached: 400_000, Output: 100_000})
	if want := int64(600_000*2.5 + 400_000*1.25 + 100_000*10); u.Cost != want || !u.CostKnown {
		t.Errorf("cost %d, want %d", u.Cost, want)
	}
	if u := m.Charge(chat.Usage{Cost: 5, CostKnown: true}); u.Cost != 5 {
		t.Errorf("the server's own figure was replaced by %d", u.Cost)
	}
}

func TestParseModels(t *testing.T) {
	e := provider.Endpoint{Name: "p", BaseURL: "https://p.example/v1"}
	for body, want := range map[string]provider.Model{
		`{"data":[{"id":"m","max_model_len":4096}]}`:                                                         {Window: 4096},
		`{"data":[{"id":"m","context_window":8192,"max_completion_tokens":100}]}`:                            {Window: 8192, MaxOutput: 100},
		`{"data":[{"id":"m","meta":{"n_ctx_train":32768}}]}`:                                                 {Window: 32768},
		`{"data":[{"id":"m","context_length":"65536","pricing":{"prompt":"0.000001","completion":"2e-6"}}]}`: {Window: 65536, PriceIn: 1, PriceOut: 2, Priced: true},
		`{"models":[{"id":"models/m","context_length":-5}]}`:                                                 {},
		`[{"id":"m","context_length":{"odd":1}},{"id":""},{"id":"a\u001b"}]`:                                 {},
	} {
		list, err := provider.ParseModels(e, []byte(body))
		if err != nil || len(list) != 1 || list[0].ID != "m" {
			t.Errorf("%s: %+v %v", body, list, err)
			continue
		}
		m := list[0]
		if m.Window != want.Window || m.MaxOutput != want.MaxOutput || m.Priced != want.Priced || m.PriceOut != want.PriceOut {
			t.Errorf("%s: %+v", body, m)
		}
	}
	if _, err := provider.ParseModels(e, []byte("<html>")); err == nil || !strings.Contains(err.Error(), "a web page instead of a list of models; check the base URL") {
		t.Errorf("a web page as a list of models: %v", err)
	}
}

// What is configured of a provider, its vendor and its address make the mode; what a key is for
// gets it, nobody else.
func TestModeKeyAndAddress(t *testing.T) {
	s := provider.Settings{NoDetect: true, Providers: map[string]provider.Endpoint{
		"lab":    {BaseURL: "http://127.0.0.1:9/v1", Kind: provider.ModeMessages},
		"proxy":  {BaseURL: "https://proxy.example/anthropic"},
		"openai": {BaseURL: "https://gateway.example/v1"},
	}}.WithEnv(env("ANTHROPIC_API_KEY", "a", "OPENAI_API_KEY", "o", "MINIMAX_API_KEY", "m", "HF_TOKEN", "h"))
	set := newSet(t, s)
	for ref, want := range map[string]provider.Model{
		"lab/m":                     {Mode: provider.ModeMessages, Key: true},
		"proxy/m":                   {Mode: provider.ModeMessages},
		"openai/gpt-5":              {Mode: provider.ModeChat}, // not the vendor's own address: no key, the older format
		"anthropic/claude-opus-4-6": {Mode: provider.ModeMessages, Key: true},
		"claude/claude-sonnet-5":    {Mode: provider.ModeMessages, Key: true},
		"minimax/m":                 {Mode: provider.ModeMessages, Key: true},
		"huggingface/m":             {Mode: provider.ModeChat, Key: true},
	} {
		if _, m, err := set.Resolve(t.Context(), ref); err != nil || m.Mode != want.Mode || m.Key != want.Key {
			t.Errorf("%s: mode %s, key %v, %v", ref, m.Mode, m.Key, err)
		}
	}
	own := newSet(t, provider.Settings{NoDetect: true}.WithEnv(env("OPENAI_API_KEY", "o", "HF_TOKEN", "h")))
	for ref, mode := range map[string]string{"": provider.ModeResponses, "openai/gpt-4o": provider.ModeChat} {
		if p, m, err := own.Resolve(t.Context(), ref); err != nil || p.Name() != "openai" || m.Mode != mode {
			t.Errorf("%q: %+v %v", ref, m, err)
		}
	}
}
