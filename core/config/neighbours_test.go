package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The values of every profile's .env are hidden, whichever profile runs, and those of the usual
// folder too.
func TestSecretsOfAllProfiles(t *testing.T) {
	home, user := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		home + "/.env":                "A_TOKEN=value-of-the-home\nPLAIN_MODEL=some-model\n",
		home + "/profiles/a/.env":     "A_TOKEN=value-of-profile-a\n",
		home + "/profiles/b/.env":     "B_TOKEN='value-of-profile-b'\n",
		home + "/profiles/c/.env":     "this is = not \"a dotenv\nC_TOKEN=value-of-profile-c\n",
		user + "/.hermes/.env":        "D_TOKEN=value-of-the-usual-home\n",
		home + "/profiles/a/.env.bak": "E_TOKEN=not-read\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, profile := range []string{"", "a", "b"} {
		c, problems := Load(Options{Home: home, Profile: profile, Env: []string{"HOME=" + user}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		got := c.Secrets()
		for _, want := range []string{"value-of-the-home", "value-of-profile-a", "value-of-profile-b", "value-of-profile-c", "value-of-the-usual-home"} {
			if !slices.Contains(got, want) {
				t.Errorf("profile %q: %s is not known: %q", profile, want, got)
			}
		}
	}
}
