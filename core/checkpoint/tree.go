package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/core/realpath"
)

// manifest is a work tree at one moment: everything in it that git does not ignore, folders
// included, in path order.
type manifest struct {
	Entries []entry `json:"entries"`
	Ignored []Path  `json:"ignored,omitempty"` // what was there and ignored; a folder ends in "/"
}

type entry struct {
	Path  Path  `json:"path"` // below the root
	State State `json:"state"`

	stat realpath.Stat
}

// recordTree records the work tree around c.Dir, once a turn.
func (s *Store) recordTree(ctx context.Context, t *openTurn, b *batch, c Change) (grown bool, err error) {
	root := workTreeOf(c.Dir)
	if root == "" || t.refused[root] || slices.ContainsFunc(t.rec.Trees, func(x Tree) bool { return string(x.Root) == root }) {
		return false, nil
	}
	inside := func(dir string) bool { return realpath.Within(dir, root) }
	if root == "/" || slices.ContainsFunc(s.o.Except, inside) || s.o.DataDir != "" && realpath.Within(root, s.o.DataDir) {
		return false, nil
	}
	m, err := s.scanTree(ctx, root, b)
	if err == nil {
		var data []byte
		if data, err = json.Marshal(m); err == nil {
			var hash string
			hash, err = b.addBlob(data)
			t.rec.Trees = append(t.rec.Trees, Tree{Root: Path(root), Manifest: hash, Order: t.rec.nextOrder()})
		}
	}
	if err == nil {
		return true, nil
	}
	if ctx.Err() != nil {
		return false, nil // interrupted: the command will not run
	}
	t.refused[root] = true
	var skip *SkippedError
	if !errors.As(err, &skip) {
		err = skippedError("%s: %v", root, err)
	}
	t.rec.Notes = append(t.rec.Notes, err.Error())
	return false, err
}

// workTreeOf is the work tree that dir is in, "" when there is none.
func workTreeOf(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Lstat(filepath.Join(real, ".git")); err == nil {
			return real
		}
		up := filepath.Dir(real)
		if up == real {
			return ""
		}
		real = up
	}
}

// scanTree describes a work tree and puts the contents of its files into b. What did not change
// since the last scan is not read again.
func (s *Store) scanTree(ctx context.Context, root string, b *batch) (*manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.TreeTime)
	defer cancel()
	ignored, err := s.ignoredPaths(ctx, root)
	if err != nil {
		return nil, err
	}
	w := &walk{s: s, root: root, ignored: map[string]bool{}}
	for _, p := range ignored {
		w.ignored[strings.TrimSuffix(string(p), "/")] = true
	}
	if err := w.walkDir(ctx, ""); err != nil {
		return nil, err
	}
	began := time.Now()
	known, files, read := s.loadIndex(root), 0, 0
	for i := range w.found {
		if ctx.Err() != nil {
			return nil, skippedError("recording %s took more than %s", root, s.o.TreeTime)
		}
		e := &w.found[i]
		if e.State.Kind != Regular {
			continue
		}
		files++
		if known.fillFromIndex(e) {
			continue
		}
		read++
		st, err := s.captureState(filepath.Join(root, string(e.Path)), b, true)
		if err != nil {
			st = State{Kind: Unknown, Lost: err.Error()}
		}
		e.State = st
	}
	m := &manifest{Entries: w.found, Ignored: ignored}
	if read > 0 || files < len(known.List) {
		b.then = append(b.then, func() error { return s.saveIndex(root, began, m) })
	}
	return m, nil
}

// gitCommand is git in a work tree. Settings of the repository that would run a program are
// switched off.
func (s *Store) gitCommand(ctx context.Context, root string, args ...string) *exec.Cmd {
	args = append([]string{
		"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "--git-dir=" + filepath.Join(root, ".git"), "--work-tree=" + root,
	}, args...)
	cmd := exec.CommandContext(ctx, s.o.Git, args...)
	cmd.Dir = root
	cmd.Env = []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd
}

// Ignores reports whether git ignores a file of a work tree, by its resolved path.
func (s *Store) Ignores(path string) bool {
	root := workTreeOf(filepath.Dir(path))
	if root == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return s.gitCommand(ctx, root, "check-ignore", "-q", "--", path).Run() == nil
}

// ignoredPaths asks git what it ignores.
func (s *Store) ignoredPaths(ctx context.Context, root string) ([]Path, error) {
	cmd := s.gitCommand(ctx, root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	var out, why bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &why
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, skippedError("git is not installed, so what commands change in %s cannot be taken back", root)
		}
		return nil, fmt.Errorf("git ls-files: %w: %s", err, firstWords(why.String()))
	}
	var list []Path
	for p := range bytes.SplitSeq(out.Bytes(), []byte{0}) {
		if len(p) > 0 {
			list = append(list, Path(p))
		}
	}
	return list, nil
}

// walk finds what is in a work tree, without reading files.
type walk struct {
	s       *Store
	root    string
	ignored map[string]bool
	found   []entry
	size    int64
}

