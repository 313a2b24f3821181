package provider_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider"
)

// Each vendor of the shipped data is whole: an address or a reason, a key that is nobody else's, a
// default model whose figures are there where the vendor sells it.
func TestShippedVendors(t *testing.T) {
	c := provider.Shipped()
	keys, names := map[string]string{}, map[string]bool{}
	for _, v := range c.Vendors {
		for _, n := range append([]string{v.Name}, v.Aliases...) {
			if names[n] {
				t.Errorf("two vendors are called %s", n)
			}
			names[n] = true
		}
		if v.Title == "" || v.BaseURL == "" && v.BaseEnv == "" && v.Closed == "" {
			t.Errorf("%s has no address or no title", v.Name)
		}
		if v.KeyEnv == "" && !v.Local && v.Closed == "" {
			t.Errorf("%s has no key", v.Name)
		}
		for _, k := range append([]string{v.KeyEnv}, v.AlsoEnv...) {
			if k != "" && keys[k] != "" {
				t.Errorf("%s is the key of %s and of %s", k, keys[k], v.Name)
			}
			keys[k] = v.Name
		}
		for _, id := range []string{v.Model, v.Small} {
			e := provider.Endpoint{Name: v.Name, BaseURL: v.BaseURL}
			if m := provider.Known(e, id); id != "" && !v.Reseller && (m.Window == 0 || !m.Priced) {
				t.Errorf("%s/%s: %+v", v.Name, id, m)
			}
		}
	}
	for _, want := range strings.Fields("openrouter nous anthropic openai gemini deepseek xai zai kimi minimax mistral groq together " +
		"fireworks huggingface nvidia azure qwen github copilot ollama lmstudio llamacpp vllm") {
		if !names[want] {
			t.Errorf("%s is missing", want)
		}
	}
	for name, to := range c.Aliases {
		for _, place := range to {
			head, id, _ := strings.Cut(place, "/")
			if v, ok := c.Named(head); !ok || provider.Known(provider.Endpoint{Name: v.Name, BaseURL: v.BaseURL}, id).Window == 0 {
				t.Errorf("alias %s: %s is not known", name, place)
			}
		}
	}
}

// Every model of the shipped data is found by its own name, and by no other one's.
func TestShippedModels(t *testing.T) {
	c := provider.Shipped()
	for _, f := range c.Models {
		v, ok := c.Named(f.Vendor)
		if !ok {
			t.Errorf("%s is of %q, which is no vendor", f.ID, f.Vendor)
			continue
		}
		m := provider.Known(provider.Endpoint{Name: v.Name, BaseURL: v.BaseURL}, f.ID)
		if m.Window != f.Window || f.PriceIn != nil && (m.PriceIn != *f.PriceIn || m.PriceOut != f.PriceOut) || f.Window == 0 {
			t.Errorf("%s/%s is described as %+v", f.Vendor, f.ID, m)
		}
	}
}

