package file

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hermes/core/tool"
	"hermes/core/tool/file/v4a"
)

// draft is the state of files as a patch goes through them in memory: nothing is written before all
// of it fits.
type draft struct {
	ctx    context.Context // of the call: a draft lives no longer
	w      *Workspace
	target target
	files  []*draftFile // in order of first mention
}

type draftFile struct {
	at     place
	old    *snapshot
	now    []byte
	exists bool
	from   *draftFile // where the content was moved from
	notes  []string
}

// prepareV4A makes a plan of a whole patch.
func (w *Workspace) prepareV4A(ctx context.Context, c tool.Call, a patchArgs) prepared {
	ops, err := v4a.Parse(a.Patch)
	if err != nil {
		return prepared{err: err}
	}
	to, err := w.findTarget(c, a.Backend)
	if err != nil {
		return prepared{err: err}
	}
	d := &draft{ctx: ctx, w: w, target: to}
	var errs []error
	for _, op := range ops {
		if err := d.applyOp(op); err != nil {
			errs = append(errs, fmt.Errorf("%s (patch line %d): %w", op.Path, op.Line, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return prepared{err: err} // every fault at once: the model mends them in one go
	}
	p := d.makePlan()
	for _, ch := range p.changes {
		p.warnings = append(p.warnings, w.changeWarnings(c.Session, ch)...)
	}
	return prepared{plan: p}
}

func (d *draft) openFile(path string) (*draftFile, error) {
	at, err := d.target.resolvePath(d.ctx, path)
	if err != nil {
		return nil, err
	}
	for _, f := range d.files {
		if f.at.real == at.real {
			return f, nil
		}
	}
	at, old, err := d.w.forWriting(d.ctx, at)
	if err != nil {
		return nil, err
	}
	f := &draftFile{at: at, old: old, exists: old != nil}
	if old != nil {
		f.now = old.data
	}
	d.files = append(d.files, f)
	return f, nil
}

func (d *draft) applyOp(op v4a.Op) error {
	f, err := d.openFile(op.Path)
	if err != nil {
		return err
	}
	if op.Kind == v4a.Add {
		if f.exists {
			return errors.New("the file exists already, so it cannot be added: use Update File or write_file")
		}
		f.now, f.exists = []byte(op.Content), true
		return nil
	}
	if !f.exists {
		return fmt.Errorf("the file does not exist.%s", similarFiles(d.ctx, f.at))
	}
	switch op.Kind {
	case v4a.Delete:
		f.exists = false
	case v4a.Update:
		if err := f.applyHunks(op.Hunks); err != nil {
			return err
		}
		if op.To != "" {
			return d.moveFile(f, op.To)
		}
	case v4a.Move:
		return d.moveFile(f, op.To)
	case v4a.Add:
	}
	return nil
}

func (f *draftFile) applyHunks(hunks []v4a.Hunk) error {
	t, err := decodeText(f.now)
	if err != nil {
		return err
	}
	body, notes, err := v4a.Apply(t.body, hunks)
	if err != nil {
		return err
	}
	f.now = t.encodeBody(body)
	f.notes = append(f.notes, notes...)
	return nil
}

func (d *draft) moveFile(f *draftFile, to string) error {
	g, err := d.openFile(to)
	if err != nil {
		return err
	}
	switch {
	case g == f:
		return errors.New("it is moved onto itself")
	case g.exists:
		return fmt.Errorf("%s exists already: delete it first if it is to be replaced", to)
	}
	g.now, g.exists, g.from = f.now, true, f
	g.notes = append(g.notes, f.notes...)
	f.exists = false
	return nil
}

// makePlan turns the draft into changes; files that end as they began are left out.
func (d *draft) makePlan() plan {
	var p plan
	for _, f := range d.files {
		if ch, changes := f.changeOf(d); changes {
			p.changes = append(p.changes, ch)
		}
	}
	return p
}

func (f *draftFile) changeOf(d *draft) (change, bool) {
	ch := change{at: f.at, old: f.old, after: f.now, notes: slices.Clone(f.notes)}
	var before []byte
	if f.old != nil {
		before = f.old.data
	}
	switch {
	case !f.exists && f.old == nil:
		return ch, false // made and gone within the patch
	case !f.exists:
		ch.remove, ch.after, ch.notes = true, nil, nil
		ch.moveOut = slices.ContainsFunc(d.files, func(g *draftFile) bool { return g.from == f && g.exists })
		return ch, true
	case f.from != nil && f.from.old != nil:
		ch.movedFrom, ch.source = f.from.at.shown, f.from.old
		before = ch.source.data
	case f.old != nil && string(f.old.data) == string(f.now):
		return ch, false
	}
	ch.notes = append(ch.notes, newFaults(f.at.real, before, f.now)...)
	return ch, true
}
