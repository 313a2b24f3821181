// Package autorun watches the files of a project that other programs run by themselves: hooks of git, settings of git that name programs,
// .envrc, tasks of editors. A program that may write in the project can leave something there that runs later, as the person and outside
// of every sandbox; nothing in its text need say so.
//
// The contract: Look notes how these files are, Changes what became of them since, Undo puts one back. Only what gives another program
// something to run counts: a setting of git that names a branch is no change. A look costs some twenty calls of the system; contents are
// read again only when a file's times, size or number are new. Looking follows the project's own .git to where it is (worktrees), and no
// other link. A Guard may be used by several goroutines; it keeps the contents of the last few projects.
package autorun

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/realpath"
)

const (
	maxFile  = 1 << 20 // of a file that can be put back
	maxFiles = 300     // of one project
	maxKept  = 4       // projects whose contents are kept
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
	root  string
	files map[string]file // by absolute path
}

// Change is what became of one watched file.
type Change struct {
	Path          string
	before, after file
}

// Look notes how the files are in the project that dir is in: its repository, else dir itself. Dir has no links in it.
func (g *Guard) Look(dir string) View {
	root := Root(dir)
	g.mu.Lock()
	old := g.kept[root]
	g.mu.Unlock()
	files := map[string]file{}
	add := func(path string) {
		if len(files) >= maxFiles {
			return
		}
		if f := look(path, old[path]); f.there {
			files[path] = f
		}
	}
	for _, path := range places(root) {
		add(path)
		if files[path].stat.Kind != realpath.Folder {
			continue
		}
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			if !e.IsDir() && !strings.HasSuffix(e.Name(), ".sample") {
				add(filepath.Join(path, e.Name()))
			}
		}
	}
	g.keep(root, files)
	return View{root: root, files: files}
}

func (g *Guard) keep(root string, files map[string]file) {
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

// settled is how old a change must be for the next one to have another time: file systems count in ticks.
const settled = 50 * time.Millisecond

// look describes a path. What has the same times, size and number as before is not read again: the time of a change cannot be set back.
func look(path string, old file) file {
	dir, err := realpath.OpenDir(filepath.Dir(path))
	if err != nil {
		return file{}
	}
	defer dir.Close()
	st, err := dir.Lstat(filepath.Base(path))
	if err != nil {
		return file{}
	}
	if old.sure && old.stat == st && st.Kind != realpath.Folder {
		return old
	}
	f := file{stat: st, there: true, sure: time.Since(time.Unix(0, st.Ctime)) > settled}
	switch st.Kind {
	case realpath.Link:
		f.to, err = dir.Readlink(filepath.Base(path))
		f.whole = err == nil
	case realpath.Regular:
		f.data, f.whole = content(dir, filepath.Base(path))
	case realpath.Folder, realpath.Other:
		f.whole = st.Kind == realpath.Folder
	}
	return f
}

func content(dir *realpath.Dir, name string) ([]byte, bool) {
	f, err := dir.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return data, err == nil && len(data) <= maxFile
}

// Changes looks again and returns what changed since, in the order of paths.
func (g *Guard) Changes(since View) []Change { return since.changes(g.Look(since.root)) }

func (v View) changes(now View) []Change {
	paths := map[string]bool{}
	for p := range v.files {
		paths[p] = true
	}
	for p := range now.files {
		paths[p] = true
	}
	var out []Change
	for p := range paths {
		if c := (Change{Path: p, before: v.files[p], after: now.files[p]}); c.real() {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// Accept returns the view with what changed between two later ones taken as it is in the second: somebody wanted that.
func (v View) Accept(from, to View) View {
	files := make(map[string]file, len(v.files))
	for p, f := range v.files {
		files[p] = f
	}
	for _, c := range from.changes(to) {
		delete(files, c.Path)
		if c.after.there {
			files[c.Path] = c.after
		}
	}
	return View{root: v.root, files: files}
}

// real reports whether the change gives another program something else to run.
func (c Change) real() bool {
	a, b := c.before, c.after
	switch {
	case a.there != b.there:
		if k := a.stat.Kind; k == realpath.Folder || !a.there && b.stat.Kind == realpath.Folder {
			return false // what is in it is told
		}
	case a.stat.Kind != b.stat.Kind:
		return true
	case a.stat.Kind == realpath.Folder:
		return false
	}
	if settings(c.Path) && (!a.there || a.stat.Kind == realpath.Regular) && (!b.there || b.stat.Kind == realpath.Regular) {
		return !bytes.Equal(a.data, b.data) && !slices.Equal(Programs(a.data), Programs(b.data))
	}
	return a.there != b.there || a.to != b.to || a.stat.Mode&0o111 != b.stat.Mode&0o111 || a.whole != b.whole || !bytes.Equal(a.data, b.data) ||
		!a.whole && (a.stat.Ctime != b.stat.Ctime || a.stat.Ino != b.stat.Ino)
}

func settings(path string) bool {
	base := filepath.Base(path)
	return base == "config" || base == "config.worktree"
}

// Before is the content before, a link as where it leads; "" when there was none.
func (c Change) Before() string { return c.before.text() }

// After is the content now.
func (c Change) After() string { return c.after.text() }

func (f file) text() string {
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

// Undo makes the path what it was before. It refuses what changed again meanwhile, and what it has no content of.
func (c Change) Undo() error {
	if c.before.there && !c.before.whole {
		return errors.New("what it was before is not known: it was too large")
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
	return c.before.put(dir, name)
}

// put makes the name in dir the file.
func (f file) put(dir *realpath.Dir, name string) error {
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
		err = f.write(dir, temp)
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

func (f file) write(dir *realpath.Dir, name string) error {
	out, err := dir.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(f.data)
	_ = out.Chown(int(f.stat.UID), int(f.stat.GID)) // only root can
	return errors.Join(err, out.Chmod(fs.FileMode(f.stat.Mode&0o777)), out.Close())
}
