package local

import (
	"slices"
	"strings"
	"testing"

	"hermes/core/backend"
	"hermes/pool"
)

func TestClean(t *testing.T) {
	s := pool.Spec{EnvPassthrough: []string{"NPM_TOKEN", "HERMES_HOME"}, Scrub: []string{"FROM_DOTENV"}}
	in := []string{
		"PATH=/bin", "HOME=/h", "LANG=C", "EDITOR=vi", "HTTPS_PROXY=p", "SSH_AUTH_SOCK=/s", "GIT_AUTHOR_NAME=n", "NPM_TOKEN=t", "TWO=a=b",
		"OPENAI_API_KEY=k", "aws_secret_access=k", "Db_Password=k", "GH_TOKEN=k", "X_CREDENTIALS=k", "PASSWD=k", "BASIC_AUTH=k",
		"FROM_DOTENV=k", "HERMES_HOME=/h/.hermes", "malformed",
	}
	if got, want := clean(in, s), in[:9]; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// No secret of ours reaches a command, whatever the way.
func TestACommandSeesNoSecret(t *testing.T) {
	const canary = "canary-7d1f"
	for _, name := range []string{"MY_API_KEY", "HERMES_HOME", "FROM_DOTENV"} {
		t.Setenv(name, canary)
	}
	t.Setenv("PLAIN", "seen")
	p := newPool(t, pool.Config{Scrub: []string{"FROM_DOTENV"}, Backends: map[string]pool.Spec{"default": {Env: map[string]string{"ADDED": "too"}}}})
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
