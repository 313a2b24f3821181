package local

import (
	"strings"
	"testing"

	"hermes/core/backend"
	"hermes/pool"
)

// No secret of ours reaches a command, whatever the way.
func TestACommandSeesNoSecret(t *testing.T) {
	const canary = "canary-7d1f"
	for _, name := range []string{"MY_API_KEY", "HERMES_HOME", "FROM_DOTENV"} {
		t.Setenv(name, canary)
	}
	t.Setenv("PLAIN", "seen")
	p := newPool(t, pool.Config{Backends: map[string]pool.Spec{"default": {
		Env: map[string]string{"ADDED": "too"}, Options: &Settings{Scrub: []string{"FROM_DOTENV"}},
	}}})
	res, err := p.Exec(t.Context(), backend.Request{Session: "s", Command: "env"})
	if err != nil {
		t.Fatal(err)
	}
	out := string(res.Output)
	if strings.Contains(out, canary) {
		t.Errorf("a secret is in %q", out)
	}
	if !strings.Contains(out, "PLAIN=seen") || !strings.Contains(out, "ADDED=too") {
		t.Errorf("ordinary variables are not in %q", out)
	}
}

// What a command may look for and does not get is said once a session, with the setting that lets
// it through.
func TestWhatIsWithheldIsToldOnce(t *testing.T) {
	t.Setenv("SHOP_DB", "postgres://me:canary-7d1f@db/shop")
	t.Setenv("SHOP_TOKEN", "canary-7d1f")
	t.Setenv("https_proxy", "http://me:word@proxy:3128")
	p := newPool(t, pool.Config{Backends: map[string]pool.Spec{"default": {}}})
	run := func(session, command string) (string, string) {
		res, err := p.Exec(t.Context(), backend.Request{Session: session, Command: command})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Output), strings.Join(res.Warnings, "|")
	}
	if out, said := run("s", "env"); strings.Contains(out, "canary-7d1f") || !strings.Contains(out, "proxy:3128") || !strings.Contains(said, "SHOP_DB") || !strings.Contains(said, "terminal.env_passthrough") || strings.Contains(said, "SHOP_TOKEN") {
		t.Errorf("%q in %q", said, out)
	}
	if _, said := run("s", "env; SHOP_TOKENS=1 SHOP_TOKEN=2 true"); said != "" {
		t.Errorf("told again: %q", said)
	}
	if _, said := run("s", "echo \"${SHOP_TOKEN}\""); !strings.Contains(said, "SHOP_TOKEN") {
		t.Errorf("what the command names is not told: %q", said)
	}
	if _, said := run("other", "true"); !strings.Contains(said, "SHOP_DB") {
		t.Errorf("another session is not told: %q", said)
	}
	t.Setenv("GITHUB_TOKEN", "canary-7d1f")
	t.Setenv("NPM_TOKEN", "canary-7d1f")
	if _, said := run("s", "gh pr list || true"); !strings.Contains(said, "GITHUB_TOKEN (gh would use it)") || !strings.Contains(said, "terminal.env_passthrough: [GITHUB_TOKEN]") || strings.Contains(said, "NPM_TOKEN") {
		t.Errorf("the variable of a program is not told by name: %q", said)
	}
	if _, said := run("s", "gh pr list || true; echo highs"); said != "" {
		t.Errorf("told again: %q", said)
	}
	let := newPool(t, pool.Config{Backends: map[string]pool.Spec{
		"default": {Options: &Settings{EnvPassthrough: []string{"SHOP_DB", "SHOP_TOKEN"}}},
	}})
	if res, err := let.Exec(t.Context(), backend.Request{Session: "s", Command: "env; echo $SHOP_TOKEN"}); err != nil || strings.Count(string(res.Output), "canary-7d1f") != 3 || len(res.Warnings) > 0 {
		t.Errorf("%v %q %q", err, res.Output, res.Warnings)
	}
}
