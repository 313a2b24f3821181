package connect_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/config"
	"hermes/core/connect"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
)

var kinds = map[string]provider.Maker{openai.Kind: openai.Make, responses.Kind: responses.Make, anthropic.Kind: anthropic.Make}

// speaks is a server that knows one format only.
func speaks(t *testing.T, path string) (address string) {
	t.Helper()
	all, err := url.Parse(modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Hi."}}, Loop: true}).URL)
	if err != nil {
		t.Fatal(err)
	}
	all.Path = ""
	to := httputil.NewSingleHostReverseProxy(all)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, path) {
			http.NotFound(w, r)
			return
		}
		to.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// A server of one's own is tried until it answers, and its format is written down with its address
// and the variable of its key.
func TestTheFormatOfOnesOwnServerIsFoundOut(t *testing.T) {
	for path, mode := range map[string]string{"/chat/completions": "", "/messages": provider.ModeMessages, "/responses": provider.ModeResponses} {
		home := t.TempDir()
		cfg, problems := config.Load(config.Options{Home: home, Env: []string{"HOME=" + home}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		c := connect.Choice{Server: connect.Server{Name: "lab", BaseURL: speaks(t, path), KeyEnv: connect.KeyName("lab"), Own: true}, Key: "sk-lab-1", Model: "m"}
		if err := c.Try(t.Context(), cfg, kinds); err != nil || c.Server.Mode != mode {
			t.Fatalf("%s: %q, %v", path, c.Server.Mode, err)
		}
		if err := c.Save(cfg); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(home, "config.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		said := string(data)
		if !strings.Contains(said, "base_url: "+c.Server.BaseURL) || !strings.Contains(said, "key_env: LAB_API_KEY") || strings.Contains(said, "sk-lab") ||
			(mode != "") != strings.Contains(said, "api_mode: "+mode) {
			t.Errorf("%s", said)
		}
	}
}

func TestNamesOfOnesOwnServers(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.lab.example/v1": "lab", "https://models.example/v1": "models", "http://127.0.0.1:8000/v1": "custom",
		"http://localhost:9/v1": "custom", "https://api.openai.com/v1": "custom", "http://gpu-box:8000": "gpu-box", "https://[::1]/": "custom", "": "custom",
	} {
		if got := connect.OwnName(address, nil); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	for _, name := range []string{"", "openai", "Lab", "a b", "a.b", "-a", "offline", "moonshot", "dashscope", "glm", "azure", "copilot", "custom" + strings.Repeat("k", 40)} {
		if (connect.Choice{Server: connect.Server{Name: name}}).CheckName(nil) == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
}

// No server of one's own gets what a vendor's variable holds, whatever it is called.
func TestNoServerOfOnesOwnGetsTheKeyOfAVendor(t *testing.T) {
	home := t.TempDir()
	cfg := load(t, home, "providers:\n  moonshot:\n    base_url: https://models.example/v1\n", "MOONSHOT_API_KEY=sk-vendor-1")
	for _, s := range connect.Servers(cfg) {
		if s.Name == "moonshot" && (s.HasKey || connect.Key(cfg, s) != "") {
			t.Errorf("%+v gets the key of the vendor", s)
		}
	}
	for _, name := range provider.Shipped().KeyNames() {
		own, ok := strings.CutSuffix(name, "_API_KEY")
		if own = strings.ToLower(strings.ReplaceAll(own, "_", "-")); !ok {
			continue
		}
		if connect.KeyName(own) == name || (connect.Choice{Server: connect.Server{Name: own}}).CheckName(nil) == nil {
			t.Errorf("a server called %q gets %s", own, name)
		}
	}
}

// A key that is exported under the name of the server is the one that it was tried with: the
// settings name it, too.
func TestAnExportedKeyIsWrittenDownByItsName(t *testing.T) {
	home := t.TempDir()
	cfg := load(t, home, plain, "LAB_API_KEY=sk-lab-1")
	lab := connect.Server{Name: "lab", BaseURL: "https://models.example/v1", KeyEnv: connect.KeyName("lab"), Own: true}
	c := connect.Choice{Server: lab, Model: "m"}
	if err := c.Save(cfg); err != nil {
		t.Fatal(err)
	}
	cfg, _ = config.Load(config.Options{Home: home, Env: []string{"HOME=" + home}})
	if got := cfg.Providers["lab"].KeyEnv; got != "LAB_API_KEY" {
		t.Errorf("key_env is %q", got)
	}
	c = connect.Choice{Server: connect.Server{Name: connect.Custom, BaseURL: lab.BaseURL, Own: true}}
	if err := c.Call("lab", load(t, t.TempDir(), plain, "LAB_API_KEY=sk-lab-1")); err != nil || !c.Server.HasKey || c.Server.KeyEnv != "LAB_API_KEY" {
		t.Errorf("%+v, %v", c.Server, err)
	}
}

// plain are settings without a server.
const plain = "display:\n  theme: default\n"

// load are the settings of a home.
func load(t *testing.T, home, settings string, env ...string) *config.Config {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(config.Options{Home: home, Env: append(env, "HOME="+home)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

// A second server without a name of its own leaves the first alone, and gets none of its headers.
func TestASecondServerDoesNotTakeThePlaceOfTheFirst(t *testing.T) {
	var token string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		token += r.Header.Get("X-Token") + r.Header.Get("Authorization")
	}))
	defer s.Close()
	cfg := load(t, t.TempDir(), "providers:\n  custom:\n    base_url: http://127.0.0.1:1/v1\n    api_key: sk-first-1\n    extra_headers:\n      X-Token: abc\n")
	if got := connect.OwnName(s.URL, cfg) + connect.OwnName("http://127.0.0.1:1/v1/", cfg); got != "custom-2custom" {
		t.Error(got)
	}
	c := connect.Choice{Server: connect.Server{Name: connect.Custom, BaseURL: s.URL, Own: true, Mode: provider.ModeChat}, Model: "m"}
	if c.CheckName(cfg) == nil {
		t.Error("the name of another server is taken")
	}
	_ = c.Try(t.Context(), cfg, kinds)
	if token != "" {
		t.Errorf("another address got %q", token)
	}
	if err := c.Move("http://127.0.0.1:2/v1/"); err != nil || c.Server.Mode != "" || c.Server.BaseURL != "http://127.0.0.1:2/v1" {
		t.Errorf("%+v, %v", c, err)
	}
}
