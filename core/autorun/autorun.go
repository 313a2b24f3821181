// Package autorun watches the files of a project that other programs run by themselves: hooks of
// git, settings of git that name programs, .envrc, tasks of editors. A program that may write in
// the project can leave something there that runs later, as the person and outside of every
// sandbox; nothing in its text need say so.
//
// The contract: Look notes how these files are, Changes what became of them since, Undo puts one
// back. Only what gives another program something to run counts: a setting of git that names a
// branch is no change. A look costs some twenty calls of the system; contents are read again only
// when a file's times, size or number are new. Looking follows the project's own .git to where it
// is (worktrees), and no other link; what is compared and put back was looked at before, or is in
// the repository's own folder. A Guard may be used by several goroutines; it keeps the contents of
// the last few projects.
package autorun

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/realpath"
)

const (
	maxFile  = 1 << 20  // of a file that can be put back
	maxFiles = 300      // of one folder; those that git runs come first
	maxData  = 16 << 20 // of one project
	maxKept  = 4        // projects whose contents are kept
)

// Guard keeps what it has read, so that a look reads only what is new. The zero Guard is ready.
type Guard struct {
	mu   sync.Mutex
	kept map[string]map[string]file // by root, by path
	used []string                   // roots, the newest last
}

// file is what stands at a watched path; the zero file is nothing.
type file struct {
	stat  realpath.Stat
	there bool
	data  []byte // of a regular file
	to    string // of a link
	whole bool   // data is all of it
	sure  bool   // the file was old when it was read: what changes it changes its times too
}

// View is how the watched files of a project were at one time.
type View struct {
	root   string
	at     time.Time
	places []string        // that were looked at
	files  map[string]file // by absolute path
	crowds map[string]bool // folders of which not all files were looked at
}

// Change is what became of one watched file.
type Change struct {
	Path          string
	before, after file
}

// Look notes how the files are in the project that dir is in: its repository, else dir itself. Dir
// has no links in it.
func (g *Guard) Look(dir string) View {
	root := Root(dir)
	return g.snapshotView(root, watchedPlaces(root), nil)
}

// snapshotView looks at the places, and at the paths that another look found.
func (g *Guard) snapshotView(root string, places []string, found map[string]file) View {
	g.mu.Lock()
	old := g.kept[root]
	g.mu.Unlock()
	v := View{root: root, at: time.Now(), places: places, files: map[string]file{}, crowds: map[string]bool{}}
	l := looking{View: v, old: old, left: maxData}
	for _, path := range places {
		if l.addPath(path); l.files[path].stat.Kind == realpath.Folder && filepath.Base(path) != ".git" {
			l.addFolder(path)
		}
	}
	for path := range found {
		l.addPath(path)
	}
	g.keepContents(root, l.files)
	return v
}

// looking is one look under way.
type looking struct {
	View
	old  map[string]file
	left int // bytes that may still be kept
}

func (l *looking) addPath(path string) {
	if _, done := l.files[path]; done {
		return
	}
	f := describeFile(path, l.old[path], int64(min(maxFile, l.left)))
	if f.there {
		l.files[path] = f
		l.left -= len(f.data)
	}
}

// addFolder adds the files in a folder: those that git runs by their names first, so that no crowd
// of others hides them.
func (l *looking) addFolder(path string) {
	entries, _ := os.ReadDir(path)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.IsDir() || strings.HasSuffix(e.Name(), ".sample") })
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int {
		switch x, y := hookName(a.Name()), hookName(b.Name()); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	l.crowds[path] = len(entries) > maxFiles
	for _, e := range entries[:min(len(entries), maxFiles)] {
		l.addPath(filepath.Join(path, e.Name()))
	}
}

func (g *Guard) keepContents(root string, files map[string]file) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.kept == nil {
		g.kept = map[string]map[string]file{}
	}
	g.kept[root] = files
	g.used = append(slices.DeleteFunc(g.used, func(r string) bool { return r == root }), root)
	if len(g.used) > maxKept {
		delete(g.kept, g.used[0])
		g.used = g.used[1:]
	}
}

