package files

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"hermes/core/realpath"
)

// replaceFile puts data at a name through a temporary file beside it. Mode, owner and extended
// attributes are those of the old file; without one a new file gets what the umask gives. The path
// was resolved, so a symlink that pointed to it still does; other hard links keep the old content.
// Where no file can be put in its place (the folder is not ours to write, the file is a mount of
// its own), the file is written where it is: then a crash may leave half of it.
func replaceFile(dir *realpath.Dir, name string, data []byte, old *realpath.Stat) (realpath.Stat, error) {
	st, err := viaTemp(dir, name, data, old)
	if err == nil || old == nil || !inPlaceOnly(err) {
		return st, err
	}
	if again, terr := overwriteFile(dir, name, data, old); terr == nil {
		return again, nil
	}
	return st, err
}

func viaTemp(dir *realpath.Dir, name string, data []byte, old *realpath.Stat) (st realpath.Stat, err error) {
	temp := ".hermes-" + rand.Text()[:12] + ".tmp" // short enough for any file system
	mode := os.FileMode(0o666)
	if old != nil {
		mode = 0o600 // nobody reads what the old file kept from them, not even for a moment
	}
	f, err := dir.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return st, err
	}
	_, err = f.Write(data)
	if err == nil && old != nil {
		err = keepAttributes(dir, name, f, *old)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		st, err = realpath.Fstat(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return st, err
}

// keepAttributes gives f what the file that it replaces had. Only root can give files away; for
// others the owner is the same already, or the rename makes the file theirs, as any editor does.
func keepAttributes(dir *realpath.Dir, name string, f *os.File, old realpath.Stat) error {
	_ = f.Chown(int(old.UID), int(old.GID))
	if was, err := dir.Open(name, os.O_RDONLY, 0); err == nil {
		copyAttributes(was, f)
		_ = was.Close()
	}
	return f.Chmod(os.FileMode(old.Mode & 0o777)) // after the owner: changing that clears set-id bits
}

// copyAttributes copies what can be copied: access lists, tags. What grants rights to a program's
// bytes is not carried to other bytes.
func copyAttributes(from, to *os.File) {
	src, dst := int(from.Fd()), int(to.Fd())
	size, err := unix.Flistxattr(src, nil)
	if err != nil || size <= 0 || size > 64<<10 {
		return
	}
	buf := make([]byte, size)
	n, err := unix.Flistxattr(src, buf)
	if err != nil {
		return
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(buf[:n]), "\x00"), "\x00") {
		if name == "" || name == "security.capability" || name == "security.ima" || name == "security.evm" {
			continue
		}
		value := make([]byte, 64<<10)
		if n, err := unix.Fgetxattr(src, name, value); err == nil {
			_ = unix.Fsetxattr(dst, name, value[:n], 0)
		}
	}
}

func inPlaceOnly(err error) bool {
	for _, e := range []error{syscall.EACCES, syscall.EPERM, syscall.EBUSY} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// overwriteFile writes into the file itself, and puts the old bytes back when that fails.
func overwriteFile(dir *realpath.Dir, name string, data []byte, old *realpath.Stat) (st realpath.Stat, err error) {
	before, err := contentOf(dir, name)
	if err != nil {
		return st, err
	}
	f, err := dir.Open(name, os.O_WRONLY, 0)
	if err != nil {
		return st, err
	}
	st, err = realpath.Fstat(f)
	if err == nil && (st.Kind != realpath.Regular || !Same(st, *old)) {
		err = realpath.ErrMoved
	}
	if err == nil {
		if err = writeWhole(f, data); err != nil {
			err = errors.Join(err, writeWhole(f, before))
		}
	}
	if err == nil {
		st, err = realpath.Fstat(f)
	}
	return st, errors.Join(err, f.Close())
}

// contentOf reads a file that is about to be written over.
func contentOf(dir *realpath.Dir, name string) ([]byte, error) {
	f, err := dir.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxWrite+1))
	if err == nil && len(data) > MaxWrite {
		err = errors.New("it is too large to be written over in its place")
	}
	return data, err
}

func writeWhole(f *os.File, data []byte) error {
	_, err := f.WriteAt(data, 0)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}
