package execcode

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hermes/core/testskip"
)

// Rules are kept from script to script, and made anew when something comes to stand beside a hidden
// place or becomes one.
func TestRulesAreKept(t *testing.T) {
	root := t.TempDir()
	home, tmp := filepath.Join(root, "home"), filepath.Join(root, "tmp")
	write := func(name string) {
		t.Helper()
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".ssh/key")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", tmp)
	e := newEngine(t)
	if e.levels.known.Landlock == 0 {
		testskip.Missing(t, "no Landlock here")
	}
	s := script(t, "")
	s.Dir = home
	can := func(name string, want string) *ruleSet {
		t.Helper()
		s.Code = fmt.Sprintf("import os\nopen(os.environ['TMPDIR'] + '/f', 'w').close()\ntry: print(open(%q).read())\nexcept OSError as e: print(e.strerror)", filepath.Join(home, name))
		if res := e.Run(t.Context(), s); res.Output != want+"\n" {
			t.Errorf("%s: %+v", name, res)
		}
		return e.rules.last
	}
	first := can(".ssh/key", "Permission denied")
	for tries := 0; ; tries++ { // other tests make folders in those above ours
		second := can(".ssh/key", "Permission denied")
		if second != nil && first == second {
			break
		}
		if first = second; tries == 50 {
			t.Fatal("the rules are made again for the same script")
		}
	}
	write("new/file")
	if can("new/file", "x") == first {
		t.Error("the rules are the old ones")
	}
	write(".aws/key")
	can(".aws/key", "Permission denied")
	if err := os.Rename(filepath.Join(home, "new"), filepath.Join(home, ".kube")); err != nil {
		t.Fatal(err)
	}
	last := can(".kube/file", "Permission denied")
	if last.users != 1 {
		t.Errorf("%d users of what only the cache has", last.users)
	}
	e.Close()
	if last.users != 0 || e.rules.last != nil {
		t.Error("the rules are not closed with the engine")
	}
}
