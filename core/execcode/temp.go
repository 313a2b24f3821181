package execcode

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	tempPrefix = "hermes-code-"
	young      = time.Minute // a folder may be without its lock for the moment of its making
)

// tempDir is the temporary folder of one script: a folder that only we use, which holds a lock and
// the script's own folder.
type tempDir struct {
	root string
	lock *os.File
}

func newTempDir() (*tempDir, error) {
	root, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return nil, err
	}
	t := &tempDir{root: root}
	if t.lock, err = os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil {
		err = unix.Flock(int(t.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = os.Mkdir(t.workDir(), 0o700)
	}
	if err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

// workDir is the script's folder.
func (t *tempDir) workDir() string { return filepath.Join(t.root, "work") }

func (t *tempDir) name() string { return filepath.Base(t.root) }

// remove deletes the folder.
func (t *tempDir) remove() {
	removeAll(t.root)
	if t.lock != nil {
		_ = t.lock.Close()
	}
}

// sweepTemp removes folders that a crash left behind: ours, and locked by nobody.
func sweepTemp() {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		root := filepath.Join(os.TempDir(), e.Name())
		if info, err := os.Lstat(root); err != nil || !isOwned(info) || time.Since(info.ModTime()) < young {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(root, "lock"), os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue // being made, or not ours after all
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			removeAll(root)
		}
		_ = lock.Close()
	}
}
