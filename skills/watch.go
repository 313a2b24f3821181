package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long the folders must be quiet: editors write in several steps, and git many files.
const settle = 150 * time.Millisecond

// maxWatched bounds the folders that are watched; changes below the rest are seen at the next
// start.
const maxWatched = 2000

// Watch calls changed whenever something changed in one of the folders or below it; several changes
// in a row make one call. A folder that is not there yet is seen when it appears in a folder that
// is. It runs until ctx ends and returns nil then; while nothing changes it costs nothing.
func Watch(ctx context.Context, places []string, changed func()) error {
	fsw, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch skills: %w (edits are seen at the next start)", err)
	}
	defer func() { _ = fsw.Close() }()
	w := watcher{fs: fsw, places: places}
	w.addFolders()
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-fsw.Events:
			if w.concernsSkills(e) {
				timer.Reset(settle)
			}
		case err := <-fsw.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch skills: %w", err)
			}
			timer.Reset(settle) // events were lost: look again
		case <-timer.C:
			w.addFolders()
			changed()
		}
	}
}

type watcher struct {
	fs     *fsnotify.Watcher
	places []string
}

// concernsSkills leaves out what we write ourselves (.usage.json) and what only touches.
func (w *watcher) concernsSkills(e fsnotify.Event) bool {
	base := filepath.Base(e.Name)
	if e.Op == fsnotify.Chmod || strings.HasPrefix(base, ".") && base != TrustFile && !w.isAbove(e.Name) {
		return false
	}
	for _, p := range w.places {
		if e.Name == p || strings.HasPrefix(e.Name, p+string(filepath.Separator)) || w.isAbove(e.Name) {
			return true
		}
	}
	return false
}

// isAbove reports whether a place lies below path.
func (w *watcher) isAbove(path string) bool {
	for _, p := range w.places {
		if strings.HasPrefix(p+string(filepath.Separator), path+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// addFolders adds the folders that are there now; what is watched already stays so.
func (w *watcher) addFolders() {
	n := len(w.fs.WatchList())
	for _, place := range w.places {
		if w.fs.Add(place) != nil { // its parents, up to the nearest one that is there, say when it comes
			for dir, up := place, filepath.Dir(place); up != dir && w.fs.Add(up) != nil; {
				dir, up = up, filepath.Dir(up)
			}
			continue
		}
		_ = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || !d.IsDir() || path == place:
				return nil //nolint:nilerr // what cannot be read is not watched
			case strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules":
				return fs.SkipDir
			case n >= maxWatched:
				return fs.SkipAll
			}
			n++
			_ = w.fs.Add(path)
			return nil
		})
	}
}
