package execcode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, in groups.
const (
	rightsRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightsFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightsWrite = rightsRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	rightsAll = rightsWrite | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// rightsOf is what a version of the interface can handle.
func rightsOf(abi int) uint64 {
	r := uint64(rightsAll)
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

// landlockVersion returns the kernel's version of the interface; 0 when there is none.
func landlockVersion() int {
	v, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

// ruleset is a set of rules that a thread can put on itself.
type ruleset struct {
	fd  int
	may uint64
}

func newRuleset(abi int) (*ruleset, error) {
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
	return &ruleset{fd: int(fd), may: attr.Handled_access_fs}, nil
}

func (r *ruleset) close() { _ = unix.Close(r.fd) }

// apply puts the rules on the calling thread.
func (r *ruleset) apply() error {
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); e != 0 {
		return fmt.Errorf("landlock: %w", e)
	}
	return nil
}

// allow grants rights at a path and below it. What does not exist, and links, whose target has its own rule, are left out.
func (r *ruleset) allow(path string, rights uint64) error {
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
		rights &= rightsFile
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

// allowBut grants rights at dir and below, but nothing at or below the hidden paths: their siblings get rules of their own. A
// folder that holds a hidden one can be listed, and what is in it used; new files directly in it are refused.
func (r *ruleset) allowBut(dir string, rights uint64, hidden []string, list bool) error {
	inside := false
	for _, h := range hidden {
		if under(dir, h) {
			return nil
		}
		inside = inside || under(h, dir)
	}
	if !inside {
		return r.allow(dir, rights)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // what we cannot list the script cannot use either
	}
	if list {
		if err := r.allow(dir, unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			continue
		}
		if err := r.allowBut(filepath.Join(dir, e.Name()), rights, hidden, true); err != nil {
			return err
		}
	}
	return nil
}

func under(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// rules makes the ruleset of a script.
func (p policy) rules(abi int) (*ruleset, error) {
	r, err := newRuleset(abi)
	if err != nil {
		return nil, err
	}
	hidden := p.secret()
	errs := []error{r.allowBut("/", rightsRead, append(slices.Clone(hidden), "/proc", "/run", "/dev", "/var/run"), false)}
	for _, dir := range p.write {
		errs = append(errs, r.allowBut(dir, rightsWrite, hidden, true))
	}
	for _, dev := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
		errs = append(errs, r.allow(dev, rightsFile))
	}
	errs = append(errs, r.allow("/dev/shm", rightsWrite))
	for _, dir := range []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"} { // where /etc/resolv.conf may lead
		errs = append(errs, r.allow(dir, rightsRead))
	}
	if err := errors.Join(errs...); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// secret lists what no script may read, of what there is: with links followed, for rules are about what is really there.
func (p policy) secret() []string {
	var out []string
	for _, path := range p.hide {
		if real, err := filepath.EvalSymlinks(path); err == nil && real != "/" {
			out = append(out, real)
		}
	}
	return out
}
