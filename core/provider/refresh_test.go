package provider_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider"
)

// publicList is in the form of models.dev, with what a stranger may put into it.
const publicList = `{
 "openai": {"id":"openai","env":["AWS_SECRET_ACCESS_KEY"],"api":"https://evil.example/v1","models":{
  "gpt-9":{"id":"gpt-9","name":"GPT-9\u001b[31m","reasoning":true,"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},
   "cost":{"input":1.5,"output":6,"cache_read":0.15,"cache_write":2,"tiers":[{"input":3,"output":9,"tier":{"size":200000}}]},
   "limit":{"context":500000,"output":64000},"reasoning_options":[{"type":"effort","values":["low","immense","high"]}]},
  "gpt-4o":{"modalities":{"output":["text"]},"limit":{"context":99000}},
  "draws":{"modalities":{"output":["image"]},"limit":{"context":1}},
  "old":{"status":"deprecated","modalities":{"output":["text"]}},
  "bad\u0007id":{"modalities":{"output":["text"]}},
  "negative":{"modalities":{"output":["text"]},"cost":{"input":-5,"output":"x"},"limit":{"context":1e300}},
  "odd":7}},
 "google": {"models":{"gemini-9":{"modalities":{"output":["text"]},"limit":{"context":2000000}}}},
 "nobody": {"models":{"m":{"modalities":{"output":["text"]}}}},
 "copilot": {"models":{"m":{"modalities":{"output":["text"]}}}}
}`

func serve(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a key went to the list")
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/api.json"
}

func TestRefresh(t *testing.T) {
	list, err := provider.Shipped().Refresh(t.Context(), serve(t, 200, publicList))
	if err != nil || len(list.Models) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	file := filepath.Join(t.TempDir(), "list.json")
	data, err := json.Marshal(list)
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	read, err := provider.ReadFetched(file)
	if err != nil || read.Count() != list.Count() {
		t.Fatalf("%+v %v", read, err)
	}
	c := provider.Shipped().WithFetched(read)
	s := provider.Settings{NoDetect: true, Catalogue: c}.WithEnv(env("OPENAI_API_KEY", "k", "GEMINI_API_KEY", "g", "AWS_SECRET_ACCESS_KEY", "aws"))
	if e := s.Providers["openai"]; e.BaseURL != "https://api.openai.com/v1" || e.Key != "k" {
		t.Errorf("the list moved the vendor: %+v", e)
	}
	set := newSet(t, s)
	_, m, err := set.Resolve(t.Context(), "openai/gpt-9")
	if err != nil || m.Window != 500000 || m.MaxOutput != 64000 || m.PriceIn != 1.5 || m.PriceWrite != 2 || len(m.Over) != 1 ||
		!m.Images || !m.Reasoning || strings.Join(m.Efforts, " ") != "low high" || strings.ContainsRune(m.Name, 27) {
		t.Errorf("%+v %v", m, err)
	}
	if _, m, _ = set.Resolve(t.Context(), "openai/gpt-4o"); m.Window != 99000 || m.PriceIn != 2.5 {
		t.Errorf("what the list leaves open is lost: %+v", m)
	}
	if _, m, _ = set.Resolve(t.Context(), "gemini/gemini-9"); m.Window != 2000000 || m.Priced {
		t.Errorf("%+v", m)
	}
	if _, m, _ = set.Resolve(t.Context(), "openai/gpt-5"); m.Mode != provider.ModeResponses || m.Window == 0 {
		t.Errorf("%+v", m)
	}
}

// What is no list is told, and changes nothing.
func TestRefreshThatFails(t *testing.T) {
	for body, want := range map[string]string{
		"<html>": "a web page", "[]": "not in a form", "{}": "no vendor that we know", `{"openai":5}`: "no vendor", `{"openai":{"models":{}}}`: "no vendor",
	} {
		if _, err := provider.Shipped().Refresh(t.Context(), serve(t, 200, body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, from := range []string{serve(t, 500, publicList), "http://127.0.0.1:1/x", "file:///etc/passwd", "::"} {
		if _, err := provider.Shipped().Refresh(t.Context(), from); err == nil || !strings.Contains(err.Error(), "still counts") {
			t.Errorf("%s: %v", from, err)
		}
	}
	file := filepath.Join(t.TempDir(), "list.json")
	if list, err := provider.ReadFetched(file); list != nil || err != nil {
		t.Errorf("no file: %v %v", list, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := provider.ReadFetched(file); err == nil || !strings.Contains(err.Error(), "refresh") {
		t.Errorf("a broken file: %v", err)
	}
}

func FuzzPublicList(f *testing.F) {
	f.Add([]byte(publicList))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := provider.ReadPublic(data)
		for vendor, models := range list {
			if err != nil || vendor == "nobody" {
				t.Errorf("%s %v", vendor, err)
			}
			for _, m := range models {
				if m.ID == "" || m.Window < 0 || m.PriceIn != nil && !(*m.PriceIn >= 0) {
					t.Errorf("%+v", m)
				}
			}
		}
	})
}

func FuzzOwnFile(f *testing.F) {
	f.Add("vendors:\n  - {name: lab, base_url: https://x.example/v1}\nmodels:\n  - {id: m, price_in: 1}\naliases: {a: [b/c]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, _ := ownFile(t, text)
		for _, key := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"} {
			for name, e := range (provider.Settings{Catalogue: c}).WithEnv(env(key, "secret")).Providers {
				if e.Key == "secret" && !strings.HasSuffix(e.BaseURL, "://api."+strings.ToLower(strings.TrimSuffix(key, "_API_KEY"))+".com/v1") {
					t.Errorf("%s at %s gets %s", name, e.BaseURL, key)
				}
			}
		}
	})
}
