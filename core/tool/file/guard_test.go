package file

import (
	"path/filepath"
	"testing"
)

func TestSecretsOfOtherProfilesAndPrograms(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	root := filepath.Join(user, ".hermes")
	for _, home := range []string{root, filepath.Join(root, "profiles", "work")} {
		g := newGuard(Options{Home: home}, user)
		for _, name := range []string{
			".hermes/config.yaml", ".hermes/config.yaml~", ".hermes/.config.yaml.swp", ".hermes/profiles/work/config.yaml", ".hermes/profiles/home/config.yaml.bak",
			".hermes/.env.bak", ".hermes/.env", ".hermes/profiles/work/.env", ".hermes/profiles/home/auth.json", ".npmrc", ".pypirc", ".aws/credentials",
			".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".config/gcloud/credentials.db", ".gnupg/secring.gpg",
		} {
			if _, hit := g.secret(filepath.Join(user, name)); !hit {
				t.Errorf("with home %s, ~/%s may be read", home, name)
			}
		}
		at := filepath.Join(root, "profiles", "home", "config.yaml")
		if g.mayWrite(place{shown: at, abs: at, real: at}) == nil {
			t.Errorf("with home %s, %s may be written", home, at)
		}
		for _, name := range []string{"proj/.env", "proj/config.yaml", ".hermes/skills/x/config.yaml", ".hermes/cache/spill/result-1.txt", ".config/gh/config.yml", "work/profiles/x/notes.txt"} {
			if why, hit := g.secret(filepath.Join(user, name)); hit {
				t.Errorf("with home %s, ~/%s may not be read: %s", home, name, why)
			}
		}
	}
}
