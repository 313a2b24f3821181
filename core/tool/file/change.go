package file

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/core/chat"
)

// change is one file as it was and as it is to be.
type change struct {
	at        place
	old       *snapshot // nil: there is no file
	after     []byte
	remove    bool
	moveOut   bool      // removed because its content went elsewhere: no diff of its own
	movedFrom string    // shown path of where the content came from
	source    *snapshot // that file as it was
	notes     []string
}

func (c change) before() []byte {
	switch {
	case c.movedFrom != "":
		return c.source.data
	case c.old == nil:
		return nil
	}
	return c.old.data
}

func (c change) op() chat.FileOp {
	switch {
	case c.remove:
		return chat.FileDeleted
	case c.movedFrom != "":
		return chat.FileMoved
	case c.old == nil:
		return chat.FileCreated
	}
	return chat.FileModified
}

// plan is a set of changes that happen all or not at all.
type plan struct {
	changes  []change
	warnings []string
}

// diffs describes the plan.
func (p plan) diffs() []chat.FileDiff {
	var out []chat.FileDiff
	for _, c := range p.changes {
		if !c.moveOut {
			out = append(out, difference(c))
		}
	}
	return out
}

// preview is the plan as one text.
func (p plan) preview() string {
	var b strings.Builder
	for _, d := range p.diffs() {
		if d.Unified == "" {
			fmt.Fprintf(&b, "%s %s %s\n", d.Op, d.Path, strings.Join(d.Notes, ", "))
		}
		b.WriteString(d.Unified)
	}
	return b.String()
}

// commit writes the plan. When one file cannot be written, those before it are put back.
func (w *Workspace) commit(session string, p plan) error {
	if len(p.changes) == 0 {
		return errors.New("the files are already as the patch wants them")
	}
	w.write.Lock()
	defer w.write.Unlock()
	if err := unchanged(p.changes); err != nil {
		return err
	}
	return w.applyAll(session, p.changes)
}

func (w *Workspace) applyAll(session string, changes []change) error {
	for i, c := range changes {
		if err := w.apply(session, c); err != nil {
			err = fmt.Errorf("%s: %w", c.at.shown, reason(err))
			return errors.Join(err, w.rollback(session, changes[:i]))
		}
	}
	return nil
}

// unchanged makes sure that the files still are what the plan was made from.
func unchanged(changes []change) error {
	for _, c := range changes {
		info, err := os.Lstat(c.at.real)
		switch {
		case c.old == nil && errors.Is(err, fs.ErrNotExist):
		case c.old == nil && err == nil:
			return fmt.Errorf("%s appeared while the change was prepared; nothing was changed, try again", c.at.shown)
		case err != nil:
			return fmt.Errorf("%s: %w", c.at.shown, reason(err))
		case !info.ModTime().Equal(c.old.info.ModTime()) || info.Size() != c.old.info.Size():
			return fmt.Errorf("%s changed while the change was prepared; nothing was changed, read it again", c.at.shown)
		}
	}
	return nil
}

func (w *Workspace) apply(session string, c change) error {
	if c.remove {
		w.marks.gone(session, c.at.real)
		return os.Remove(c.at.real)
	}
	if err := os.MkdirAll(filepath.Dir(c.at.real), 0o755); err != nil {
		return err
	}
	info, err := replace(c.at.real, c.after, cmp.Or(c.old, c.source))
	if err == nil {
		w.marks.saw(session, c.at.real, info, "")
	}
	return err
}

// rollback puts back what was changed, the last first. Folders that were made stay: they are empty and harm nobody.
func (w *Workspace) rollback(session string, done []change) error {
	var errs []error
	for i := len(done) - 1; i >= 0; i-- {
		c := done[i]
		back := change{at: c.at, remove: c.old == nil}
		if c.old != nil {
			back.after, back.old = c.old.data, c.old
		}
		if err := w.apply(session, back); err != nil {
			errs = append(errs, fmt.Errorf("and %s could not be put back: %w", c.at.shown, reason(err)))
		}
	}
	return errors.Join(errs...)
}

// replace puts data at path through a temporary file beside it. Mode and owner are those of the old file; without one a
// new file gets what the umask gives. path is resolved, so a symlink that pointed to it still does.
func replace(path string, data []byte, old *snapshot) (fs.FileInfo, error) {
	f, err := os.OpenFile(tempName(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	temp := f.Name()
	_, err = f.Write(data)
	if err == nil && old != nil {
		keepOwner(f, old.info)
		err = f.Chmod(old.info.Mode().Perm()) // after the owner: changing that clears set-id bits
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return nil, err
	}
	return os.Stat(path)
}
