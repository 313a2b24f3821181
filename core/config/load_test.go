package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
)

// home makes a home folder with the given files and returns options that look only at it.
func home(t *testing.T, files map[string]string, env ...string) Options {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Home: dir, Env: env}
}

func texts(problems []Problem) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

func TestDefaultsWithoutAnyFile(t *testing.T) {
	o := home(t, nil)
	c, problems := Load(o)
	if len(problems) != 0 {
		t.Fatalf("problems without a file: %v", problems)
	}
	if c.Agent.MaxTurns != 90 || c.Terminal.Timeout != 180*time.Second || c.Approvals.Mode != "manual" {
		t.Errorf("defaults: %+v %+v %+v", c.Agent, c.Terminal, c.Approvals)
	}
	if got := c.Paths().DB; got != filepath.Join(o.Home, "workbench.db") {
		t.Errorf("database %s", got)
	}
	if entries, _ := os.ReadDir(o.Home); len(entries) != 0 {
		t.Errorf("Load made files: %v", entries)
	}
}

func TestProblemsSayWhereWhatWhyAndFix(t *testing.T) {
	const all = "no command runs, no script runs, no skill is used, no tool of the agent runs, the file tools write nothing, the web tools read nothing, 24 settings have their strictest value"
	for _, tc := range []struct{ name, yaml, want string }{
		{"misspelt key", "# hello\nmodek: gpt-5\n", `config.yaml:2:1: unknown key "modek": did you mean "model"?`},
		{"misspelt below", "agent:\n  max_turn: 3\n", `config.yaml:2:3: unknown key "max_turn": did you mean "max_turns"?`},
		{"wrong section", "display:\n  api_max_retries: 5\n", `config.yaml:2:3: unknown key "api_max_retries": it belongs under agent: agent.api_max_retries`},
		{"no idea", "zzzzqqqq: 1\n", "config.yaml:1:1: unknown key \"zzzzqqqq\": `hermes config show --all` lists every key"},
		{"text for number", "agent: {max_turns: many}\n", `config.yaml:1:20: expected a whole number, found "many": write it in digits, for example 10`},
		{"quoted number", "agent:\n  api_max_retries: \"3\"\n", `config.yaml:2:20: expected a whole number, found the text "3": write it without quotes`},
		{"too large", "agent:\n  api_max_retries: 99\n", `config.yaml:2:20: out of range: "99": write a number from 0 to 20`},
		{"choice", "approvals:\n  mode: manuel\n", `config.yaml:2:9: not one of the choices: "manuel": did you mean "manual"?; until it is mended approvals.mode is manual`},
		{"choices", "display:\n  busy_input_mode: x\n", `config.yaml:2:20: not one of the choices: "x": write one of interrupt, queue, steer`},
		{"mapping for text", "display:\n  theme: {a: b}\n", `config.yaml:2:10: expected one value (text) for display.theme, found a mapping`},
		{"list for mapping", "agent: [1]\n", `config.yaml:1:8: expected keys below agent, found a list`},
		{"mapping for list", "toolsets: {a: 1}\n", `config.yaml:1:11: expected a list for toolsets, found a mapping: write - item lines, or [a, b]; until it is mended no tool of the agent runs`},
		{"bool for text", "display:\n  theme: true\n", `config.yaml:2:10: expected text, found "true": write it in quotes: "true"`},
		{"bad duration", "terminal:\n  timeout: soon\n", `config.yaml:2:12: expected a length of time, found "soon": write seconds (90) or a number with a unit (90s, 30m, 2h)`},
		{"zero duration", "terminal:\n  timeout: 0\n", `config.yaml:2:12: too small: "0": the least is 1 seconds`},
		{"bad address", "model:\n  base_url: localhost:11434\n", `config.yaml:2:13: not a web address: "localhost:11434": write it with http:// or https://, for example http://localhost:11434/v1`},
		{"twice", "model: a\nmodel: b\n", `config.yaml:2:1: written twice: "model": keep one; the other is in line 1`},
		{"tab", "agent:\n\tmax_turns: 3\n", `config.yaml:2:1: a tab indents this line "max_turns: 3": use spaces`},
		{"colon", "model: a: b\n", `config.yaml:1: cannot be understood "model: a: b": put a text that holds a colon in quotes, and check the indentation`},
		{"unclosed", "toolsets: [a, b\n", `config.yaml:1: cannot be understood "toolsets: [a, b": a quote or a bracket is not closed; until it is mended no tool of the agent runs`},
		{"scalar file", "hello\n", `config.yaml:1:1: expected lines like key: value, found the value "hello"; until it is mended ` + all},
		{"list file", "- a\n", `config.yaml:1:1: expected lines like key: value, found a list; until it is mended ` + all},
		{"not utf-8", "model: caf\xe9\n", "config.yaml:1:11: not UTF-8 text: \"\\xe9\": save the file as UTF-8"},
		{"utf-16", "\xff\xfem\x00", `config.yaml:1:1: is UTF-16 text: save it as UTF-8; until it is mended ` + all},
		{"second document", "model: a\n---\nmodel: b\n", `config.yaml:2:1: more follows after a line ---: keep one document; the first one counts; until it is mended ` + all},
		{"back end", "terminal:\n  backend: dokcer\n", `config.yaml:2:12: no such back end: "dokcer": did you mean "docker"?`},
		{"back end name", "terminal:\n  backends:\n    Big Box: {image: x}\n", `config.yaml:3:5: not a name for a back end: "Big Box": use up to 32 of a-z, 0-9, dash and underscore; until it is mended no command runs`},
		{"empty", " \n\n", `config.yaml: is empty: write the settings again, or remove the file if there are to be none; until it is mended ` + all},
		{"complex key", "? [a]\n: b\n", `config.yaml:1:3: a key must be plain text; until it is mended ` + all},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, problems := Load(home(t, map[string]string{"config.yaml": tc.yaml}))
			if got := texts(problems); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if c == nil || c.Agent.MaxTurns != 90 {
				t.Error("the defaults are not in place")
			}
		})
	}
}

