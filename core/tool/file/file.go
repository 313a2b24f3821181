// Package file holds the tools that read, write, patch and search files: those of the back end that
// the session uses, or that a call names.
//
// The contract: a path is resolved once, symlinks included, and the resolved path is what is
// checked and what is opened. Some places are never written (credentials, system configuration,
// Hermes' own home) and some are never read (secrets). A file is replaced whole, through a
// temporary file and a rename, so that no reader and no crash sees half of it; several files change
// all or not at all. Nothing here asks: approval is the agent's business, with Spec.Preview as its
// picture. The deny rules guard against accidents and injected text; they are not a sandbox.
package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hermes/core/chat"
	"hermes/core/files"
	"hermes/core/realpath"
	"hermes/core/room"
	"hermes/core/tool"
)

// Options of a Workspace.
type Options struct {
	Home string // HERMES_HOME: never written, its secrets never read
	// UserHome is the person's home directory; "" means os.UserHomeDir.
	UserHome string
	// SafeRoot, when set, is the only place where files are written: a folder, or several as in PATH.
	SafeRoot string
	// Ripgrep is the program for search_files: "" looks for rg in PATH at first use, "off" never
	// uses it.
	Ripgrep string
	// Kept finds an image or a document with its text that a session keeps, by its handle, which
	// read_file takes in the place of a path. May be nil.
	Kept   func(ctx context.Context, session, handle string) (chat.Part, error)
	Limits Limits
	// Rooms finds the files of a session's back end by its name, "" for the session's own. Nil
	// knows this machine only.
	Rooms func(session, backend string) (room.Room, error)
	// Own are folders of this machine that results name (what a result left out): they are meant
	// wherever the session is.
	Own []string
	// Backends describes the argument that names a back end; "" leaves it out.
	Backends string
}

// Limits bound one read. Zero fields mean the default.
type Limits struct {
	Lines      int // that can be asked for: 2,000; a read that names no limit gets at most 500 of them
	LineLength int // characters of a line that are shown: 2,000
	Chars      int // characters of the whole: 100,000
}

// Workspace is what the file tools share: the protected places and the memory of what each session
// has read. Safe for concurrent use.
type Workspace struct {
	home      string
	protected protectedPlaces
	marks     marks
	limit     Limits
	kept      func(ctx context.Context, session, handle string) (chat.Part, error)
	rg        func() string
	rooms     func(session, backend string) (room.Room, error)
	names     string // description of the argument backend
	safeRoot  string
	own       []string
	there     sync.Map   // protected places of other machines, by home
	write     sync.Mutex // one change of files at a time: check and rename belong together
}

// New returns a workspace.
func New(o Options) *Workspace {
	home := o.UserHome
	if home == "" {
		home, _ = os.UserHomeDir() // without one, ~ stays literal and its rules have nothing to guard
	}
	w := &Workspace{home: home, protected: newProtectedPlaces(o, home), limit: o.Limits.orDefaults(), kept: o.Kept, rooms: o.Rooms, names: o.Backends, safeRoot: o.SafeRoot, own: o.Own}
	w.rg = sync.OnceValue(func() string { return findRipgrep(o.Ripgrep) })
	return w
}

// Forget drops what is remembered about a session.
func (w *Workspace) Forget(session string) { w.marks.forgetSession(session) }

// place is a path three ways, and where it is.
type place struct {
	room  room.Room
	shown string // as people and models see it: relative to the session's directory where it is inside
	abs   string // absolute, symlinks kept
	real  string // absolute, symlinks resolved as far as the path exists
	home  string // what ~ is where it is
}

// backendArg is the schema of the argument that names a back end, behind the others.
func (w *Workspace) backendArg() string {
	if w.names == "" {
		return ""
	}
	text, _ := json.Marshal(w.names) // a string never fails
	return `,"backend":{"type":"string","description":` + string(text) + `}`
}

// fileKey names the file among those of all places.
func (p place) fileKey() string { return p.room.Show(p.real) }

// target is where a call looks for its files.
type target struct {
	room room.Room
	cwd  string // where relative paths start on this machine
}

// findTarget finds the place that a call is about.
func (w *Workspace) findTarget(c tool.Call, backend string) (target, error) {
	if w.rooms == nil {
		return target{w.localRoom(), c.Cwd}, nil
	}
	r, err := w.rooms(c.Session, backend)
	return target{r, c.Cwd}, err
}

func (w *Workspace) localRoom() room.Room { return room.Room{Files: files.Local{Home: w.home}} }

func (w *Workspace) isOwn(path string) bool {
	path = filepath.Clean(path)
	return slices.ContainsFunc(w.own, func(dir string) bool { return dir != "" && realpath.Within(path, dir) })
}

// findPlace is findTarget and resolvePath.
func (w *Workspace) findPlace(ctx context.Context, c tool.Call, backend, path string) (place, error) {
	if w.isOwn(path) {
		return target{w.localRoom(), c.Cwd}.resolvePath(ctx, path)
	}
	at, err := w.findTarget(c, backend)
	if err != nil {
		return place{}, err
	}
	return at.resolvePath(ctx, path)
}

// resolvePath resolves what a model gave as a path.
func (t target) resolvePath(ctx context.Context, path string) (place, error) {
	switch {
	case strings.TrimSpace(path) == "":
		return place{}, errors.New("the path is empty")
	case strings.ContainsRune(path, 0):
		return place{}, errors.New("the path contains a NUL byte")
	case len(path) > 4096:
		return place{}, errors.New("the path is longer than 4096 bytes")
	}
	away := t.room.Name != ""
	cwd := t.cwd
	if away { // where commands start there
		cwd, path = "", t.room.Bare(path)
	}
	found, err := t.room.Files.Resolve(ctx, cwd, path)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", t.room.Show(path), files.Reason(err))
	}
	at := place{room: t.room, abs: found.Abs, real: found.Real, home: found.Home}
	if at.shown = shownPath(cwd, at.abs); away {
		at.shown = t.room.Show(at.abs)
	}
	return at, nil
}

func shownPath(cwd, abs string) string {
	rel, err := filepath.Rel(cwd, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return abs
	}
	return rel
}