// settled is how old a change must be for the next one to have another time: file systems count in
// ticks.
const settled = 50 * time.Millisecond

// describeFile describes a path. What has the same times, size and number as before is not read
// again: the time of a change cannot be set back.
func describeFile(path string, old file, most int64) file {
	dir, err := realpath.OpenDir(filepath.Dir(path))
	if err != nil {
		return file{}
	}
	defer dir.Close()
	st, err := dir.Lstat(filepath.Base(path))
	if err != nil {
		return file{}
	}
	if old.sure && old.stat == st && st.Kind != realpath.Folder && (old.whole || st.Size > most) && int64(len(old.data)) <= most {
		return old
	}
	f := file{stat: st, there: true, sure: time.Since(time.Unix(0, st.Ctime)) > settled}
	switch st.Kind {
	case realpath.Link:
		f.to, err = dir.Readlink(filepath.Base(path))
		f.whole = err == nil
	case realpath.Regular:
		f.data, f.whole = readContent(dir, filepath.Base(path), most)
	case realpath.Folder, realpath.Other:
		f.whole = st.Kind == realpath.Folder
	}
	return f
}

// Changes looks again, at the same places and what the repository's own folder has more by now, and
// returns what changed since, in the order of paths. What a new setting or link leads to is not
// looked at: it is told and put back itself, and no file out there is known as it was.
func (g *Guard) Changes(since View) []Change {
	at := unionSorted(since.places, newRepositoryPlaces(since.root))
	changes := since.changesTo(g.snapshotView(since.root, at, since.files))
	return slices.DeleteFunc(changes, func(c Change) bool { return c.goneWithRepository() || since.wasPassedOver(c) })
}

// wasPassedOver reports whether a file that seems new may be one that the look passed over because
// there were so many.
func (v View) wasPassedOver(c Change) bool {
	if c.before.there {
		return false
	}
	dir := filepath.Dir(c.Path)
	if v.crowds[dir] {
		return !hookName(filepath.Base(c.Path))
	}
	return !slices.Contains(v.places, c.Path) && !slices.Contains(v.places, dir) && c.after.stat.Ctime < v.at.Add(-settled).UnixNano()
}