func TestFilesThatAreFine(t *testing.T) {
	for name, text := range map[string]string{
		"comment": "# nothing\n", "bom": "\ufeffmodel: a\n", "crlf": "model: a\r\nagent:\r\n  max_turns: 3\r\n",
		"null": "~\n", "null section": "agent:\n", "python bookkeeping": "_config_version: 50\n",
		"merge": "a: &x\nagent:\n  max_turns: 3\n",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "merge" {
				text = "_base: &base {max_turns: 3}\nagent:\n  <<: *base\n"
			}
			c, problems := Load(home(t, map[string]string{"config.yaml": text}))
			if len(problems) != 0 {
				t.Errorf("problems: %s", texts(problems))
			}
			if name == "merge" && c.Agent.MaxTurns != 3 {
				t.Error("<< was not followed")
			}
		})
	}
}

func TestGoodKeysOfABrokenFileStillCount(t *testing.T) {
	c, problems := Load(home(t, map[string]string{"config.yaml": `
model: mine
agent:
  max_turns: 12
   api_max_retries: 1
display:
  theme: dusk
`}))
	if len(problems) != 1 || problems[0].Line != 5 && problems[0].Line != 4 {
		t.Errorf("problems: %s", texts(problems))
	}
	if c.Model.Default != "mine" || c.Display.Theme != "dusk" {
		t.Errorf("lost good keys: %+v %+v", c.Model, c.Display)
	}
	if c.Origin("display.theme") != "config.yaml:7" {
		t.Errorf("origin %q", c.Origin("display.theme"))
	}
}

func TestModelAsTextAndAsMapping(t *testing.T) {
	for _, tc := range []struct{ yaml, model, provider, url string }{
		{"model: anthropic/opus\n", "anthropic/opus", "", ""},
		{"model:\n  default: gpt-5\n  provider: openai\n  base_url: https://example.com/v1\n", "gpt-5", "openai", "https://example.com/v1"},
		{"model:\n  model: gpt-5\n", "gpt-5", "", ""},
		{"model: ''\n", "", "", ""},
		{"model: 4\n", "4", "", ""},
	} {
		c, problems := Load(home(t, map[string]string{"config.yaml": tc.yaml}))
		if len(problems) > 0 || c.Model.Default != tc.model || c.Model.Provider != tc.provider || c.Model.BaseURL != tc.url {
			t.Errorf("%q: %+v %s", tc.yaml, c.Model, texts(problems))
		}
	}
}

