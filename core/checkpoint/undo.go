package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/realpath"
)

// Selection says what to take back.
type Selection struct {
	Records []string // ids, of one session
	Files   []string // absolute paths, folders with all that is in them; none: all
}

// Step is one path on its way back.
type Step struct {
	Path Path  `json:"path"`
	Now  State `json:"now"`
	To   State `json:"to"`
	// Conflict says why the path is not simply put back: somebody changed it since. Impossible says
	// why it cannot be.
	Conflict   string `json:"conflict,omitempty"`
	Impossible string `json:"impossible,omitempty"`
}

// Action is the step in a word.
func (s Step) Action() string {
	switch {
	case s.To.Kind == None:
		return "delete"
	case s.Now.Kind == None:
		return "bring back"
	case s.Now.Kind == s.To.Kind && s.Now.Hash == s.To.Hash && s.Now.Target == s.To.Target:
		return "change mode"
	}
	return "restore"
}

// Plan is what an undo would do.
type Plan struct {
	Session string   `json:"session"`
	Of      []string `json:"of"`
	Whole   bool     `json:"whole"` // not only some of their files
	Steps   []Step   `json:"steps"` // paths that are as they should be have none
	Notes   []string `json:"notes,omitempty"`
}

// Conflicts are the steps that need force.
func (p *Plan) Conflicts() []Step {
	return slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool { return s.Conflict == "" })
}

// ErrConflict is returned by Undo for a plan with conflicts, when it is not forced. Nothing was
// changed.
var ErrConflict = errors.New("files were changed since by somebody else")

// Plan looks at the files and says what taking back a selection would do. It changes no file.
func (s *Store) Plan(ctx context.Context, sel Selection) (*Plan, error) {
	all, err := s.List("")
	if err != nil {
		return nil, err
	}
	chosen, err := s.loadChosen(ctx, all, sel.Records)
	if err != nil {
		return nil, err
	}
	p := &Plan{Session: chosen[0].Session, Whole: len(sel.Files) == 0}
	for _, r := range chosen {
		p.Of = append(p.Of, r.ID)
		p.Notes = append(p.Notes, r.Notes...)
	}
	for _, path := range pathsOf(chosen) {
		if len(sel.Files) > 0 && !slices.ContainsFunc(sel.Files, func(f string) bool { return realpath.Within(string(path), f) }) {
			continue
		}
		step, err := s.planStep(ctx, path, chosen, all)
		if err != nil {
			return nil, err
		}
		if !step.Now.Same(step.To) {
			p.Steps = append(p.Steps, step)
		}
	}
	return p, nil
}

// loadChosen loads records by id and completes what a crash left open, the oldest first.
func (s *Store) loadChosen(ctx context.Context, all []*Record, ids []string) ([]*Record, error) {
	var out []*Record
	for _, r := range all {
		if !slices.Contains(ids, r.ID) {
			continue
		}
		if len(out) > 0 && out[0].Session != r.Session {
			return nil, errors.New("these turns are of different sessions: take them back one session at a time")
		}
		if err := s.completeRecord(ctx, r); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, errors.New("no turn that changed files was chosen; `hermes rollback list` shows them")
	}
	return out, nil
}

// completeRecord does what End did not: the process was killed, or it could not look at a work
// tree.
func (s *Store) completeRecord(ctx context.Context, r *Record) error {
	if !r.Ended.IsZero() && len(r.Trees) == 0 {
		return nil
	}
	if s.openTurnOf(r.ID) != nil {
		return ErrRunning
	}
	hold, err := s.holdTurn(r.ID)
	if err != nil {
		return err
	}
	defer hold.Close()
	defer os.Remove(hold.Name()) //nolint:errcheck // gone is what it should be
	release, err := s.lockShared()
	if err != nil {
		return err
	}
	defer release()
	r.Notes = append(r.Notes, "the turn was cut off; what its files became until now counts as its own")
	return s.finishRecord(ctx, r)
}

