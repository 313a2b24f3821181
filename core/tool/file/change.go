package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"hermes/core/chat"
	"hermes/core/files"
	"hermes/core/realpath"
	"hermes/core/secret"
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

func (c change) bytesBefore() []byte {
	switch {
	case c.movedFrom != "":
		return c.source.data
	case c.old == nil:
		return nil
	}
	return c.old.data
}

func (c change) fileOp() chat.FileOp {
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

// fileDiffs describes the plan.
func (p plan) fileDiffs() []chat.FileDiff {
	var out []chat.FileDiff
	for _, c := range p.changes {
		if !c.moveOut {
			out = append(out, describeChange(c))
		}
	}
	return out
}

// previewText is the plan as one text.
func (p plan) previewText() string {
	var b strings.Builder
	for _, d := range p.fileDiffs() {
		if d.Unified == "" {
			fmt.Fprintf(&b, "%s %s %s\n", d.Op, d.Path, strings.Join(d.Notes, ", "))
		}
		b.WriteString(d.Unified)
	}
	return b.String()
}

// refuseCopiedMarks refuses what would write the mark of a hidden secret over the secret itself, or
// into another file.
func (p plan) refuseCopiedMarks() error {
	for _, c := range p.changes {
		if bytes.Count(c.after, []byte(secret.Hidden)) > bytes.Count(c.bytesBefore(), []byte(secret.Hidden)) {
			return fmt.Errorf("%s: %s", c.at.shown, hiddenText)
		}
	}
	return nil
}

const hiddenText = "the text holds " + secret.Hidden + ", which stands where you were not shown a secret; writing it would destroy the secret. " +
	"Change only the lines around it with patch, or use a command that works on the file in place (sed -i, a script)"

// commitPlan writes the plan. When one file cannot be written, those before it are put back.
func (w *Workspace) commitPlan(ctx context.Context, session string, p plan) error {
	if len(p.changes) == 0 {
		return errors.New("the files are already as the patch wants them")
	}
	if err := p.refuseCopiedMarks(); err != nil {
		return err
	}
	w.write.Lock()
	defer w.write.Unlock()
	if err := checkUnchanged(ctx, p.changes); err != nil {
		return err
	}
	return w.applyAll(ctx, session, p.changes)
}

func (w *Workspace) applyAll(ctx context.Context, session string, changes []change) error {
	for i, c := range changes {
		if err := w.applyChange(ctx, session, c); err != nil {
			err = fmt.Errorf("%s: %w", c.at.shown, files.Reason(err))
			return errors.Join(err, w.rollBackChanges(ctx, session, changes[:i]))
		}
	}
	return nil
}

// checkUnchanged makes sure that the files still are what the plan was made from.
func checkUnchanged(ctx context.Context, changes []change) error {
	for _, c := range changes {
		if err := c.checkUnchanged(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c change) checkUnchanged(ctx context.Context) error {
	st, err := c.at.room.Files.Stat(ctx, c.at.real)
	switch {
	case c.old == nil && errors.Is(err, fs.ErrNotExist):
	case c.old == nil && err == nil:
		return fmt.Errorf("%s appeared while the change was prepared; nothing was changed, try again", c.at.shown)
	case err != nil:
		return fmt.Errorf("%s: %w", c.at.shown, files.Reason(err))
	case !files.Same(st, c.old.stat):
		return fmt.Errorf("%s changed while the change was prepared; nothing was changed, read it again", c.at.shown)
	}
	return nil
}

// applyChange makes one change in the folder that its path names now; a folder of the path that
// became a link is an error.
func (w *Workspace) applyChange(ctx context.Context, session string, c change) error {
	if c.remove {
		w.marks.forgetFile(session, c.at.fileKey())
		return c.at.room.Files.Remove(ctx, c.at.real)
	}
	var like *realpath.Stat
	if old := cmp.Or(c.old, c.source); old != nil {
		like = &old.stat
	}
	st, err := c.at.room.Files.Write(ctx, c.at.real, c.after, like)
	if err == nil {
		w.marks.recordSeen(session, c.at.fileKey(), st, "")
	}
	return err
}

// rollBackChanges puts back what was changed, the last first. Folders that were made stay: they are
// empty and harm nobody.
func (w *Workspace) rollBackChanges(ctx context.Context, session string, done []change) error {
	ctx = context.WithoutCancel(ctx) // half of a patch is worse than a moment more
	var errs []error
	for i := len(done) - 1; i >= 0; i-- {
		c := done[i]
		back := change{at: c.at, remove: c.old == nil}
		if c.old != nil {
			back.after, back.old = c.old.data, c.old
		}
		if err := w.applyChange(ctx, session, back); err != nil {
			errs = append(errs, fmt.Errorf("and %s could not be put back: %w", c.at.shown, files.Reason(err)))
		}
	}
	return errors.Join(errs...)
}
