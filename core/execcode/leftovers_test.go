package execcode

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hermes/core/testwait"
)

// left fails when a temporary folder of a script is still there: each test has a TMPDIR of its own
// only where it sets it, so this looks for those of ended scripts by their lock.
func left(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(testwait.Hang)
	for {
		var found []string
		entries, err := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range entries {
			if _, err := os.Stat(filepath.Join(dir, "work")); err != nil {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
				found = append(found, dir)
			}
		}
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) { // others may be at removing theirs just now
			t.Errorf("left behind: %v", found)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// noneIn fails when a process works in dir: every process of a script began there.
func noneIn(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	deadline := time.Now().Add(testwait.Hang)
	for {
		var found []string
		links, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, l := range links {
			if at, err := os.Readlink(l); err == nil && at == dir {
				found = append(found, l)
			}
		}
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("survivors: %v", found)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