func pathsOf(records []*Record) []Path {
	var out []Path
	for _, r := range records {
		for _, f := range r.Files {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// planStep compares a path with what the chosen records left there.
func (s *Store) planStep(ctx context.Context, path Path, chosen, all []*Record) (Step, error) {
	var first, last *File
	var lastRecord *Record
	for _, r := range chosen {
		if f := r.fileAt(path); f != nil {
			if first == nil {
				first = f
			}
			last, lastRecord = f, r
		}
	}
	now, err := s.stateOf(ctx, chosen[0].Session, string(path), nil, false)
	if _, _, far := SplitFar(string(path)); far && err != nil {
		return Step{Path: path, Now: State{Kind: Unknown}, To: first.Before, Impossible: err.Error()}, nil
	}
	if errors.Is(err, realpath.ErrMoved) {
		return Step{Path: path, Now: State{Kind: Unknown}, To: first.Before, Impossible: "a folder of its path is a link now"}, nil
	}
	if err != nil {
		return Step{}, fmt.Errorf("%s: %w", path, err)
	}
	step := Step{Path: path, Now: now, To: first.Before}
	switch {
	case step.To.Lost != "" && !now.Same(step.To):
		step.Impossible = step.To.Lost
	case step.To.Kind == Other || step.To.Kind == Unknown || now.Kind == Other:
		step.Impossible = "it is, or was, no regular file, folder or link"
	case last.After != nil && !now.Same(*last.After):
		step.Conflict = whoChanged(path, now, lastRecord, all)
	}
	return step, nil
}

func (r *Record) fileAt(path Path) *File {
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	return nil
}

// whoChanged says who changed a path after a record.
func whoChanged(path Path, now State, after *Record, all []*Record) string {
	_, _, far := SplitFar(string(path))
	for _, r := range slices.Backward(all) {
		if far && r.Session != after.Session { // its back end of that name is another one
			continue
		}
		if r.Began.After(after.Began) && r.ID != after.ID {
			if f := r.fileAt(path); f != nil && f.After != nil && f.After.Same(now) {
				return fmt.Sprintf("changed since by turn %d (%s)", r.Number, r.ID)
			}
		}
	}
	if now.Kind == None {
		return "deleted since, not by the agent"
	}
	return "changed since, not by the agent"
}

// Undo carries out a plan and returns the record of it, which can be undone in turn. Without force
// a plan with conflicts changes nothing. What cannot be put back is said in the record's notes.
func (s *Store) Undo(ctx context.Context, p *Plan, force bool) (*Record, error) {
	if c := p.Conflicts(); len(c) > 0 && !force {
		return nil, fmt.Errorf("%w: %s. Nothing was changed; look at them, or use force", ErrConflict, joinPaths(c))
	}
	steps := slices.DeleteFunc(slices.Clone(p.Steps), func(st Step) bool { return st.Impossible != "" })
	if len(steps) == 0 {
		if len(p.Steps) > 0 {
			return nil, fmt.Errorf("%s cannot be put back: %s", p.Steps[0].Path, p.Steps[0].Impossible)
		}
		return nil, ErrNothing
	}
	release, err := s.lockShared()
	if err != nil {
		return nil, err
	}
	defer release()
	now := time.Now()
	r := &Record{
		Version: version, ID: recordID(p.Session, now.Format(time.RFC3339Nano)+strings.Join(p.Of, " ")), Kind: Undo,
		Session: p.Session, Began: now, Of: p.Of, Part: !p.Whole || len(steps) < len(p.Steps), Notes: slices.Clone(p.Notes),
	}
	hold, err := s.holdTurn(r.ID)
	if err != nil {
		return nil, err
	}
	defer hold.Close()
	defer os.Remove(hold.Name()) //nolint:errcheck // gone is what it should be
	if err := s.keepNow(ctx, r, steps, force); err != nil {
		return nil, err
	}
	for _, st := range p.Steps {
		if st.Impossible != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("%s was left: %s", st.Path, st.Impossible))
		}
	}
	if err := s.saveRecord(r); err != nil { // from here on it can be undone
		return nil, err
	}
	err = s.carryOut(ctx, p.Session, steps)
	for i := range r.Files {
		r.Files[i].After = nil
	}
	r.settleFiles(func(f *File) { s.noteStateAfter(r.Session, f) })
	r.Ended = time.Now()
	return r, errors.Join(err, s.saveRecord(r))
}

// ErrNothing is returned when all files are as they were.
var ErrNothing = errors.New("nothing to undo: the files are as they were before")

// keepNow records the files as they are. What changed after the plan was made is a conflict that
// nobody has seen.
func (s *Store) keepNow(ctx context.Context, r *Record, steps []Step, force bool) error {
	b := s.blobs.newBatch()
	defer b.dropUncommitted()
	for i, st := range steps {
		now, err := s.stateOf(ctx, r.Session, string(st.Path), b, true)
		if err != nil {
			return fmt.Errorf("%s: %w", st.Path, err)
		}
		if !now.Same(st.Now) {
			return fmt.Errorf("%w: %s, this moment. Nothing was changed", ErrConflict, st.Path)
		}
		if now.Lost != "" && !force {
			return fmt.Errorf("%s could not be brought back after this undo: %s. Nothing was changed; use force to do it all the same", st.Path, now.Lost)
		}
		to := st.To
		r.Files = append(r.Files, File{Path: st.Path, Before: now, After: &to, Tool: "rollback", Order: i})
	}
	return b.commit()
}

// carryOut makes the changes: what stands in the way goes first, then come folders, then what is in
// them. It goes on after an error, so that one file costs no other.
func (s *Store) carryOut(ctx context.Context, session string, steps []Step) error {
	var errs []error
	try := func(path Path, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}
	for _, st := range slices.Backward(steps) { // the deepest first: a path follows the folder that it is in
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		if gone := st.To.Kind == None || st.To.Kind != st.Now.Kind && (st.To.Kind == Folder || st.Now.Kind == Folder); gone && st.Now.Kind != None {
			try(st.Path, s.removePath(ctx, session, st))
		}
	}
	for _, st := range steps {
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		if st.To.Kind != None {
			try(st.Path, s.bringBack(ctx, session, st))
		}
	}
	for _, st := range slices.Backward(steps) { // a folder may become one that nothing can be put into
		if st.To.Kind == Folder {
			try(st.Path, changeMode(st))
		}
	}
	return errors.Join(errs...)
}

func (s *Store) removePath(ctx context.Context, session string, st Step) error {
	if _, _, far := SplitFar(string(st.Path)); far {
		return s.putFar(ctx, session, st)
	}
	return inFolderOf(string(st.Path), func(dir *realpath.Dir, name string) error {
		if st.Now.Kind == Folder {
			err := dir.Rmdir(name)
			if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
				return errors.New("the folder stays: there are other files in it")
			}
			return err
		}
		err := dir.Remove(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func (s *Store) bringBack(ctx context.Context, session string, st Step) error {
	path := string(st.Path)
	if _, _, far := SplitFar(path); far {
		return s.putFar(ctx, session, st)
	}
	switch {
	case st.To.Kind == Folder:
		return makeFolder(path)
	case st.Action() == "change mode":
		return changeMode(st)
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return s.putState(path, st.To)
}

func joinPaths(steps []Step) string {
	var out []string
	for i, st := range steps {
		if i == 5 {
			out = append(out, fmt.Sprintf("and %d more", len(steps)-i))
			break
		}
		out = append(out, fmt.Sprintf("%s (%s)", st.Path, st.Conflict))
	}
	return strings.Join(out, ", ")
}
