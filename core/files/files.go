// Package files is the files of one machine, by resolved path: of this one (Local), or of another
// that answers requests (Far asks, Serve answers). It is the same code on both sides, so that a
// file in a container is read, replaced and searched by the rules of a file here.
//
// The contract: a path is resolved once, links included, and what is opened afterwards is that
// path, in which no link is followed any more. A file is replaced whole, through a temporary file
// and a rename. Nothing here decides what may be read or written: that is the caller's business.
// What a Far side answers is as trustworthy as the place it is in; its size is bounded.
//
// It is part of the far program: it imports realpath and small libraries only.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"hermes/core/realpath"
)

// Limits, in bytes.
const (
	MaxWrite    = 10 << 20 // of a file that is written
	MaxSearched = 10 << 20 // of the largest file that is searched
)

// System is the files of one machine. Errors are those of package os, or ErrMoved of realpath;
// errors.Is tells fs.ErrNotExist, fs.ErrExist and fs.ErrPermission of each.
type System interface {
	// Resolve makes a path absolute (~ is the home there, a relative one starts in dir, or where
	// commands start when dir is "") and follows its links, those that point to nothing too.
	Resolve(ctx context.Context, dir, path string) (Place, error)
	// Stat describes what is at a resolved path.
	Stat(ctx context.Context, real string) (realpath.Stat, error)
	// Open opens a regular file. Devices, pipes and sockets are an error, at once.
	Open(ctx context.Context, real string) (io.ReadCloser, realpath.Stat, error)
	// List lists a folder in the order of names.
	List(ctx context.Context, real string) ([]Entry, error)
	// Write puts data at a path, whole, and makes the folders above it. Mode, owner and attributes
	// are those of old; nil is a new file.
	Write(ctx context.Context, real string, data []byte, old *realpath.Stat) (realpath.Stat, error)
	// Remove removes a file, or an empty folder.
	Remove(ctx context.Context, real string) error
}

// Place is a path as the machine understands it.
type Place struct {
	Abs  string // absolute, links kept
	Real string // absolute, links followed
	Home string // what ~ is there
}

// Entry is one name of a folder.
type Entry struct {
	Name string
	Dir  bool
}

// Hit is one line of a file.
type Hit struct {
	Line    int
	Text    string
	Context bool // beside a match, no match itself
}

// Found is what a search found in one file, in line order.
type Found struct {
	Path string // relative to the searched folder, with /
	Hits []Hit
}

// Listed is a file that was found by its name.
type Listed struct {
	Path string
	Mod  time.Time
}

// Grep is a search in files.
type Grep struct {
	Pattern string
	Regexp  *regexp.Regexp // nil when only ripgrep may understand the pattern
	Globs   []string
	Context int // lines around each match
}

// Same reports whether nothing wrote to the file between two looks at it, as far as the system
// tells: a command that puts the time back after it (touch -r, rsync -t) still leaves another file
// or another size in most cases.
func Same(a, b realpath.Stat) bool {
	return a.Mtime == b.Mtime && a.Size == b.Size && a.Dev == b.Dev && a.Ino == b.Ino
}

// Reason strips the operation and path from an error: the caller names the path as people know it.
func Reason(err error) error {
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

// OpenRegular opens a regular file for reading, by its resolved path: a link in it, which appeared
// since it was resolved, is refused. So are devices, pipes and sockets, without waiting for a
// writer.
func OpenRegular(real string) (*os.File, realpath.Stat, error) {
	dir, err := realpath.OpenDir(filepath.Dir(real))
	if err != nil {
		return nil, realpath.Stat{}, err
	}
	defer dir.Close()
	f, err := dir.Open(filepath.Base(real), os.O_RDONLY, 0)
	if err != nil {
		return nil, realpath.Stat{}, err
	}
	st, err := realpath.Fstat(f)
	if err == nil && st.Kind != realpath.Regular {
		err = irregularError(f)
	}
	if err != nil {
		_ = f.Close()
		return nil, realpath.Stat{}, err
	}
	return f, st, nil
}

func irregularError(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return notRegular(info.Mode())
}

func notRegular(m fs.FileMode) error {
	what := "not a regular file"
	switch {
	case m.IsDir():
		what = "a directory"
	case m&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("it is %s", what)
}
