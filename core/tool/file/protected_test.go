package file

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretsOfOtherProfilesAndPrograms(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	root := filepath.Join(user, ".hermes")
	for _, home := range []string{root, filepath.Join(root, "profiles", "work")} {
		g := newProtectedPlaces(Options{Home: home}, user)
		for _, name := range []string{
			".hermes/config.yaml", ".hermes/config.yaml~", ".hermes/.config.yaml.swp", ".hermes/profiles/work/config.yaml", ".hermes/profiles/home/config.yaml.bak",
			".hermes/.env.bak", ".hermes/.env", ".hermes/profiles/work/.env", ".hermes/profiles/home/auth.json", ".npmrc", ".pypirc", ".aws/credentials",
			".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".config/gcloud/credentials.db", ".gnupg/secring.gpg",
		} {
			if _, hit := g.secretReason(filepath.Join(user, name)); !hit {
				t.Errorf("with home %s, ~/%s may be read", home, name)
			}
		}
		at := filepath.Join(root, "profiles", "home", "config.yaml")
		if g.mayWrite(place{shown: at, abs: at, real: at}) == nil {
			t.Errorf("with home %s, %s may be written", home, at)
		}
		for _, name := range []string{"proj/.env", "proj/config.yaml", ".hermes/skills/x/config.yaml", ".hermes/cache/spill/result-1.txt", ".config/gh/config.yml", "work/profiles/x/notes.txt"} {
			if why, hit := g.secretReason(filepath.Join(user, name)); hit {
				t.Errorf("with home %s, ~/%s may not be read: %s", home, name, why)
			}
		}
	}
}

// What Hermes keeps for itself is neither read nor found: approvals, conversations, the audit log,
// checkpoints, of each profile.
func TestOwnFilesAreNotRead(t *testing.T) {
	for _, rg := range []string{"", "off"} {
		f := newFixture(t, rg)
		at := filepath.Join(f.home, ".hermes")
		hidden := []string{
			"approvals.json", ".approvals-1", "workbench.db", "workbench.db-wal", "logs/audit/2026-01.jsonl", "checkpoints/workbench/x.json", "profiles/a/approvals.json",
			"profiles/a/workbench.db-shm", "workbench_history.jsonl",
		}
		open := []string{"skills/x/SKILL.md", "memories/MEMORY.md", "logs/workbench.log", "cache/spill/a.txt", "profiles/a/skills/y/SKILL.md"}
		for _, name := range append(hidden, open...) {
			f.put(filepath.Join("../home/.hermes", name), "needle\n")
		}
		for _, name := range hidden {
			if r := f.run("read_file", map[string]any{"path": filepath.Join(at, name)}); !r.IsError {
				t.Errorf("%s is read: %s", name, r.Text)
			}
		}
		for _, name := range open {
			if r := f.run("read_file", map[string]any{"path": filepath.Join(at, name)}); r.IsError {
				t.Errorf("%s is not read: %s", name, r.Text)
			}
		}
		got := f.run("search_files", map[string]any{"path": at, "pattern": "needle"}).Text
		for _, name := range hidden {
			if strings.Contains(got, name) {
				t.Errorf("a search finds %s: %s", name, got)
			}
		}
		if !strings.Contains(got, "SKILL.md") {
			t.Errorf("a search finds no skill: %s", got)
		}
	}
}

// A data folder that nobody named is known by its database and its settings.
func TestDataFoldersOfOtherNamesAreNotRead(t *testing.T) {
	f := newFixture(t, "off")
	for _, name := range []string{"kept/workbench.db", "kept/config.yaml", "kept/profiles/a/.env", "kept/skills/x/SKILL.md", "app/config.yaml"} {
		f.put(filepath.Join("..", name), "needle\n")
	}
	for name, denied := range map[string]bool{"kept/workbench.db": true, "kept/config.yaml": true, "kept/profiles/a/.env": true, "kept/skills/x/SKILL.md": false, "app/config.yaml": false} {
		if r := f.run("read_file", map[string]any{"path": filepath.Join(f.dir, "..", name)}); r.IsError != denied {
			t.Errorf("%s: denied %v: %s", name, r.IsError, r.Text)
		}
	}
}
