package profile

import (
	"os"
	"path/filepath"
	"testing"
)

// A clone follows no link: a skill that is one would bring in what it leads to.
func TestACloneFollowsNoLinkAndIsTheOwnersOnly(t *testing.T) {
	s := Of(t.TempDir())
	from, err := s.Create("from")
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(outside, "secret"), "x")
	put(filepath.Join(from.Folder, "skills", "mine", "SKILL.md"), "x")
	put(filepath.Join(from.Folder, "memories", "MEMORY.md"), "x")
	if err := os.Symlink(outside, filepath.Join(from.Folder, "skills", "theirs")); err != nil {
		t.Fatal(err)
	}
	to, err := s.Clone("from", "to")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(to.Folder, "skills", "mine", "SKILL.md")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the skill: %v, %v", info, err)
	}
	for _, path := range []string{"skills/theirs", "memories"} {
		if _, err := os.Lstat(filepath.Join(to.Folder, path)); err == nil {
			t.Errorf("%s was taken over", path)
		}
	}
	if err := s.Switch("to"); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("to"); err == nil {
		t.Error("the active one was removed")
	}
	if err := s.Switch("nowhere"); err == nil {
		t.Error("switched to what is not there")
	}
}
