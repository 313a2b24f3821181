package realpath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dir is a folder that is held open and was reached without following one link. What is done in it
// by name happens in that very folder, whatever its path leads to by then, and follows no link
// either: a path is judged once, and a link that takes the place of one of its folders while a call
// runs leads nowhere. Names are single names, never paths.
type Dir struct {
	fd   int
	path string
}

// ErrMoved says that a folder of a resolved path is a link or no folder by now: something changed
// it after it was looked at.
var ErrMoved = errors.New("a folder of its path was replaced while it was used; look at it and try again")

// OpenDir opens a folder by its absolute path, in which no part may be a link: what Resolve
// returned.
func OpenDir(path string) (*Dir, error) { return openDir(path, nil) }

// MakeDir is OpenDir, and makes the folders that are not there with mode, before the umask. made
// gets the path of each, the outermost first; it may be nil.
func MakeDir(path string, mode fs.FileMode, made func(path string)) (*Dir, error) {
	return openDir(path, func(parent int, name, at string) error {
		err := unix.Mkdirat(parent, name, uint32(mode.Perm()))
		if errors.Is(err, fs.ErrExist) {
			return nil // somebody was faster
		}
		if err == nil && made != nil {
			made(at)
		}
		return err
	})
}

func openDir(path string, missing func(parent int, name, at string) error) (*Dir, error) {
	if !filepath.IsAbs(path) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not absolute")}
	}
	path = filepath.Clean(path)
	fd, err := retryInterrupted(func() (int, error) { return unix.Open("/", dirFlags, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: "/", Err: err}
	}
	at := "/"
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		at = filepath.Join(at, name)
		next, err := openSubfolder(fd, name, at, missing)
		_ = unix.Close(fd)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: at, Err: err}
		}
		fd = next
	}
	return &Dir{fd, path}, nil
}

// openSubfolder opens the folder name in parent.
func openSubfolder(parent int, name, at string, missing func(int, string, string) error) (int, error) {
	open := func() (int, error) { return unix.Openat(parent, name, dirFlags, 0) }
	fd, err := retryInterrupted(open)
	if errors.Is(err, fs.ErrNotExist) && missing != nil {
		if err := missing(parent, name, at); err != nil {
			return -1, err
		}
		fd, err = retryInterrupted(open)
	}
	if !errors.Is(err, unix.ELOOP) && !errors.Is(err, unix.ENOTDIR) {
		return fd, err
	}
	var st unix.Stat_t
	if serr := unix.Fstatat(parent, name, &st, unix.AT_SYMLINK_NOFOLLOW); serr == nil && st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return -1, err
	}
	return -1, ErrMoved
}

// retryInterrupted repeats what a signal broke off.
func retryInterrupted(open func() (int, error)) (int, error) {
	for {
		fd, err := open()
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// Close lets the folder go. Nothing was written through it, so nothing can go wrong.
func (d *Dir) Close() { _ = unix.Close(d.fd) }

// Path is where the folder was when it was opened.
func (d *Dir) Path() string { return d.path }

func (d *Dir) pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: filepath.Join(d.path, name), Err: err}
}

// checkSingleName refuses what is no single name.
func checkSingleName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%q is no name of a file: %w", name, syscall.EINVAL)
	}
	return nil
}

