// Package checkpoint remembers files as they were before the agent changed them, so that a person
// can have them back.
//
// The contract:
//
//   - One Record a turn: every path that the turn changed with its state before and after, written
//     before the first change happens (Before) and completed when the turn ends (End). A crash in
//     between leaves a record that knows what was there before.
//   - File tools say which paths they change. For commands nobody knows that, so the work tree of
//     the git repository that they start in is recorded as a whole before the first one of a turn:
//     everything that git does not ignore. Git itself is only asked what it ignores; the
//     repository, its index and its hooks are not touched.
//   - What file tools change in a back end is asked for there, before, after and at an undo; the
//     folders that they make are not recorded.
//   - Contents are kept once each, by their SHA-256, compressed. Everything is bounded: the size of
//     a file, of a work tree, of the store, and the age and number of records. What is not kept is
//     said, never passed over in silence.
//   - An undo puts back bytes, modes, links and folders; not owners other than root can, times or
//     extended attributes. It refuses what was changed since by somebody else, and is a record
//     itself, so that it can be undone.
//   - Several processes may use a store at once, and any of them may be killed at any time.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/files"
	"hermes/core/realpath"
)

// Options of a Store. Zero bounds mean the default.
type Options struct {
	Dir       string        // made with the first record, 0700
	Snapshots int           // records kept of a session: 100
	FileSize  int64         // bytes of the largest file that is kept: 10 MB
	TotalSize int64         // bytes of the store on disk: 500 MB
	Age       time.Duration // of a record that is kept at most: 14 days
	TreeFiles int           // files of a work tree that is recorded for a command: 20,000
	TreeSize  int64         // bytes of its files: 250 MB
	TreeTime  time.Duration // what recording one may take: 30 s
	// Except are folders whose work tree is never recorded, nor one that they are in: the home of
	// the person. "/" never is.
	Except  []string
	DataDir string // our data folder: never a part of a work tree
	// Clean hides secrets in what Diff shows; nil hides nothing.
	Clean func(string) string
	Git   string // the program; "" looks for git in PATH
	// Far finds the files of a session's back end; nil: none can be asked, and nothing of them is
	// kept.
	Far func(session, backend string) (files.System, error)
	Log *slog.Logger
}

