package atomicfile

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestWriteReplacesTheWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "settings.json")
	for _, text := range []string{"a long first text", "short"} {
		if err := Write(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Fatalf("%q, %v; want %q", got, err, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	if names := namesIn(t, filepath.Dir(path)); len(names) != 1 {
		t.Fatalf("left behind: %v", names)
	}
}

func TestWriteThatFailsLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken") // a folder cannot be replaced by a file
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("x"), 0o600); err == nil {
		t.Fatal("a folder was replaced by a file")
	}
	if names := namesIn(t, dir); len(names) != 1 || names[0] != "taken" {
		t.Fatalf("left behind: %v", names)
	}
}

func TestWriteReplacesALinkAndNotItsTarget(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "mine" {
		t.Fatalf("the target became %q", got)
	}
	if got, _ := os.ReadFile(link); string(got) != "new" {
		t.Fatalf("the link became %q", got)
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A second holder waits until the first has let go.
func TestLockKeepsOthersOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "x.lock")
	var at, count, most atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				unlock, err := Lock(path)
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), at.Add(1)))
				count.Add(1)
				at.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if count.Load() != 400 || most.Load() != 1 {
		t.Errorf("%d changes of 400, %d at once", count.Load(), most.Load())
	}
}