func TestPrecedence(t *testing.T) {
	files := map[string]string{
		".env":        "HERMES_MODEL=from-dotenv\nHERMES_AGENT_MAX_TURNS=1\nTERMINAL_TIMEOUT=11\nHERMES_DISPLAY_LANGUAGE=fr\n",
		"config.yaml": "model: from-file\nagent:\n  max_turns: 2\nterminal:\n  timeout: 22\n",
	}
	o := home(t, files, "TERMINAL_TIMEOUT=33", "HERMES_AGENT_MAX_TURNS=3", "HERMES_TOOLSETS=a, b")
	o.Flags = map[string]string{"agent.max_turns": "4"}
	c, problems := Load(o)
	if len(problems) != 0 {
		t.Fatal(texts(problems))
	}
	if c.Model.Default != "from-file" || c.Terminal.Timeout != 33*time.Second || c.Agent.MaxTurns != 4 || c.Display.Language != "fr" {
		t.Errorf("model %q timeout %v turns %d language %q", c.Model.Default, c.Terminal.Timeout, c.Agent.MaxTurns, c.Display.Language)
	}
	if len(c.Toolsets) != 2 || c.Toolsets[1] != "b" {
		t.Errorf("toolsets %q", c.Toolsets)
	}
	for key, want := range map[string]string{
		"model.default": "config.yaml:1", "agent.max_turns": "flags", "terminal.timeout": "environment",
		"display.language": ".env", "display.theme": "default",
	} {
		if got := c.Origin(key); got != want {
			t.Errorf("origin of %s: %q, want %q", key, got, want)
		}
	}
}

func TestVariablesAndFlagsAreCheckedToo(t *testing.T) {
	o := home(t, nil, "HERMES_APPROVALS_MODE=never")
	o.Flags = map[string]string{"modle.default": "x"}
	_, problems := Load(o)
	want := "environment: not one of the choices: \"HERMES_APPROVALS_MODE=never\": write one of manual, smart, off, plan; until it is mended approvals.mode is manual\n"
	if got := texts(problems); !strings.HasPrefix(got, want) || !strings.Contains(got, "flags: unknown key") {
		t.Errorf("got %s", got)
	}
}

func TestSecretsComeFromDotenvAndStayOut(t *testing.T) {
	o := home(t, map[string]string{
		".env":        "OPENAI_API_KEY='sk-from-dotenv-$HOME'\nEMPTY=\n",
		"config.yaml": "providers:\n  mine:\n    base_url: https://example.com\n    api_key: ${OPENAI_API_KEY}\n    models: [a, gpt-4.1]\n  other:\n    api_key: ${NOT_SET}\n",
	}, "EMPTY=")
	c, problems := Load(o)
	if len(problems) != 0 {
		t.Fatal(texts(problems))
	}
	if v, _ := c.Secret("OPENAI_API_KEY"); v != "sk-from-dotenv-$HOME" {
		t.Errorf("secret %q", v)
	}
	if _, ok := os.LookupEnv("OPENAI_API_KEY"); ok {
		t.Error("the secret was put into the environment")
	}
	if c.Providers["mine"].APIKey != "sk-from-dotenv-$HOME" || c.Providers["other"].APIKey != "${NOT_SET}" {
		t.Errorf("substitution: %+v", c.Providers)
	}
	if len(c.Providers["mine"].Models) != 2 {
		t.Errorf("models %v", c.Providers["mine"].Models)
	}
	for _, v := range c.Values() {
		if strings.Contains(v.Value, "sk-") {
			t.Errorf("%s shows the secret", v.Key)
		}
	}
	if got := strings.Join(c.Secrets(), " "); !strings.Contains(got, "sk-from-dotenv") {
		t.Error("Secrets does not list it")
	}
}

