// Package file holds the tools that read, write, patch and search files of the machine that the
// agent runs on.
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
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hermes/core/chat"
	"hermes/core/realpath"
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
	// Image finds an image that a session keeps, by its handle, which read_file takes in the place
	// of a path. May be nil.
	Image  func(ctx context.Context, session, handle string) (chat.Part, error)
	Limits Limits
}

// Limits bound one read. Zero fields mean the default.
type Limits struct {
	Lines      int // that can be asked for: 2,000; a read that names no limit gets at most 500 of them
	LineLength int // characters of a line that are shown: 2,000
	Chars      int // characters of the whole: 100,000
}

// Workspace is what the file tools share: the guard and the memory of what each session has read.
// Safe for concurrent use.
type Workspace struct {
	home  string
	guard guard
	marks marks
	limit Limits
	image func(ctx context.Context, session, handle string) (chat.Part, error)
	rg    func() string
	write sync.Mutex // one change of files at a time: check and rename belong together
}

// New returns a workspace.
func New(o Options) *Workspace {
	home := o.UserHome
	if home == "" {
		home, _ = os.UserHomeDir() // without one, ~ stays literal and its rules have nothing to guard
	}
	w := &Workspace{home: home, guard: newGuard(o, home), limit: o.Limits.orDefaults(), image: o.Image}
	w.rg = sync.OnceValue(func() string { return findRipgrep(o.Ripgrep) })
	return w
}

// Forget drops what is remembered about a session.
func (w *Workspace) Forget(session string) { w.marks.forget(session) }

// place is a path three ways.
type place struct {
	shown string // as people and models see it: relative to the session's directory where it is inside
	abs   string // absolute, symlinks kept
	real  string // absolute, symlinks resolved as far as the path exists
}

// locate resolves what a model gave as a path.
func (w *Workspace) locate(cwd, path string) (place, error) {
	switch {
	case strings.TrimSpace(path) == "":
		return place{}, errors.New("the path is empty")
	case strings.ContainsRune(path, 0):
		return place{}, errors.New("the path contains a NUL byte")
	case len(path) > 4096:
		return place{}, errors.New("the path is longer than 4096 bytes")
	}
	abs := realpath.Absolute(w.home, cwd, path)
	if !filepath.IsAbs(abs) {
		return place{}, fmt.Errorf("%s is relative and the session has no directory: give an absolute path", path)
	}
	real, err := realpath.Resolve(abs)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", path, reason(err))
	}
	return place{shown: shown(cwd, abs), abs: abs, real: real}, nil
}

func shown(cwd, abs string) string {
	rel, err := filepath.Rel(cwd, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return abs
	}
	return rel
}

// reason strips the operation and path from an error: the caller names the path as the model knows
// it.
func reason(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}
