package childenv

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	r := Rule{Passthrough: []string{"MY_CUSTOM_KEY", "ACME_API_KEY", "OPENAI_API_KEY"}, Credentials: []string{"ACME_API_KEY"}}
	pass := strings.Fields(`PATH HOME USER LOGNAME SHELL PWD OLDPWD LANG LANGUAGE LC_ALL LC_CTYPE TERM COLORTERM TZ TMPDIR HOSTNAME EDITOR
		PYTHONPATH VIRTUAL_ENV XDG_CONFIG_HOME XDG_DATA_DIRS XDG_RUNTIME_DIR XDG_CACHE_HOME XDG_STATE_HOME MY_CUSTOM_KEY`)
	strip := strings.Fields(`LANGFUSE_HOST USERDB_URL DATABASE_URL HERMES_HOME HERMES_YOLO SSH_AUTH_SOCK GIT_AUTHOR_NAME KEYBOARD_LAYOUT XAUTHORITY
		openai_api_key Db_Password GH_TOKEN AWS_SECRET X_CREDENTIALS PASSWD MONKEY LC_ LC XDG_ XDG_SESSION_TYPE XDG_HOME_KEY XDG_DIR path Path
		PATH_X TERMINUS_PASS LANGSMITH_ENDPOINT HOMEASSISTANT_URL LC_SECRET SENTRY_DSN SLACK_WEBHOOK PYTHONSTARTUP LD_PRELOAD
		ACME_API_KEY OPENAI_API_KEY my_custom_key EDITOR=vi`)
	for _, name := range pass {
		if ok, why := r.Judge(name); !ok || why == "" {
			t.Errorf("%s is stripped: %s", name, why)
		}
	}
	for _, name := range append(strip, "", "A\x00B") {
		if ok, why := r.Judge(name); ok || why == "" {
			t.Errorf("%q passes: %s", name, why)
		}
	}
}

// Whatever the letters around it and their case, a word that marks a secret keeps a variable in.
func TestSecretWordsAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom(secretMarks()).Draw(t, "word")
		mixed := strings.Map(func(r rune) rune {
			if rapid.Bool().Draw(t, "lower") {
				return r + 'a' - 'A'
			}
			return r
		}, word)
		name := rapid.StringMatching(`(LC_|XDG_|PATH)?[A-Z_]{0,4}`).Draw(t, "before") + mixed + rapid.StringMatching(`[A-Z_]{0,4}`).Draw(t, "after")
		if ok, why := (Rule{}).Judge(name); ok {
			t.Fatalf("%s passes: %s", name, why)
		}
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	kept := Own([]string{"PATH=/bin", "A_KEY=k", "SSH_AUTH_SOCK=/s", "HERMES_HOME=/h", "GITHUB_TOKEN=t", "DOCKER_HOST=x", "broken"})
	if !slices.Equal(kept, []string{"PATH=/bin", "SSH_AUTH_SOCK=/s", "DOCKER_HOST=x"}) {
		t.Errorf("%q", kept)
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	kept, dropped := Rule{}.Clean([]string{"PATH=/bin", "A_KEY=k", "TWO=a=b", "LANG=C", "broken"})
	if !slices.Equal(kept, []string{"PATH=/bin", "LANG=C"}) || dropped != 3 {
		t.Errorf("%q, %d dropped", kept, dropped)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	c := Commands{Passthrough: []string{"NPM_TOKEN", "HERMES_HOME", "LET_URL"}, Scrub: []string{"FROM_DOTENV"}}
	pass := []string{
		"PATH=/bin", "HOME=/h", "LANG=C", "EDITOR=vi", "HTTPS_PROXY=http://me:word@proxy", "http_proxy=http://me:word@proxy", "SSH_AUTH_SOCK=/s", "GIT_AUTHOR_NAME=n", "NPM_TOKEN=t",
		"TWO=a=b", "LET_URL=postgres://me:word@db", "PLAIN_URL=postgres://me@db/x", "PORT_URL=https://host:8080/a:b@c", "COLORS=*.tar=01;31:*.tgz=01;31", "ID=550e8400-e29b-41d4-a716-446655440000",
		"HASH=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "LATER=postgres://me:$WORD@db",
		"PWD=/w", "OLDPWD=/w", "TOKENIZERS_PARALLELISM=false", "GIT_ASKPASS=/bin/true", "BYPASS_CACHE=1", "PATH_INFO=/x", "PATTERN=x", "KEYTIMEOUT=1",
		"NIX_STORE_PATH=/nix/store/x8a2bkv0vq3z9cj5nqk6v7h0h1qzcd7w-glibc-2.38-44/lib", "GOFLAGS=-tags=sqlite_fts5", "JAVA_OPTS=-Xmx2g -Djavax.net.ssl.trustStore=/etc/x.jks",
	}
	named := []string{"OPENAI_API_KEY=k", "aws_secret_access=k", "Db_Password=k", "GH_TOKEN=k", "X_CREDENTIALS=k", "PASSWD=k", "BASIC_AUTH=k", "FROM_DOTENV=k", "MYSQL_PWD=k", "SMTP_PASS=k", "BORG_PASSPHRASE=k", "SSHPASS=k", "gitlab_pat=k"}
	valued := []string{
		"DATABASE_URL=postgres://me:open-sesame@db:5432/x?a=b", "LIST=amqp://h,amqp://u:word1234@h", "HOOK=ghp_" + strings.Repeat("aB3d", 9),
		"PEM=-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEA", 20) + "\n-----END RSA PRIVATE KEY-----",
	}
	env := append(append(append([]string{"HERMES_HOME=/h/.hermes", "malformed"}, pass...), named...), valued...)
	names := func(env []string) (out []string) {
		for _, kv := range env {
			name, _, _ := strings.Cut(kv, "=")
			out = append(out, name)
		}
		return out
	}
	kept, byName, byValue := c.Clean(env)
	if !slices.Equal(kept, pass) || !slices.Equal(byName, names(named)) || !slices.Equal(byValue, names(valued)) {
		t.Errorf("kept %q, by name %q, by value %q", kept, byName, byValue)
	}
}

func BenchmarkCommands(b *testing.B) {
	env := os.Environ()
	for b.Loop() {
		Commands{}.Clean(env)
	}
}
