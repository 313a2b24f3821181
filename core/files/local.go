package files

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"hermes/core/realpath"
)

// Local is the files of the machine that this program runs on.
type Local struct {
	Home string // what ~ is; "" leaves it as it is written
	Dir  string // where relative paths start that come with no folder; "" refuses them
}

var errRelative = errors.New("it is relative and there is no folder that it starts in: give an absolute path")

// Resolve implements System.
func (l Local) Resolve(_ context.Context, dir, path string) (Place, error) {
	if dir == "" {
		dir = l.Dir
	}
	abs := realpath.Absolute(l.Home, dir, path)
	if !filepath.IsAbs(abs) {
		return Place{}, errRelative
	}
	real, err := realpath.Resolve(abs)
	return Place{Abs: abs, Real: real, Home: l.Home}, err
}

// inFolder does something in the folder of a resolved path.
func inFolder(real string, do func(dir *realpath.Dir, name string) error) error {
	dir, err := realpath.OpenDir(filepath.Dir(real))
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir, filepath.Base(real))
}

// Stat implements System.
func (Local) Stat(_ context.Context, real string) (st realpath.Stat, err error) {
	if real == "/" { // it is in no folder
		f, err := os.Open(real)
		if err != nil {
			return st, err
		}
		defer f.Close()
		return realpath.Fstat(f)
	}
	err = inFolder(real, func(dir *realpath.Dir, name string) (err error) {
		st, err = dir.Lstat(name)
		return err
	})
	return st, err
}

// Open implements System.
func (Local) Open(_ context.Context, real string) (io.ReadCloser, realpath.Stat, error) {
	f, st, err := OpenRegular(real)
	if err != nil {
		return nil, st, err
	}
	return f, st, nil
}

// List implements System.
func (Local) List(_ context.Context, real string) ([]Entry, error) {
	list, err := ReadDir(real)
	out := make([]Entry, len(list))
	for i, e := range list {
		out[i] = Entry{Name: e.Name(), Dir: e.IsDir()}
	}
	return out, err
}

// Write implements System. A folder of the path that became a link is an error.
func (Local) Write(_ context.Context, real string, data []byte, old *realpath.Stat) (realpath.Stat, error) {
	dir, err := realpath.MakeDir(filepath.Dir(real), 0o755, nil)
	if err != nil {
		return realpath.Stat{}, err
	}
	defer dir.Close()
	return replaceFile(dir, filepath.Base(real), data, old)
}

// Remove implements System.
func (Local) Remove(_ context.Context, real string) error {
	return inFolder(real, func(dir *realpath.Dir, name string) error {
		err := dir.Remove(name)
		if errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EPERM) {
			if st, serr := dir.Lstat(name); serr == nil && st.Kind == realpath.Folder {
				return dir.Rmdir(name)
			}
		}
		return err
	})
}