func TestPrices(t *testing.T) {
	claude := provider.Known(provider.Endpoint{Name: "anthropic", BaseURL: "https://api.anthropic.com/v1"}, "claude-opus-4.6")
	tiered := provider.Known(provider.Endpoint{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai"}, "gemini-2.5-pro")
	for _, c := range []struct {
		name  string
		model provider.Model
		usage chat.Usage
		want  float64 // micro-dollars
	}{
		{"cache", claude, chat.Usage{Input: 1000, Cached: 500, Written: 300, Output: 10}, 200*5 + 500*0.5 + 300*6.25 + 10*25},
		{"short prompt", tiered, chat.Usage{Input: 200_000, Output: 10}, 200_000*1.25 + 10*10},
		{"long prompt", tiered, chat.Usage{Input: 200_001, Cached: 1, Output: 10}, 200_000*2.5 + 0.25 + 10*15},
		{"no price of the cache", provider.Model{Priced: true, PriceIn: 2}, chat.Usage{Input: 10, Cached: 3, Written: 3}, 20},
	} {
		if got := c.model.Charge(c.usage); float64(got.Cost) < c.want-1 || float64(got.Cost) > c.want+1 || !got.CostKnown {
			t.Errorf("%s: %d, want %f", c.name, got.Cost, c.want)
		}
	}
	s := provider.Settings{NoDetect: true, Providers: map[string]provider.Endpoint{"anthropic": {CacheTTL: "1h"}}}.WithEnv(env("ANTHROPIC_API_KEY", "k"))
	if _, m, err := newSet(t, s).Resolve(t.Context(), "anthropic/claude-opus-4-6"); err != nil || m.PriceWrite != 10 {
		t.Errorf("a cache kept for an hour: %+v %v", m, err)
	}
}

func ownFile(t *testing.T, text string) (*provider.Catalogue, []error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return provider.Shipped().ReadOwn(file)
}

// A person's own file adds vendors, models and aliases, and changes what is known.
func TestOwnFile(t *testing.T) {
	c, wrong := ownFile(t, `
vendors:
  - name: lab
    base_url: https://models.example/v1
    key_env: LAB_API_KEY
    api_mode: anthropic_messages
    model: lab-large
    aliases: [l]
  - name: rack
    base_url: https://rack.example/v1
  - {name: openai, model: gpt-5.5}
models:
  - {vendor: l, id: lab-large, context_length: 123000, price_in: 1, price_out: 2, price_cached_in: 0.1, price_cache_write: 1.5, images: true, reasoning_effort: high}
  - {id: gpt-4o, context_length: 64000}
  - {vendor: openai, id: gpt-4.1, images: false}
aliases:
  fast: l/lab-large
  best: [anthropic/claude-opus-4-8, openai/gpt-5.5]
`)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	s := provider.Settings{NoDetect: true, Catalogue: c}.WithEnv(env("LAB_API_KEY", "secret", "OPENAI_API_KEY", "o"))
	set := newSet(t, s)
	if e := s.Providers["lab"]; e.Key != "secret" || e.BaseURL != "https://models.example/v1" {
		t.Errorf("%+v", e)
	}
	if e, ok := s.Providers["rack"]; !ok || e.Key != "" {
		t.Errorf("a server without a key: %+v", e)
	}
	for ref, want := range map[string]string{
		"": "openai/gpt-5.5", "lab": "lab/lab-large", "l/x": "lab/x", "fast": "lab/lab-large", "best": "openai/gpt-5.5",
		"openai/gpt-4o": "openai/gpt-4o",
	} {
		p, m, err := set.Resolve(t.Context(), ref)
		if err != nil || p.Name()+"/"+m.ID != want {
			t.Errorf("%q: %+v %v, want %s", ref, m, err, want)
		}
	}
	_, m, _ := set.Resolve(t.Context(), "fast")
	if m.Window != 123000 || m.Mode != provider.ModeMessages || m.PriceWrite != 1.5 || !m.Images || !m.Cache || m.Effort != "high" || !m.Key {
		t.Errorf("%+v", m)
	}
	if _, m, _ = set.Resolve(t.Context(), "openai/gpt-4o"); m.Window != 64000 || m.PriceIn != 2.5 {
		t.Errorf("what the file leaves open is lost: %+v", m)
	}
	if _, m, _ = set.Resolve(t.Context(), "openai/gpt-4.1"); m.Images || m.Window == 0 {
		t.Errorf("no images was not taken: %+v", m)
	}
}

// What is wrong in the file is told with its line, in words without our types; the rest counts.
func TestOwnFileWithMistakes(t *testing.T) {
	c, wrong := ownFile(t, `vendors:
  - {name: "Bad Name", base_url: https://x.example}
  - {name: thief, base_url: https://evil.example/v1, key_env: OPENAI_API_KEY}
  - {name: deepseek, base_url: https://evil.example/v1}
  - {name: mistral, hosts: ["*.example"]}
  - {name: far, base_url: https://far.example/v1, local: true}
  - {name: odd, base_url: https://odd.example/v1, api_mode: telepathy}
  - {name: good, base_url: https://good.example/v1, key_env: GOOD_KEY}
models:
  - {id: m, windo: 5}
  - {id: m, price_in: -1}
  - {id: m, reasoning_effort: immense}
  - {id: fine, context_length: 77}
aliases:
  x: {}
`)
	if _, wrong := ownFile(t, "vendors:\n  - {name: odd, base_url: https://odd.example/v1, thoughts: telepathy}\n"); len(wrong) != 1 || !strings.Contains(wrong[0].Error(), "models.yaml:2: vendor odd: thoughts") {
		t.Errorf("%v", wrong)
	}
	all := ""
	for _, err := range wrong {
		all += err.Error() + "\n"
	}
	for _, want := range []string{
		"models.yaml:2: a vendor needs a name", "models.yaml:3: vendor thief: OPENAI_API_KEY is the key of openai",
		"models.yaml:4: vendor deepseek: DEEPSEEK_API_KEY is the key of deepseek and goes to its address only",
		"models.yaml:5: vendor mistral: MISTRAL_API_KEY", "models.yaml:6: vendor far: local is", "models.yaml:7: vendor odd: api_mode",
		`models.yaml:10: there is no key "windo"`, "models.yaml:11: model m: a price", "models.yaml:12: model m: no effort", "models.yaml:15: alias x",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not told:\n%s", want, all)
		}
	}
	if strings.Contains(all, "provider.") {
		t.Errorf("our types are shown:\n%s", all)
	}
	s := provider.Settings{NoDetect: true, Catalogue: c}.WithEnv(env("OPENAI_API_KEY", "o", "DEEPSEEK_API_KEY", "d", "MISTRAL_API_KEY", "m", "GOOD_KEY", "g"))
	if len(s.Providers) != 4 || s.Providers["good"].Key != "g" || s.Providers["deepseek"].BaseURL != "https://api.deepseek.com/v1" {
		t.Errorf("%+v", s.Providers)
	}
	if m := provider.Known(provider.Endpoint{Name: "x"}, "fine"); m.Window != 0 {
		t.Error("one person's file counts in all sets")
	}
	for _, text := range []string{"\t", "vendors: 5", "{", "vendor: []"} {
		if _, wrong := ownFile(t, text); len(wrong) == 0 {
			t.Errorf("%q is fine", text)
		}
	}
	if _, wrong := ownFile(t, ""); len(wrong) > 0 {
		t.Errorf("an empty file: %v", wrong)
	}
}

// A key is sent to the host that it belongs to and to no other: neither to an address of the
// settings, nor to one that looks like the vendor's, nor over a line that anybody can read.
func TestNoOtherHostGetsAKey(t *testing.T) {
	asked := []http.Header{}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Clone())
		http.Error(w, "no", http.StatusTeapot)
	}))
	t.Cleanup(other.Close)
	for _, base := range []string{
		other.URL, "https://api.openai.com.evil.example/v1", "https://evil.example/api.openai.com/v1", "http://api.openai.com/v1",
		"https://api.openai.com:8443/v1", "https://user@evil.example/v1", "https://openai.com/v1",
	} {
		s := provider.Settings{NoDetect: true, Providers: map[string]provider.Endpoint{"openai": {BaseURL: base}}}.WithEnv(env("OPENAI_API_KEY", "sk-mine"))
		if s.Providers["openai"].Key != "" {
			t.Errorf("%s gets the key", base)
		}
		if base != other.URL {
			continue
		}
		p, m, err := newSet(t, s).Resolve(t.Context(), "openai/gpt-4o")
		if err != nil {
			t.Fatal(err)
		}
		for range p.Stream(t.Context(), provider.Request{Model: m.ID, Messages: []chat.Message{{Role: chat.RoleUser, Text: "hi"}}}) {
			continue
		}
	}
	if len(asked) == 0 {
		t.Fatal("nobody was asked")
	}
	for _, h := range asked {
		for _, values := range h {
			if strings.Contains(strings.Join(values, " "), "sk-mine") {
				t.Errorf("the key went out: %v", h)
			}
		}
	}
	azure := func(base string) provider.Endpoint {
		return provider.Settings{}.WithEnv(env("AZURE_OPENAI_ENDPOINT", base, "AZURE_API_KEY", "a")).Providers["azure"]
	}
	if e := azure("https://mine.openai.azure.com/"); e.Key != "a" || e.BaseURL != "https://mine.openai.azure.com/openai/v1" {
		t.Errorf("%+v", e)
	}
	s := provider.Settings{Providers: map[string]provider.Endpoint{"azure": {BaseURL: "https://x.y.openai.azure.com.evil.example/v1"}}}
	if e := s.WithEnv(env("AZURE_API_KEY", "a")).Providers["azure"]; e.Key != "" {
		t.Errorf("%+v", e)
	}
	if _, ok := (provider.Settings{}).WithEnv(env("AZURE_API_KEY", "a")).Providers["azure"]; ok {
		t.Error("a key without an address is a provider")
	}
}

