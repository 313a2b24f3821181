package realpath

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOf(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "proj")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"out": home, "rc": "../.bashrc", "far": "/nowhere/at/all", "one": "two", "two": "one", "chain": "rc",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ path, want string }{
		{"a.txt", filepath.Join(dir, "a.txt")},
		{"./b/../a.txt", filepath.Join(dir, "a.txt")},
		{"~", home},
		{"~/x", filepath.Join(home, "x")},
		{"~x", filepath.Join(dir, "~x")},
		{"/", "/"},
		{"rc", filepath.Join(home, ".bashrc")},
		{"chain", filepath.Join(home, ".bashrc")},
		{"out/new/file", filepath.Join(home, "new/file")},
		{"far", "/nowhere/at/all"},
		{"far/deeper", "/nowhere/at/all/deeper"},
		{"one", filepath.Join(dir, "one")}, // a circle stays as it is written
	} {
		if got := Of(home, dir, tt.path); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.path, got, tt.want)
		}
	}
	if _, err := Resolve(filepath.Join(dir, "one")); err == nil {
		t.Error("a circle of links was resolved")
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"/a/b", "/a/b", true},
		{"/a/b/c", "/a/b", true},
		{"/a/b/c", "/a/b/", true},
		{"/a", "/", true},
		{"/", "/", true},
		{"/a/bc", "/a/b", false},
		{"/a", "/a/b", false},
		{"a/b", "/", false},
	} {
		if got := Within(c.path, c.dir); got != c.want {
			t.Errorf("Within(%q, %q) = %v", c.path, c.dir, got)
		}
	}
}
