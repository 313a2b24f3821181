package logs

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/secret"
)

// lumberjack has one goroutine a log file that removes old files; Close does not end it.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

func TestRedact(t *testing.T) {
	secret.Add("correct horse battery", "correct horse", "dev")
	for _, tc := range []struct{ name, in, want string }{
		{"plain", "nothing to hide in dev", "nothing to hide in dev"},
		{"known", "x=correct horse battery!", "x=[hidden secret]!"},
		{"known, shorter", "correct horse", "[hidden secret]"},
		{"openai", "key sk-proj-abcdefghijklmnop1234", "key [hidden secret]"},
		{"github", "ghp_abcdefghijklmnopqrstuvwxyz0123", "[hidden secret]"},
		{"aws", "AKIAIOSFODNN7EXAMPLE", "[hidden secret]"},
		{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef", "[hidden secret]"},
		{"bearer", "Authorization: Bearer abcdef123456789", "Authorization: Bearer [hidden secret]"},
		{"assignment", "OPENAI_API_KEY=abcdefgh12", "OPENAI_API_KEY=[hidden secret]"},
		{"json", `{"api_key": "abcdefgh12", "a": 1}`, `{"api_key": "[hidden secret]", "a": 1}`},
		{"address", "postgres://me:hunter2@host/db", "postgres://me:[hidden secret]@host/db"},
		{"private key", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "[hidden secret]"},
		{"tokens are not secrets", "tokens: 12", "tokens: 12"},
	} {
		if got := Redact(tc.in); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNoSecretReachesTheFile(t *testing.T) {
	const hidden = "my-very-own-secret"
	secret.Add(hidden)
	var b bytes.Buffer
	l := New(&b, slog.LevelInfo).With("with", hidden).WithGroup(hidden[:3])
	l.Info("message "+hidden, "text", hidden, "err", errors.New("no: "+hidden), "any", map[string]string{"k": hidden}, slog.Group("g", "in", hidden))
	l.Debug("not written")
	if got := b.String(); strings.Contains(got, hidden) || !strings.Contains(got, "[hidden secret]") || strings.Contains(got, "not written") {
		t.Error(got)
	}
}

func TestOpenWritesToTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "workbench.log")
	l, level, file := Open(path, "warn")
	l.Info("quiet")
	level.Set(ParseLevel("debug"))
	l.Debug("loud")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), "quiet") || !strings.Contains(string(data), "loud") {
		t.Errorf("%q %v", data, err)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("token=", "x")
	f.Add("a://b:c@", "sk-")
	secret.Add("fuzz-secret-value")
	f.Fuzz(func(t *testing.T, before, after string) {
		if got := Redact(before + "fuzz-secret-value" + after); strings.Contains(got, "fuzz-secret-value") {
			t.Errorf("%q shows the secret", got)
		}
	})
}