func (o Options) orDefaults() Options {
	setDefault(&o.Snapshots, 100)
	setDefault(&o.FileSize, 10<<20)
	setDefault(&o.TotalSize, 500<<20)
	setDefault(&o.Age, 14*24*time.Hour)
	setDefault(&o.TreeFiles, 20_000)
	setDefault(&o.TreeSize, 250<<20)
	setDefault(&o.TreeTime, 30*time.Second)
	setDefault(&o.Git, "git")
	if o.Clean == nil {
		o.Clean = func(s string) string { return s }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func setDefault[T int | int64 | time.Duration | string](v *T, usual T) {
	var zero T
	if *v == zero {
		*v = usual
	}
}

// Store keeps records. Safe for concurrent use.
type Store struct {
	o     Options
	blobs blobs

	mu   sync.Mutex
	open map[string]*openTurn // by record id

	swept time.Time // of this process, by mu
}

// Open returns the store in o.Dir. It touches no disk.
func Open(o Options) *Store {
	o = o.orDefaults()
	return &Store{o: o, blobs: newBlobs(filepath.Join(o.Dir, "blobs")), open: map[string]*openTurn{}}
}

// Change is something that will change files.
type Change struct {
	Session, Turn string
	Prompt        string   // what the person said, for lists
	Tool          string   // its name
	Paths         []string // resolved absolute paths that it will change, those of back ends as FarPath
	Dir           string   // where a command starts that may change anything; "" for what only changes Paths
}

// SkippedError says what was not recorded, and why. The change can go on; it cannot be undone.
type SkippedError struct{ Why string }

func (e *SkippedError) Error() string { return "no checkpoint: " + e.Why }

func skippedError(format string, args ...any) error {
	return &SkippedError{fmt.Sprintf(format, args...)}
}

// openTurn is a record that is being written, by this process.
type openTurn struct {
	mu      sync.Mutex
	rec     Record
	files   map[string]int  // index in rec.Files by path
	hold    *os.File        // locked while the turn runs, so that others know that it does
	refused map[string]bool // roots whose work tree is not recorded in this turn
}

// Before records what c will change, if this turn has not yet. It returns once that is safe on
// disk.
func (s *Store) Before(ctx context.Context, c Change) error {
	if len(c.Paths) == 0 && c.Dir == "" {
		return nil
	}
	release, err := s.lockShared()
	if err != nil {
		return err
	}
	defer release()
	t, err := s.openOrStartTurn(c)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	b := s.blobs.newBatch()
	defer b.dropUncommitted()
	grown := false
	if c.Dir != "" {
		added, err := s.recordTree(ctx, t, b, c)
		grown = grown || added
		errs = append(errs, err)
	}
	for _, p := range c.Paths {
		added, err := s.recordPath(ctx, t, b, p, c.Tool)
		grown = grown || added
		errs = append(errs, err)
	}
	if grown {
		if err := b.commit(); err != nil {
			return fmt.Errorf("no checkpoint: %w", err)
		}
		errs = append(errs, s.saveRecord(&t.rec))
	}
	return errors.Join(errs...)
}

// recordPath adds a path, and the folders above it that are not there yet.
func (s *Store) recordPath(ctx context.Context, t *openTurn, b *batch, path, tool string) (grown bool, err error) {
	_, _, far := SplitFar(path)
	for dir := filepath.Dir(path); !far && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		grown = t.addFile(dir, State{Kind: None}, tool) || grown
	}
	if _, there := t.files[path]; there {
		return grown, nil
	}
	st, err := s.stateOf(ctx, t.rec.Session, path, b, true)
	if err != nil {
		return grown, fmt.Errorf("no checkpoint: %s cannot be kept: %w", path, err)
	}
	if st.Lost != "" {
		err = skippedError("%s is not kept: %s", path, st.Lost)
	}
	return t.addFile(path, st, tool) || grown, err
}

func (t *openTurn) addFile(path string, before State, tool string) bool {
	if _, there := t.files[path]; there {
		return false
	}
	t.files[path] = len(t.rec.Files)
	t.rec.Files = append(t.rec.Files, File{Path: Path(path), Before: before, Tool: tool, Order: t.rec.nextOrder()})
	return true
}

// After notes what a change of paths left behind. The record is written when the turn ends, or with
// the next Before.
func (s *Store) After(c Change) {
	t := s.openTurnOf(recordID(c.Session, c.Turn))
	if t == nil {
		return
	}
	release, err := s.lockShared()
	if err != nil {
		return
	}
	defer release()
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.rec.Files {
		f := &t.rec.Files[i]
		for _, p := range c.Paths {
			if realpath.Within(p, string(f.Path)) { // the path itself, or a folder above it that was not there
				s.noteStateAfter(c.Session, f)
			}
		}
	}
}

// noteStateAfter notes the state of a file now as the one after.
func (s *Store) noteStateAfter(session string, f *File) {
	st, err := s.stateOf(context.Background(), session, string(f.Path), nil, false)
	if err != nil {
		st = State{Kind: Unknown, Lost: err.Error()}
	}
	f.After = &st
}

func (s *Store) openTurnOf(id string) *openTurn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// Recorded reports whether a turn that runs has recorded a path, under this name.
func (s *Store) Recorded(session, turn, path string) bool {
	t := s.openTurnOf(recordID(session, turn))
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, there := t.files[path]
	return there
}

// openOrStartTurn returns the open record of a turn, and makes it with the first change.
func (s *Store) openOrStartTurn(c Change) (*openTurn, error) {
	id := recordID(c.Session, c.Turn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.open[id]; t != nil {
		return t, nil
	}
	if _, err := os.Lstat(s.recordPathOf(id)); err == nil { // of a call that outlived its turn: its record is complete
		return nil, skippedError("%s goes on although its turn has ended", c.Tool)
	}
	hold, err := s.holdTurn(id)
	if err != nil {
		return nil, err
	}
	t := &openTurn{
		rec:   Record{Version: version, ID: id, Kind: Turn, Session: c.Session, Turn: c.Turn, Prompt: firstWords(c.Prompt), Began: time.Now()},
		files: map[string]int{}, hold: hold, refused: map[string]bool{},
	}
	s.open[id] = t
	return t, nil
}

// End completes the record of a turn and returns it; nil when the turn changed nothing. Then it
// sweeps the store if it is time.
func (s *Store) End(ctx context.Context, session, turn string) (*Record, error) {
	id := recordID(session, turn)
	t := s.openTurnOf(id)
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	release, err := s.lockShared()
	if err == nil {
		err = s.finishRecord(ctx, &t.rec)
		release()
	}
	s.mu.Lock()
	delete(s.open, id)
	s.mu.Unlock()
	_ = os.Remove(t.hold.Name())
	_ = t.hold.Close()
	s.sweepSometimes()
	if len(t.rec.Files) == 0 {
		return nil, err
	}
	return &t.rec, err
}

// finishRecord computes what a record changed and writes it, or removes it when that is nothing.
func (s *Store) finishRecord(ctx context.Context, r *Record) error {
	b := s.blobs.newBatch()
	defer b.dropUncommitted()
	err := s.compareTrees(ctx, r, b)
	r.settleFiles(func(f *File) { s.noteStateAfter(r.Session, f) })
	for _, f := range r.Files { // for the diff: an undo keeps by itself what it replaces
		if f.After.Kind == Regular && f.After.Hash != "" && !s.blobs.hasBlob(f.After.Hash) {
			_, _ = s.stateOf(ctx, r.Session, string(f.Path), b, true)
		}
	}
	r.Ended = time.Now()
	if len(r.Files) == 0 && len(r.Trees) == 0 {
		return errors.Join(err, s.removeRecord(r.ID))
	}
	if cerr := b.commit(); cerr != nil {
		return errors.Join(err, cerr)
	}
	return errors.Join(err, s.saveRecord(r))
}

// Close ends what is open, without completing it.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, t := range s.open {
		_ = os.Remove(t.hold.Name())
		_ = t.hold.Close()
		delete(s.open, id)
	}
}

// lockShared keeps others from sweeping while something is added: what is written is found by no
// record yet.
func (s *Store) lockShared() (release func(), err error) { return s.lockStore(unix.LOCK_SH) }

func (s *Store) lockStore(how int) (release func(), err error) {
	if err := os.MkdirAll(s.o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("no checkpoint: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(s.o.Dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("no checkpoint: %w", err)
	}
	if err = flockPatiently(f, how); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("the checkpoints are in use: %w", err)
	}
	return func() { _ = f.Close() }, nil
}

// flockPatiently asks for a lock that must not be waited for a few times: a program that is being
// started holds copies of all our descriptors, and so our locks, until its exec closes them.
func flockPatiently(f *os.File, how int) (err error) {
	for range 40 {
		err = unix.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			time.Sleep(5 * time.Millisecond)
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
	return err
}

// holdTurn locks the file that says that the turn of a record runs. It fails when another process
// has it.
func (s *Store) holdTurn(id string) (*os.File, error) {
	dir := filepath.Join(s.o.Dir, "running")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("no checkpoint: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, id), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("no checkpoint: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, ErrRunning
	}
	return f, nil
}

// ErrRunning is returned for a turn that has not ended.
var ErrRunning = errors.New("the turn is still running: stop it first, or wait until it ends")
