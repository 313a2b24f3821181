package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"hermes/core/realpath"
)

// captureState describes what stands at a resolved path. With a batch it keeps the content of a
// file too.
func (s *Store) captureState(path string, b *batch, keep bool) (State, error) {
	dir, err := realpath.OpenDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return State{Kind: None}, nil
	}
	if err != nil {
		return State{}, err
	}
	defer dir.Close()
	return s.captureIn(dir, filepath.Base(path), b, keep)
}

func (s *Store) captureIn(dir *realpath.Dir, name string, b *batch, keep bool) (State, error) {
	st, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Kind: None}, nil
	}
	if err != nil {
		return State{}, err
	}
	out := State{Kind: kindOf(st.Kind), Mode: st.Mode, UID: st.UID, GID: st.GID}
	switch out.Kind {
	case Link:
		target, err := dir.Readlink(name)
		out.Mode, out.Target = 0, Path(target)
		return out, err
	case Regular:
		return s.captureFile(dir, name, out, b, keep)
	case None, Folder, Other, Unknown:
	}
	return out, nil
}

func (s *Store) captureFile(dir *realpath.Dir, name string, out State, b *batch, keep bool) (State, error) {
	f, err := dir.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return out, err
	}
	defer f.Close()
	st, err := realpath.Fstat(f)
	if err != nil {
		return out, err
	}
	if st.Kind != realpath.Regular {
		return out, realpath.ErrMoved
	}
	return s.captureContent(f, st, out, b, keep)
}

func tooLarge(size, limit int64) string {
	return fmt.Sprintf("it has %d MB, and files over %d MB are not kept (checkpoints.max_file_size_mb)", (size+1<<20-1)>>20, limit>>20)
}

// tempName is the name of a file on its way to a name: the same one at each try, so that a try that
// was killed leaves no trace.
func tempName(name string) string { return tempFile + hashOf([]byte(name))[:12] + ".tmp" }

const tempFile = ".hermes-undo-"

// putState makes a path a file or a link, in place of a file or link that may be there.
func (s *Store) putState(path string, to State) error {
	dir, err := realpath.OpenDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name, temp := filepath.Base(path), tempName(filepath.Base(path))
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if to.Kind == Link {
		err = dir.Symlink(string(to.Target), temp)
	} else {
		err = s.putFile(dir, temp, to)
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
		return err
	}
	return dir.Sync()
}

func (s *Store) putFile(dir *realpath.Dir, temp string, to State) error {
	data, err := s.blobs.readBlob(to.Hash)
	if err != nil {
		return err
	}
	f, err := dir.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		_ = f.Chown(int(to.UID), int(to.GID)) // only root can
		err = unix.Fchmod(int(f.Fd()), to.Mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// inFolderOf runs do in the folder of a path.
func inFolderOf(path string, do func(dir *realpath.Dir, name string) error) error {
	dir, err := realpath.OpenDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir, filepath.Base(path))
}

// makeFolder makes a folder and what is missing above it. Its mode comes when all is in it.
func makeFolder(path string) error {
	dir, err := realpath.MakeDir(path, 0o755, nil)
	if err == nil {
		dir.Close()
	}
	return err
}

func changeMode(st Step) error {
	return inFolderOf(string(st.Path), func(dir *realpath.Dir, name string) error { return dir.Chmod(name, st.To.Mode) })
}

// readInState reads a file that should be in a state.
func (s *Store) readInState(path string, st State) ([]byte, error) {
	if _, _, far := SplitFar(path); far {
		return nil, errors.New("its back end is not asked for that")
	}
	var data []byte
	err := inFolderOf(path, func(dir *realpath.Dir, name string) error {
		f, err := dir.Open(name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, maxDiff+1))
		return err
	})
	if err == nil && hashOf(data) != st.Hash {
		err = realpath.ErrMoved
	}
	return data, err
}
