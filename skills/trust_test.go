package skills

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func project(t *testing.T) (Options, string) {
	t.Helper()
	dir := write(t, map[string]string{
		".agents/skills/build/SKILL.md":        text("build", "Builds."),
		".agents/skills/build/scripts/make.sh": "make",
		".hermes/skills/ship/SKILL.md":         text("ship", "Ships."),
	})
	return Options{Project: dir, Trust: NewTrust(filepath.Join(t.TempDir(), "trust.json")), NoBuiltin: true}, dir
}

func TestTrustIsForExactlyTheseContents(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(dir string) error{
		"a byte": func(d string) error {
			return os.WriteFile(filepath.Join(d, ".agents/skills/build/scripts/make.sh"), []byte("mbke"), 0o600)
		},
		"a new file":  func(d string) error { return os.WriteFile(filepath.Join(d, ".agents/skills/build/x"), nil, 0o600) },
		"a file less": func(d string) error { return os.Remove(filepath.Join(d, ".agents/skills/build/scripts/make.sh")) },
		"another name": func(d string) error {
			return os.Rename(filepath.Join(d, ".hermes/skills/ship"), filepath.Join(d, ".hermes/skills/shop"))
		},
		"another place": func(d string) error {
			return os.Rename(filepath.Join(d, ".hermes/skills/ship"), filepath.Join(d, ".agents/skills/ship"))
		},
		"a link": func(d string) error {
			return os.Symlink("/etc/passwd", filepath.Join(d, ".agents/skills/build/references.md"))
		},
	} {
		o, dir := project(t)
		if c := Load(context.Background(), o); len(c.Skills) > 0 || c.Project.State != Unasked || !slices.Equal(c.Project.Skills, []string{"build", "ship"}) {
			t.Fatalf("before: %v %+v", names(c.Skills), c.Project)
		}
		if err := o.Trust.Accept(o, o.Look()); err != nil {
			t.Fatal(err)
		}
		c := Load(context.Background(), o)
		if got := names(c.Skills); !slices.Equal(got, []string{"build", "ship"}) {
			t.Fatalf("trusted: %v %v", got, c.Problems)
		}
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if again := Load(context.Background(), o); len(again.Skills) > 0 || again.Project.State != Changed {
			t.Errorf("%s: %v, %s", name, names(again.Skills), again.Project.State)
		}
	}
}

// What was loaded while it was trusted gives no other bytes afterwards.
func TestTrustHoldsAtEveryRead(t *testing.T) {
	t.Parallel()
	o, dir := project(t)
	if err := o.Trust.Accept(o, o.Look()); err != nil {
		t.Fatal(err)
	}
	s := Load(context.Background(), o).Find("build")
	if _, err := s.Read("scripts/make.sh"); err != nil {
		t.Fatal(err)
	}
	for _, rel := range []string{"SKILL.md", "scripts/make.sh", "scripts/new.sh"} {
		if err := os.WriteFile(filepath.Join(dir, ".agents/skills/build", rel), []byte("evil"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Read(strings.TrimPrefix(rel, File)); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %q %v", rel, got, err)
		}
	}
}

func TestTrustIsAnsweredOnceAndTakenBack(t *testing.T) {
	t.Parallel()
	o, dir := project(t)
	shown := o.Look()
	if err := os.WriteFile(filepath.Join(dir, ".agents/skills/build/scripts/make.sh"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := o.Trust.Accept(o, shown); err == nil {
		t.Error("what was not shown is trusted")
	}
	if err := o.Trust.Refuse(o, o.Look()); err != nil || o.Look().State != Denied {
		t.Errorf("%v %s", err, o.Look().State)
	}
	if err := o.Trust.Accept(o, o.Look()); err != nil || o.Look().State != Accepted {
		t.Errorf("%v %s", err, o.Look().State)
	}
	if found, err := o.Trust.Revoke(dir); err != nil || !found || o.Look().State != Unasked {
		t.Errorf("%v %v %s", found, err, o.Look().State)
	}
	if err := os.WriteFile(o.Trust.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Trust.Entries(); err == nil || len(Load(context.Background(), o).Skills) > 0 {
		t.Error("a broken file trusts somebody")
	}
}

func TestLinksAndPipesAreNotRead(t *testing.T) {
	t.Parallel()
	out := write(t, map[string]string{"secret.md": "SECRET", "skill/SKILL.md": text("away", "Elsewhere.")})
	home := write(t, map[string]string{"good/SKILL.md": text("good", "Works."), "good/references/in.md": "inside"})
	for link, to := range map[string]string{
		"away": filepath.Join(out, "skill"), "good/references/out.md": filepath.Join(out, "secret.md"), "good/references/dir": out, "good/references/same.md": "in.md",
	} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	c := load(Options{Home: home})
	if got := names(c.Skills); !slices.Equal(got, []string{"good"}) {
		t.Errorf("found %v", got)
	}
	if !slices.ContainsFunc(c.Problems, func(p Problem) bool { return strings.Contains(p.Why, "link") }) {
		t.Errorf("nobody is told of the link: %v", c.Problems)
	}
	s := c.Find("good")
	for _, rel := range []string{"references/out.md", "references/dir/secret.md"} {
		if got, err := s.Read(rel); err == nil {
			t.Errorf("%s is read: %q", rel, got)
		}
	}
	if got, err := s.Read("references/same.md"); err != nil || got != "inside" {
		t.Errorf("a link inside: %q %v", got, err)
	}
	if got := s.Files(); !slices.Equal(got, []string{"references/in.md"}) {
		t.Errorf("listed %v", got)
	}
}