// Open opens a file in the folder with the flags of os.OpenFile. A link is an error, and a pipe is
// not waited for.
func (d *Dir) Open(name string, flag int, mode fs.FileMode) (*os.File, error) {
	if err := checkSingleName(name); err != nil {
		return nil, d.pathError("open", name, err)
	}
	fd, err := retryInterrupted(func() (int, error) {
		return unix.Openat(d.fd, name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, uint32(mode.Perm()))
	})
	if errors.Is(err, unix.ELOOP) {
		err = ErrMoved
	}
	if err != nil {
		return nil, d.pathError("open", name, err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(d.path, name)), nil
}

// ReadDir lists the folder in the order of names. What an entry says of itself beyond its name and
// type is looked up by path.
func (d *Dir) ReadDir() ([]fs.DirEntry, error) {
	fd, err := retryInterrupted(func() (int, error) {
		return unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, d.pathError("open", "", err)
	}
	f := os.NewFile(uintptr(fd), d.path)
	defer f.Close()
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// Fstat describes an open file.
func Fstat(f *os.File) (Stat, error) {
	var st unix.Stat_t
	conn, err := f.SyscallConn()
	if err != nil {
		return Stat{}, err
	}
	var serr error
	if err := conn.Control(func(fd uintptr) { serr = unix.Fstat(int(fd), &st) }); err != nil {
		return Stat{}, err
	}
	if serr != nil {
		return Stat{}, &fs.PathError{Op: "stat", Path: f.Name(), Err: serr}
	}
	return statOf(&st), nil
}

// Lstat describes what has the name, a link as a link.
func (d *Dir) Lstat(name string) (Stat, error) {
	if err := checkSingleName(name); err != nil {
		return Stat{}, d.pathError("lstat", name, err)
	}
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Stat{}, d.pathError("lstat", name, err)
	}
	return statOf(&st), nil
}

// Readlink is where a link points.
func (d *Dir) Readlink(name string) (string, error) {
	if err := checkSingleName(name); err != nil {
		return "", d.pathError("readlink", name, err)
	}
	buf := make([]byte, 4097)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err == nil && n == len(buf) {
		err = unix.ENAMETOOLONG
	}
	if err != nil {
		return "", d.pathError("readlink", name, err)
	}
	return string(buf[:n]), nil
}

// Symlink makes a link.
func (d *Dir) Symlink(target, name string) error {
	if err := checkSingleName(name); err != nil {
		return d.pathError("symlink", name, err)
	}
	return d.pathError("symlink", name, unix.Symlinkat(target, d.fd, name))
}

// Rename gives what is called from the name to, in the same folder, in place of what had that name.
func (d *Dir) Rename(from, to string) error {
	if err := errors.Join(checkSingleName(from), checkSingleName(to)); err != nil {
		return d.pathError("rename", to, err)
	}
	return d.pathError("rename", to, unix.Renameat(d.fd, from, d.fd, to))
}

// Remove removes a file or a link, never what it points to.
func (d *Dir) Remove(name string) error {
	if err := checkSingleName(name); err != nil {
		return d.pathError("remove", name, err)
	}
	return d.pathError("remove", name, unix.Unlinkat(d.fd, name, 0))
}

// Rmdir removes a folder that is empty.
func (d *Dir) Rmdir(name string) error {
	if err := checkSingleName(name); err != nil {
		return d.pathError("rmdir", name, err)
	}
	return d.pathError("rmdir", name, unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR))
}

// Chmod changes the mode of a file or folder in it, never of what a link points to. mode has the
// permission and set-id bits as the system numbers them (0o7777).
func (d *Dir) Chmod(name string, mode uint32) error {
	if err := checkSingleName(name); err != nil {
		return d.pathError("chmod", name, err)
	}
	fd, err := retryInterrupted(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	if errors.Is(err, unix.EACCES) { // nobody may read it, so its mode can only be changed by name
		return d.pathError("chmod", name, d.chmodByName(name, mode))
	}
	if err == nil {
		err = errors.Join(unix.Fchmod(fd, mode), unix.Close(fd))
	}
	return d.pathError("chmod", name, err)
}

// chmodByName is for a file that may not be opened. Systems without a chmod that follows no link
// check first.
func (d *Dir) chmodByName(name string, mode uint32) error {
	st, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if st.Kind == Link {
		return ErrMoved
	}
	err = unix.Fchmodat(d.fd, name, mode, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		err = unix.Fchmodat(d.fd, name, mode, 0)
	}
	return err
}

// Sync makes the names of the folder safe on disk.
func (d *Dir) Sync() error {
	fd, err := retryInterrupted(func() (int, error) { return unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err == nil {
		err = errors.Join(unix.Fsync(fd), unix.Close(fd))
	}
	return d.pathError("sync", "", err)
}

// Kind is what a name stands for.
type Kind byte

// The kinds.
const (
	Regular Kind = iota
	Folder
	Link
	Other // devices, pipes, sockets
)

// Stat is what the system says about a name.
type Stat struct {
	Kind     Kind
	Mode     uint32 // permission and set-id bits: 0o7777
	Size     int64
	Dev, Ino uint64
	Mtime    int64 // nanoseconds since 1970
	Ctime    int64
	UID, GID uint32
	Links    uint64
}

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular
	case unix.S_IFDIR:
		return Folder
	case unix.S_IFLNK:
		return Link
	}
	return Other
}