func unionSorted(a, b []string) []string {
	out := slices.Clone(a)
	for _, p := range b {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// goneWithRepository reports whether a file went together with its repository: nothing is left that
// would run it.
func (c Change) goneWithRepository() bool {
	store := c.repositoryFolder()
	return c.before.there && !c.after.there && store != "" && !isStore(store)
}

// repositoryFolder is the repository's folder that the file is in; "" for files beside it.
func (c Change) repositoryFolder() string {
	dir, name := filepath.Split(c.Path)
	dir = filepath.Clean(dir)
	switch {
	case isGitConfig(c.Path), name == "commondir":
		return dir
	case filepath.Base(dir) == "hooks" && strings.Contains(dir, "/.git/"):
		return filepath.Dir(dir)
	}
	return ""
}

func (v View) changesTo(now View) []Change {
	paths := map[string]bool{}
	for p := range v.files {
		paths[p] = true
	}
	for p := range now.files {
		paths[p] = true
	}
	var out []Change
	for p := range paths {
		if c := (Change{Path: p, before: v.files[p], after: now.files[p]}); c.startsSomethingNew() {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// Accept returns the view with what changed between two later ones taken as it is in the second:
// somebody wanted that.
func (v View) Accept(from, to View) View {
	files := make(map[string]file, len(v.files))
	maps.Copy(files, v.files)
	for _, c := range from.changesTo(to) {
		delete(files, c.Path)
		if c.after.there {
			files[c.Path] = c.after
		}
	}
	return View{root: v.root, at: v.at, places: unionSorted(v.places, to.places), files: files, crowds: v.crowds}
}

// startsSomethingNew reports whether the change gives another program something else to run.
func (c Change) startsSomethingNew() bool {
	a, b := c.before, c.after
	switch {
	case a.there != b.there:
		if a.stat.Kind == realpath.Folder || b.stat.Kind == realpath.Folder {
			return false // what is in it is told
		}
	case a.stat.Kind != b.stat.Kind:
		return true
	case a.stat.Kind == realpath.Folder:
		return false
	}
	if isGitConfig(c.Path) && a.fullyKnown() && b.fullyKnown() {
		return !bytes.Equal(a.data, b.data) && !slices.Equal(c.configPrograms(a.data), c.configPrograms(b.data))
	}
	return a.there != b.there || a.to != b.to || a.stat.Mode&0o111 != b.stat.Mode&0o111 || a.whole != b.whole || !bytes.Equal(a.data, b.data) ||
		!a.whole && (a.stat.Ctime != b.stat.Ctime || a.stat.Ino != b.stat.Ino)
}

// fullyKnown reports whether all is known of what is there.
func (f file) fullyKnown() bool { return !f.there || f.whole && f.stat.Kind == realpath.Regular }

// configPrograms are those of the file's settings. A submodule's say where in the project its files
// are.
func (c Change) configPrograms(data []byte) []string {
	out := Programs(data)
	root, _, ok := strings.Cut(c.Path, "/.git/modules/")
	if !ok {
		return out
	}
	return slices.DeleteFunc(out, func(s string) bool {
		dir, ok := strings.CutPrefix(s, "core.worktree=")
		return ok && strings.HasPrefix(joinUnder(filepath.Dir(c.Path), dir), root+"/")
	})
}

func isGitConfig(path string) bool {
	base := filepath.Base(path)
	return base == "config" || base == "config.worktree"
}

// Before is the content before, a link as where it leads; "" when there was none.
func (c Change) Before() string { return c.before.contentText() }

// After is the content now.
func (c Change) After() string { return c.after.contentText() }

func (f file) contentText() string {
	switch {
	case f.stat.Kind == realpath.Link && f.there:
		return "(a link to " + f.to + ")\n"
	case f.there && !f.whole:
		return "(not read: too large, or no file)\n"
	}
	return string(f.data)
}

// ErrAgain says that the file changed once more since it was looked at.
var ErrAgain = errors.New("it changes just now")

// Undo makes the path what it was before. It refuses what changed again meanwhile, and what it has
// no content of.
func (c Change) Undo() error {
	if c.before.there && !c.before.whole {
		return errors.New("what it was before is not known: it was too large")
	}
	if store := c.repositoryFolder(); c.before.there && store != "" && !isStore(store) {
		return errors.New("the repository that it was in is gone")
	}
	dir, err := realpath.MakeDir(filepath.Dir(c.Path), 0o755, nil)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(c.Path)
	now, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.after.there {
			return ErrAgain
		}
	case err != nil:
		return err
	case !c.after.there || now != c.after.stat && now.Kind != realpath.Folder:
		return ErrAgain
	}
	if c.after.there && c.after.stat.Kind == realpath.Folder && c.before.stat.Kind != realpath.Folder {
		return errors.New("a folder is in its place")
	}
	if name == ".git" && c.before.stat.Kind == realpath.Folder {
		return errors.Join(dir.Remove(name), errors.New("what led elsewhere is taken away, but the repository itself was moved; move it back"))
	}
	return c.before.restoreTo(dir, name)
}

// restoreTo makes the name in dir the file.
func (f file) restoreTo(dir *realpath.Dir, name string) error {
	if !f.there {
		return dir.Remove(name)
	}
	temp := ".hermes-undo-" + name + ".tmp"
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var err error
	switch f.stat.Kind {
	case realpath.Link:
		err = dir.Symlink(f.to, temp)
	case realpath.Folder:
		if err = dir.Remove(name); err == nil {
			var made *realpath.Dir
			if made, err = realpath.MakeDir(filepath.Join(dir.Path(), name), fs.FileMode(f.stat.Mode&0o777), nil); err == nil {
				made.Close()
			}
		}
		return err
	default:
		err = f.writeTo(dir, temp)
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

func (f file) writeTo(dir *realpath.Dir, name string) error {
	out, err := dir.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(f.data)
	_ = out.Chown(int(f.stat.UID), int(f.stat.GID)) // only root can
	return errors.Join(err, out.Chmod(fs.FileMode(f.stat.Mode&0o777)), out.Close())
}