func TestVariablesOfBackEndsAreSecretsByTheirName(t *testing.T) {
	c, problems := Load(home(t, map[string]string{
		"config.yaml": "terminal:\n  docker_env: {STAGE: production-like, API_TOKEN: tok-of-the-default}\n  backends:\n" +
			"    browser: {image: x, env: {CHROMIUM_FLAGS: --no-sandbox, DB: \"${DB_FROM}\", MY_PASSWORD: pass-of-browser}}\n",
		".env": "DB_FROM=value-from-dotenv\n",
	}))
	if len(problems) > 0 {
		t.Fatal(texts(problems))
	}
	got := " " + strings.Join(c.Secrets(), " ") + " "
	for value, want := range map[string]bool{"production-like": false, "--no-sandbox": false, "tok-of-the-default": true, "pass-of-browser": true, "value-from-dotenv": true} {
		if strings.Contains(got, " "+value+" ") != want {
			t.Errorf("%s is a secret: %v", value, !want)
		}
	}
}

func TestOneBadDotenvLineCostsThatLineOnly(t *testing.T) {
	c, problems := Load(home(t, map[string]string{".env": "GOOD=1\nthis is not right\nALSO=2\n"}))
	if got := texts(problems); got != `.env:2:1: not a NAME=value line: "this is not right": quote a value that holds spaces, # or quotes` {
		t.Error(got)
	}
	if v, ok := c.Secret("ALSO"); !ok || v != "2" {
		t.Error("lost the line after it")
	}
}

func TestProfiles(t *testing.T) {
	o := home(t, map[string]string{"config.yaml": "model: base\n", "profiles/work/config.yaml": "model: work\n"})
	o.Profile = "work"
	if c, _ := Load(o); c.Model.Default != "work" || filepath.Base(c.Paths().Home) != "work" {
		t.Errorf("model %q in %s", c.Model.Default, c.Paths().Home)
	}
	o.Profile = "../../etc"
	if _, problems := Load(o); !strings.Contains(texts(problems), "profile") {
		t.Errorf("a profile outside of the home: %s", texts(problems))
	}
	o.Profile = "default"
	if c, _ := Load(o); c.Model.Default != "base" {
		t.Error("default is not the home itself")
	}
}

func TestOddFiles(t *testing.T) {
	t.Run("folder", func(t *testing.T) {
		o := home(t, map[string]string{"config.yaml/x": ""})
		if _, p := Load(o); len(p) != 1 || p[0].Why != "is a folder, not a file" {
			t.Error(texts(p))
		}
	})
	t.Run("too large", func(t *testing.T) {
		o := home(t, map[string]string{"config.yaml": strings.Repeat("# a comment line\n", 10<<20/17)})
		if _, p := Load(o); len(p) != 1 || !strings.HasPrefix(p[0].Why, "is too large") {
			t.Error(texts(p))
		}
	})
	t.Run("aliases multiply", func(t *testing.T) {
		var b strings.Builder
		b.WriteString("x0: &x0 {max_turns: 1}\n")
		for i := 1; i < 30; i++ {
			b.WriteString("x" + itoa(i) + ": &x" + itoa(i) + " {<<: [")
			b.WriteString(strings.Repeat("*x"+itoa(i-1)+", ", 9) + "*x" + itoa(i-1) + "]}\n")
		}
		b.WriteString("agent: *x29\n")
		start := time.Now()
		_, p := Load(home(t, map[string]string{"config.yaml": b.String()}))
		if took := time.Since(start); took > testwait.Within(5*time.Second) {
			t.Errorf("took %v", took)
		}
		if len(p) == 0 || len(p) > maxProblems+1 {
			t.Errorf("%d problems", len(p))
		}
	})
	t.Run("alias in itself", func(t *testing.T) {
		_, p := Load(home(t, map[string]string{"config.yaml": "agent: &a\n  <<: *a\n  max_turns: 3\ntoolsets: &t [*t]\n"}))
		if len(p) > maxProblems+1 {
			t.Errorf("%d problems", len(p))
		}
	})
}

