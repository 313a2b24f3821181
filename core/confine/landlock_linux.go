package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, in groups.
const (
	List = unix.LANDLOCK_ACCESS_FS_READ_DIR
	Read = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	File = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	Write = Read | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	all = Write | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// rightsOf is what a version of the interface can handle.
func rightsOf(abi int) uint64 {
	r := uint64(all)
	if abi < 2 {
		r &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < 3 {
		r &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < 5 {
		r &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return r
}

// Landlock returns the kernel's version of the interface; 0 when there is none.
func Landlock() int {
	v, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

// Rules is a set of rules that a thread can put on itself.
type Rules struct {
	fd  int
	may uint64
}

// NewRules returns an empty set of rules for a version of the interface: what no rule allows is
// refused.
func NewRules(abi int) (*Rules, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: rightsOf(abi)}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		size = unsafe.Sizeof(attr.Handled_access_fs) + unsafe.Sizeof(attr.Handled_access_net) + unsafe.Sizeof(attr.Scoped)
	}
	fd, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return nil, fmt.Errorf("landlock: %w", e)
	}
	unix.CloseOnExec(int(fd))
	return &Rules{fd: int(fd), may: attr.Handled_access_fs}, nil
}

// Close ends the use of the rules; threads that they were put on keep them.
func (r *Rules) Close() { _ = unix.Close(r.fd) }

// Apply puts the rules on the calling thread.
func (r *Rules) Apply() error {
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); e != 0 {
		return fmt.Errorf("landlock: %w", e)
	}
	return nil
}

// Allow grants rights at a path and below it. What does not exist, and links, whose target has its
// own rule, are left out.
func (r *Rules) Allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil //nolint:nilerr // nothing there, or nothing that we may use: no rule is the answer
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return nil
	case unix.S_IFDIR:
	default:
		rights &= File
	}
	attr := struct { // packed: the structure of unix has no room between its fields either
		access [8]byte
		fd     int32
	}{fd: int32(fd)}
	*(*uint64)(unsafe.Pointer(&attr.access)) = rights & r.may
	_, _, e := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if e != 0 && !errors.Is(e, unix.ENOMSG) {
		return fmt.Errorf("landlock: rule for %s: %w", path, e)
	}
	return nil
}

// AllowBut grants rights at dir and below, but nothing at or below the hidden paths: their siblings
// get rules of their own. A folder that holds a hidden one can be listed, and what is in it used;
// new files directly in it are refused.
func (r *Rules) AllowBut(dir string, rights uint64, hidden []string, list bool) error {
	inside := false
	for _, h := range hidden {
		if Under(dir, h) {
			return nil
		}
		inside = inside || Under(h, dir)
	}
	if !inside {
		return r.Allow(dir, rights)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // what we cannot list the script cannot use either
	}
	if list {
		if err := r.Allow(dir, unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			continue
		}
		if err := r.AllowBut(filepath.Join(dir, e.Name()), rights, hidden, true); err != nil {
			return err
		}
	}
	return nil
}

// Under reports whether path is dir or below it.
func Under(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// Existing returns what there is of the paths, with links followed: rules are about what is really
// there.
func Existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil && real != "/" {
			out = append(out, real)
		}
	}
	return out
}
