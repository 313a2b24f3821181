package realpath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestDirFollowsNoLink(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b", "out"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "out", "a/loop": "loop", "a/b/file": "../../out/x"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{root + "/link", root + "/link/deep", root + "/a/loop"} {
		if _, err := OpenDir(path); !errors.Is(err, ErrMoved) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := MakeDir(path, 0o755, nil); !errors.Is(err, ErrMoved) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := OpenDir("a"); err == nil {
		t.Error("a relative path was opened")
	}
	d, err := OpenDir(root + "/a/b")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Open("file", os.O_WRONLY|os.O_CREATE, 0o644); !errors.Is(err, ErrMoved) {
		t.Errorf("through a link: %v", err)
	}
	for _, name := range []string{"", ".", "..", "x/y", "../x", "a\x00b"} {
		if _, err := d.Open(name, os.O_RDONLY, 0); err == nil {
			t.Errorf("%q was opened", name)
		}
		if err := d.Remove(name); err == nil {
			t.Errorf("%q was removed", name)
		}
	}
	if got, err := d.Readlink("file"); err != nil || got != "../../out/x" {
		t.Error(got, err)
	}
}

func TestDirWorksWhereItWasOpened(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	d, err := MakeDir(root+"/x/y", 0o755, func(p string) { made = append(made, p) })
	if err != nil || len(made) != 2 || made[0] != root+"/x" || made[1] != root+"/x/y" {
		t.Fatal(made, err)
	}
	defer d.Close()
	if err := errors.Join(os.Rename(root+"/x/y", root+"/away"), os.Symlink("/etc", root+"/x/y")); err != nil {
		t.Fatal(err)
	}
	f, err := d.Open("new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), d.Rename("new", "kept"), d.Symlink("kept", "l"), d.Chmod("kept", 0o4000), d.Chmod("kept", 0o600), d.Sync()); err != nil {
		t.Fatal(err)
	}
	if st, err := d.Lstat("kept"); err != nil || st.Kind != Regular || st.Mode != 0o600 || st.Links != 1 {
		t.Error(st, err)
	}
	if info, err := os.Lstat(root + "/away/l"); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error(err)
	}
	if err := d.Remove("l"); err != nil {
		t.Error(err)
	}
	if err := d.Rmdir("kept"); err == nil {
		t.Error("a file was removed as a folder")
	}
}
