package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSetKeepsTheRestOfTheFile(t *testing.T) {
	for _, tc := range []struct{ name, before, key, value, after string }{
		{"no file", "", "model", "gpt-5", "model:\n  default: gpt-5\n"},
		{"no file, deep", "", "agent.max_turns", "5", "agent:\n  max_turns: 5\n"},
		{
			"plain, with comments", "# mine\nmodel: a # keep\n\n# turns\nagent:\n\n  max_turns: 3   # few\n", "agent.max_turns", "5",
			"# mine\nmodel: a # keep\n\n# turns\nagent:\n\n  max_turns: 5   # few\n",
		},
		{"model as text", "model: a # keep\nagent: {}\n", "model.default", "b", "model: b # keep\nagent: {}\n"},
		{"model by its short key", "model: a\n", "model", "b/c", "model: b/c\n"},
		{"model becomes a mapping", "model: a\ntoolsets: [x]\n", "model.provider", "p", "model:\n  default: a\n  provider: p\ntoolsets: [x]\n"},
		{"quoted", "display:\n  theme: \"a b\"\n", "display.theme", "c", "display:\n  theme: c\n"},
		{"single quoted", "display:\n  theme: 'it''s' # x\n", "display.theme", "c", "display:\n  theme: c # x\n"},
		{"other spelling", "display:\n  skin: a\n", "display.theme", "b", "display:\n  skin: b\n"},
		{"needs quotes", "display:\n  theme: a\n", "display.theme", "yes: no", "display:\n  theme: 'yes: no'\n"},
		{"null value", "display:\n  theme:\n", "display.theme", "b", "display:\n  theme: b\n"},
		{"null section", "display:\nagent:\n  max_turns: 1\n", "display.theme", "b", "display:\n  theme: b\nagent:\n  max_turns: 1\n"},
		{"added below", "agent:\n  max_turns: 1\n\n# next\ndisplay:\n  theme: x\n", "agent.api_max_retries", "2", "agent:\n  max_turns: 1\n  api_max_retries: 2\n\n# next\ndisplay:\n  theme: x\n"},
		{"added with four spaces", "agent:\n    max_turns: 1\n", "agent.api_max_retries", "2", "agent:\n    max_turns: 1\n    api_max_retries: 2\n"},
		{"no line break at the end", "model: a", "agent.max_turns", "2", "model: a\nagent:\n  max_turns: 2\n"},
		{"crlf", "model: a\r\nagent:\r\n  max_turns: 1\r\n", "agent.max_turns", "2", "model: a\r\nagent:\r\n  max_turns: 2\r\n"},
		{"list", "toolsets: [a]\n", "toolsets", "a, b", "toolsets: [a, b]\n"},
		{"map with dots", "", "keys.conversation.send", "ctrl+s", "keys:\n  conversation.send: [ctrl+s]\n"},
		{"boolean", "display: {}\n", "display.ascii", "yes", "display: {ascii: yes}\n"},
		{"after literal text", "agent:\n  system_prompt: |\n    one\n    two\n", "agent.max_turns", "1", "agent:\n  system_prompt: |\n    one\n    two\n  max_turns: 1\n"},
		{"block list", "toolsets:\n  - a\n  - b\nmodel: x\n", "toolsets", "c", "toolsets: [c]\nmodel: x\n"},
		{"python's key", "gateway: {a: 1}\nmodel: x\n", "model", "y", "gateway: {a: 1}\nmodel: y\n"},
		{"wide characters before", "model: {provider: \"日本\", default: a}\n", "model.default", "b", "model: {provider: \"日本\", default: b}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := map[string]string{}
			if tc.before != "" {
				files["config.yaml"] = tc.before
			}
			o := home(t, files)
			paths, err := o.Paths()
			if err != nil {
				t.Fatal(err)
			}
			if err := Set(paths, tc.key, tc.value); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(paths.ConfigFile)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.after {
				t.Errorf("got\n%s\nwant\n%s", got, tc.after)
			}
			if info, _ := os.Stat(paths.ConfigFile); info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
			if _, problems := Load(o); len(problems) > 0 {
				t.Error(texts(problems))
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	for _, tc := range []struct{ name, before, key, value, want string }{
		{"unknown", "", "agent.max_turn", "3", `did you mean "agent.max_turns"`},
		{"bad value", "", "agent.max_turns", "many", "expected a whole number"},
		{"broken file", "model: [a\n", "agent.max_turns", "3", "repair it"},
		{"secret", "", "model.api_key", "sk-1", ".env"},
		{"bad choice", "", "approvals.mode", "never", "write one of manual, smart, off"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := home(t, map[string]string{"config.yaml": tc.before})
			paths, _ := o.Paths()
			err := Set(paths, tc.key, tc.value)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if got, _ := os.ReadFile(paths.ConfigFile); string(got) != tc.before {
				t.Errorf("the file changed: %q", got)
			}
		})
	}
}

func TestSetKeepsASymbolicLink(t *testing.T) {
	o := home(t, map[string]string{"dotfiles/hermes.yaml": "model: a\n"})
	link := filepath.Join(o.Home, "config.yaml")
	if err := os.Symlink(filepath.Join("dotfiles", "hermes.yaml"), link); err != nil {
		t.Fatal(err)
	}
	paths, _ := o.Paths()
	if err := Set(paths, "model", "b"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became a file: %v %v", info, err)
	}
	if got, _ := os.ReadFile(filepath.Join(o.Home, "dotfiles", "hermes.yaml")); string(got) != "model: b\n" {
		t.Errorf("target %q", got)
	}
}

func TestSetSecret(t *testing.T) {
	const before = "# keys\nexport A_KEY=old # mine\nB_KEY=\"b c\"\n"
	for _, value := range []string{"sk-123", "a$HOME#x", "it's", `both ' and " and \ and $X`, "日本"} {
		o := home(t, map[string]string{".env": before})
		paths, _ := o.Paths()
		if err := SetSecret(paths, "A_KEY", value); err != nil {
			t.Errorf("%q: %v", value, err)
			continue
		}
		c, problems := Load(o)
		if got, _ := c.Secret("A_KEY"); got != value || len(problems) > 0 {
			t.Errorf("%q came back as %q %s", value, got, texts(problems))
		}
		if got, _ := c.Secret("B_KEY"); got != "b c" {
			t.Errorf("another secret changed to %q", got)
		}
		if info, _ := os.Stat(paths.EnvFile); info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
	}
	paths, _ := home(t, nil).Paths()
	if err := SetSecret(paths, "A_KEY", "two\nlines"); err == nil {
		t.Error("a secret of two lines was taken")
	}
	if err := SetSecret(paths, "a key", "x"); err == nil {
		t.Error("a name with a space was taken")
	}
}

// Whatever the file, Set either refuses and leaves it alone, or the key has the value and every
// other key is as before.
func FuzzSet(f *testing.F) {
	for _, s := range []string{
		"model: a\n", "agent:\n  max_turns: 3 # x\n", "agent: {max_turns: 3, x: 1}\n", "agent: &a\n  max_turns: 1\nx: *a\n", "agent:\n- a\n",
		"a: |\n  x\nagent:\n  system_prompt: >\n    y\n", "\"agent\":\n  'max_turns': 1", "agent: !!map {max_turns: 1}", "? agent\n: {max_turns: 1}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, problems := decodeText([]byte(text), "config.yaml")
		path, field, _ := resolveKey(configType, "agent.max_turns")
		out, err := editText(raw, path, field, "7")
		if err != nil || len(problems) > 0 {
			return
		}
		before, after := Defaults(), Defaults()
		for c, data := range map[*Config][]byte{before: raw, after: out} {
			c.places = map[string]place{}
			for _, root := range parse("", data).roots {
				c.addLayer("", func(d *decoder) { d.decodeSection(d.root, root, "") })
			}
		}
		if after.Agent.MaxTurns != 7 {
			t.Fatalf("%q became %q, which means %d", text, out, after.Agent.MaxTurns)
		}
		live, next := Changed(before, after)
		for _, key := range append(live, next...) {
			if key != "agent.max_turns" {
				t.Fatalf("%q became %q: %s changed", text, out, key)
			}
		}
	})
}
