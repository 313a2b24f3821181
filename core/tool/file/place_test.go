package file

import (
	"os"
	"path/filepath"
	"testing"

	"hermes/core/realpath"
)

// Places are resolved together as they would be one by one.
func TestPlaceNamesAreResolvedPaths(t *testing.T) {
	t.Parallel()
	dir := realpath.Of("", "/", t.TempDir())
	for link, target := range map[string]string{"link": "real", "circle": "circle", "real/up": "..", "lost": "gone/far"} {
		at := filepath.Join(dir, link)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
	}
	names := placeNames{}
	for _, rel := range []string{"real", "link", "link/x", "real/up/link/y", "lost", "lost/z", "circle", "circle/x", "not/there", "."} {
		path := filepath.Join(dir, rel)
		want, err := realpath.Resolve(path)
		if err != nil {
			want = path
		}
		if got := names.resolve(path); got != want {
			t.Errorf("%s: %s, want %s", rel, got, want)
		}
	}
}