func (w *walk) walkDir(ctx context.Context, rel string) error {
	if ctx.Err() != nil {
		return skippedError("recording %s took more than %s", w.root, w.s.o.TreeTime)
	}
	d, err := realpath.OpenDir(filepath.Join(w.root, rel))
	if err != nil {
		if rel == "" {
			return err
		}
		return nil // gone, or not ours to look into
	}
	defer d.Close()
	list, err := d.ReadDir()
	if err != nil && rel == "" {
		return err
	}
	for _, item := range list {
		name, at := item.Name(), filepath.Join(rel, item.Name())
		if strings.EqualFold(name, ".git") || strings.HasPrefix(name, ".hermes-") && strings.HasSuffix(name, ".tmp") || w.ignored[at] || w.isOurData(at) {
			continue
		}
		st, err := d.Lstat(name)
		if err != nil || st.Kind == realpath.Other {
			continue
		}
		if err := w.addEntry(d, name, at, st); err != nil {
			return err
		}
		if st.Kind == realpath.Folder {
			if err := w.walkDir(ctx, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// isOurData reports whether a path is ours: what is kept there would be kept again, and again.
func (w *walk) isOurData(at string) bool {
	abs := filepath.Join(w.root, at)
	return abs == w.s.o.DataDir || abs == w.s.o.Dir
}

func (w *walk) addEntry(d *realpath.Dir, name, at string, st realpath.Stat) error {
	e := entry{Path: Path(at), State: State{Kind: kindOf(st.Kind), Mode: st.Mode, UID: st.UID, GID: st.GID}, stat: st}
	switch e.State.Kind {
	case Link:
		target, err := d.Readlink(name)
		if err != nil {
			return nil //nolint:nilerr // gone meanwhile
		}
		e.State.Mode, e.State.Target = 0, Path(target)
	case Regular:
		e.State.Size = st.Size
		if st.Size <= w.s.o.FileSize {
			w.size += st.Size
		}
	case None, Folder, Other, Unknown:
	}
	w.found = append(w.found, e)
	switch {
	case len(w.found) > w.s.o.TreeFiles:
		return skippedError("%s has more than %d files that git does not ignore, so what commands change in it cannot be taken back", w.root, w.s.o.TreeFiles)
	case w.size > w.s.o.TreeSize:
		return skippedError("the files of %s have more than %d MB, so what commands change in it cannot be taken back", w.root, w.s.o.TreeSize>>20)
	}
	return nil
}

// compareTrees turns the work trees of a record into the files that changed in them.
func (s *Store) compareTrees(ctx context.Context, r *Record, b *batch) error {
	var errs []error
	var left []Tree
	for _, t := range r.Trees {
		if err := s.compareTree(ctx, r, t, b); err != nil {
			left = append(left, t) // whoever needs the record tries again
			errs = append(errs, err)
		}
	}
	r.Trees = left
	return errors.Join(errs...)
}

func (s *Store) compareTree(ctx context.Context, r *Record, t Tree, b *batch) error {
	data, err := s.blobs.readBlob(t.Manifest)
	if err != nil {
		return fmt.Errorf("the work tree %s as it was: %w", t.Root, err)
	}
	var was manifest
	if err := json.Unmarshal(data, &was); err != nil {
		return err
	}
	now, err := s.scanTree(ctx, string(t.Root), b)
	if err != nil {
		return err
	}
	c := comparison{s: s, b: b, root: string(t.Root), was: statesByPath(was.Entries), now: statesByPath(now.Entries), ignored: was.Ignored}
	told := map[Path]bool{}
	for i := range r.Files {
		f := &r.Files[i]
		if rel, err := filepath.Rel(c.root, string(f.Path)); err == nil && realpath.Within(string(f.Path), c.root) {
			told[Path(rel)] = true
			c.completeToolFile(f, Path(rel), f.Order > t.Order)
		}
	}
	for _, p := range c.changedPaths() {
		if !told[p] {
			c.addChange(r, p, t.Order)
		}
	}
	return nil
}

func statesByPath(list []entry) map[Path]State {
	out := make(map[Path]State, len(list))
	for _, e := range list {
		out[e.Path] = e.State
	}
	return out
}

// comparison is a work tree before and after the commands of a turn.
type comparison struct {
	s        *Store
	b        *batch
	root     string
	was, now map[Path]State
	ignored  []Path
}

// changedPaths are those that are not as they were.
func (c *comparison) changedPaths() []Path {
	var out []Path
	for p, st := range c.now {
		if old, there := c.was[p]; !there || !old.Same(st) {
			out = append(out, p)
		}
	}
	for p := range c.was {
		if _, there := c.now[p]; !there {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// completeToolFile completes a path that a file tool told of. What the tool found is the truth
// unless commands ran before it.
func (c *comparison) completeToolFile(f *File, p Path, later bool) {
	was, tracked := c.was[p]
	now, there := c.now[p]
	if later && tracked {
		f.Before = was
	} else if later && there && !c.wasIgnored(p) {
		f.Before = State{Kind: None}
	}
	if there {
		f.After = &now
	} else if tracked || c.isGone(p) {
		f.After = nil // looked at by whoever settles the record
	}
}

// isGone reports that nothing stands at a path any more: a command of the turn removed what a tool
// had written.
func (c *comparison) isGone(p Path) bool {
	_, err := os.Lstat(filepath.Join(c.root, string(p)))
	return errors.Is(err, fs.ErrNotExist)
}

func (c *comparison) addChange(r *Record, p Path, order int) {
	before, there := c.was[p]
	if !there {
		if c.wasIgnored(p) {
			return // it may have been there all the time: the list of what is ignored was changed
		}
		before = State{Kind: None}
	}
	after, there := c.now[p]
	if !there { // deleted, or ignored by now
		var err error
		if after, err = c.s.captureState(filepath.Join(c.root, string(p)), c.b, true); err != nil {
			after = State{Kind: Unknown, Lost: err.Error()}
		}
	}
	if before.Same(after) {
		return
	}
	r.Files = append(r.Files, File{Path: Path(filepath.Join(c.root, string(p))), Before: before, After: &after, Tool: "terminal", Order: order})
}

func (c *comparison) wasIgnored(p Path) bool {
	return slices.ContainsFunc(c.ignored, func(dir Path) bool { return realpath.Within(string(p), strings.TrimSuffix(string(dir), "/")) })
}