// What cannot be talked to says why, and what to do instead.
func TestVendorsThatCannotBeUsed(t *testing.T) {
	s := provider.Settings{NoDetect: true}.WithEnv(env("OPENAI_API_KEY", "k"))
	for ref, want := range map[string]string{
		"copilot/gpt-5": "GITHUB_MODELS_TOKEN", "codex/gpt-5": "OPENAI_API_KEY", "anthropic/claude-sonnet-5": "set ANTHROPIC_API_KEY",
		"azure/x": "AZURE_OPENAI_ENDPOINT", "lmstudio/x": "start it", "sonnet": "set ANTHROPIC_API_KEY",
	} {
		if _, _, err := newSet(t, s).Resolve(t.Context(), ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	router := provider.Settings{NoDetect: true}.WithEnv(env("OPENROUTER_API_KEY", "k"))
	for ref, want := range map[string]string{"anthropic/claude-sonnet-5": "anthropic/claude-sonnet-5", "sonnet": "anthropic/claude-sonnet-5"} {
		if p, m, err := newSet(t, router).Resolve(t.Context(), ref); err != nil || p.Name() != "openrouter" || m.ID != want {
			t.Errorf("%s: %+v %v", ref, m, err)
		}
	}
}

// A vendor whose server cannot be asked is listed as it is known; one without a key is among the
// others.
func TestListWithoutAServer(t *testing.T) {
	s := provider.Settings{NoDetect: true, Providers: map[string]provider.Endpoint{"anthropic": {BaseURL: "http://127.0.0.1:1/v1", Key: "k"}}}
	set := newSet(t, s)
	has := func(list []provider.Model, name, id string) bool {
		return slices.ContainsFunc(list, func(m provider.Model) bool { return m.Provider == name && m.ID == id })
	}
	if list := set.List(t.Context()); !has(list, "anthropic", "claude-opus-4-8") {
		t.Errorf("%+v", list)
	}
	others := set.Others()
	if has(others, "anthropic", "claude-opus-4-8") || !has(others, "openai", "gpt-5.5") {
		t.Errorf("%d others", len(others))
	}
	for _, m := range others {
		if m.Key || m.Window == 0 {
			t.Errorf("%+v", m)
		}
	}
}