func itoa(n int) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }

func TestPythonKeysAreAccepted(t *testing.T) {
	_, problems := Load(home(t, map[string]string{"config.yaml": `
_config_version: 50
model: {default: x, api_mode: chat_completions}
fallback_providers: []
agent: {max_turns: null, verify_on_stop: auto, gateway_timeout: 1800, clarify_timeout: 3600}
terminal: {backend: docker, lifetime_seconds: 300, docker_volumes: [], container_cpu: 1, persistent_shell: true, home_mode: auto}
code_execution: {mode: project, timeout: 300, max_tool_calls: 50}
context_file_max_chars: null
compression: {enabled: true, in_place: true, tail_mode: lean}
memory: {memory_enabled: true}
approvals: {mode: off, timeout: 60, cron_mode: deny}
security: {redact_secrets: true, website_blocklist: {enabled: true, domains: [a.example], shared_files: []}}
web: {backend: firecrawl, search_backend: brave-free, extract_backend: tavily}
mcp_servers: {a: {command: b}}
display: {interface: cli, skin: default, streaming: false, tui_status_indicator: kaomoji, mouse_tracking: all}
paste_collapse_threshold: 7
gateway: {x: 1}
cron: {}
logging: {level: INFO}
timezone: ''
`}))
	if len(problems) != 0 {
		t.Error(texts(problems))
	}
}

func TestSchemaIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Schema() {
		if k.Doc == "" {
			t.Errorf("%s has no description", k.Name)
		}
		if seen[k.Name] {
			t.Errorf("%s twice", k.Name)
		}
		seen[k.Name] = true
		if k.Type == "text" && len(k.Choices) > 0 && !slices.Contains(k.Choices, k.Default) {
			t.Errorf("%s is %q by default, which is none of %q", k.Name, k.Default, k.Choices)
		}
	}
	for from, to := range moved {
		if _, _, ok := resolveKey(configType, to); !ok {
			t.Errorf("%s is moved to %s, which is no key", from, to)
		}
	}
	for name, key := range special {
		if !seen[key] {
			t.Errorf("%s sets %s, which is no key", name, key)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"model: a\n", "agent:\n\tx: 1\n", "a: &a [*a]\nagent: *a\n", "? {}\n: x\n", "terminal: {backends: {a: b, c: {image: x}}}\n",
		"keys: {a.b: [c, d], e: f}\n", "\xff\xfe", "%YAML 1.1\n---\n", "a: !!binary x\n", "agent: {<<: 1}\n", "x: \"${HOME}\"", "\r\r\r", "- - - -", "providers: {a: {models: {b: 1}}}",
		"model: &x {default: *x}", "toolsets: |\n  a\n", "key: 'a\n", "\u2028: a",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Defaults()
		c.env = newEnvironment([]string{"HOME=/x"})
		c.places = map[string]place{}
		text, _ := decodeText(data, "config.yaml")
		p := parse("config.yaml", text)
		problems := p.problems
		for _, root := range p.roots {
			problems = append(problems, c.addLayer("config.yaml", func(d *decoder) { d.decodeSection(d.root, root, "") })...)
		}
		lines := 1 + strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + strings.Count(string(text), "\u2028") +
			strings.Count(string(text), "\u2029") + strings.Count(string(text), "\u0085")
		for _, p := range problems {
			if p.Why == "" || p.Line > lines {
				t.Errorf("problem %q in a text of %d lines", p, lines)
			}
		}
		for _, v := range c.Values() {
			if v.Key == "" {
				t.Error("a value without a key")
			}
		}
	})
}

// Load is on the way to the first frame.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	text := "model: a/b\nagent: {max_turns: 5}\nterminal: {backends: {x: {image: y}}}\ndisplay: {theme: dusk}\n"
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	o := Options{Home: dir, Env: []string{"PATH=/bin", "HERMES_DISPLAY_LANGUAGE=de"}}
	for b.Loop() {
		Load(o)
	}
}
