package confine

import (
	"encoding/binary"
	"maps"

	"golang.org/x/sys/unix"
)

// Landlock has no rights for attributes: mode, owner, times and extended attributes of every file
// could be changed. A filter of system calls cannot read paths. So the calls below are answered by
// a Guard (guard_linux.go) in their caller's stead.

// call says where a system call has what it is about. -1 is: nowhere.
type call struct {
	at    int  // argument with the descriptor of a folder, or of the file itself
	path  int  // argument with the path
	flags int  // argument with AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH
	link  bool // a link at the end of the path is not followed
	do    func(t *target, a [6]uint64) error
}

// Calls that golang.org/x/sys does not know for every processor.
const (
	sysFchmodat2     = 452
	sysSetxattrat    = 463
	sysRemovexattrat = 466
	sysFileSetattr   = 469
)

// guardedCalls are the calls that change attributes of a file: those of every processor and old
// ones of some.
func guardedCalls() map[uint32]call {
	calls := map[uint32]call{
		unix.SYS_FCHMOD:       {0, -1, -1, false, chmodFrom(1)},
		unix.SYS_FCHMODAT:     {0, 1, -1, false, chmodFrom(2)},
		sysFchmodat2:          {0, 1, 3, false, chmodFrom(2)},
		unix.SYS_FCHOWN:       {0, -1, -1, false, chownFrom(1)},
		unix.SYS_FCHOWNAT:     {0, 1, 4, false, chownFrom(2)},
		unix.SYS_UTIMENSAT:    {0, 1, 3, false, setTimes(2, readTimespecs)},
		unix.SYS_SETXATTR:     {-1, 0, -1, false, setXattr},
		unix.SYS_LSETXATTR:    {-1, 0, -1, true, setXattr},
		unix.SYS_FSETXATTR:    {0, -1, -1, false, setXattr},
		unix.SYS_REMOVEXATTR:  {-1, 0, -1, false, removeXattr},
		unix.SYS_LREMOVEXATTR: {-1, 0, -1, true, removeXattr},
		unix.SYS_FREMOVEXATTR: {0, -1, -1, false, removeXattr},
		unix.SYS_TRUNCATE:     {-1, 0, -1, false, truncateTarget}, // Landlock sees it from Linux 6.2 on
	}
	maps.Copy(calls, guardedOld)
	return calls
}

const setIDs = unix.S_ISUID | unix.S_ISGID

// chmodFrom sets no set-uid bit, and set-gid only on folders, where it means something else.
func chmodFrom(mode int) func(*target, [6]uint64) error {
	return func(t *target, a [6]uint64) error {
		to := uint32(a[mode]) & 0o7777
		if to&unix.S_ISUID != 0 || to&unix.S_ISGID != 0 && t.fileType() != unix.S_IFDIR {
			return unix.EPERM
		}
		return unix.Chmod(t.fdPath(), to)
	}
}

func chownFrom(uid int) func(*target, [6]uint64) error {
	return func(t *target, a [6]uint64) error {
		return unix.Fchownat(t.fd, "", int(int32(a[uid])), int(int32(a[uid+1])), unix.AT_EMPTY_PATH)
	}
}

// setTimes sets the times that read finds in the caller's memory; none is: now.
func setTimes(arg int, read func(*target, uint64) ([]unix.Timespec, error)) func(*target, [6]uint64) error {
	return func(t *target, a [6]uint64) error {
		var ts []unix.Timespec
		if a[arg] != 0 {
			var err error
			if ts, err = read(t, a[arg]); err != nil {
				return err
			}
		}
		return unix.UtimesNanoAt(t.fd, "", ts, unix.AT_EMPTY_PATH)
	}
}

func readTimespecs(t *target, at uint64) ([]unix.Timespec, error) {
	v, err := t.readWords(at, 4)
	if err != nil {
		return nil, err
	}
	return []unix.Timespec{{Sec: v[0], Nsec: v[1]}, {Sec: v[2], Nsec: v[3]}}, nil
}

func readTimevals(t *target, at uint64) ([]unix.Timespec, error) {
	v, err := t.readWords(at, 4)
	if err != nil {
		return nil, err
	}
	if uint64(v[1]) > 999_999 || uint64(v[3]) > 999_999 {
		return nil, unix.EINVAL
	}
	return []unix.Timespec{{Sec: v[0], Nsec: v[1] * 1000}, {Sec: v[2], Nsec: v[3] * 1000}}, nil
}

func readSeconds(t *target, at uint64) ([]unix.Timespec, error) {
	v, err := t.readWords(at, 2)
	if err != nil {
		return nil, err
	}
	return []unix.Timespec{{Sec: v[0]}, {Sec: v[1]}}, nil
}

const (
	maxXattrName  = 256
	maxXattrValue = 64 << 10
)

func setXattr(t *target, a [6]uint64) error {
	name, err := t.readString(a[1], maxXattrName, unix.ERANGE)
	if err != nil {
		return err
	}
	if a[3] > maxXattrValue {
		return unix.E2BIG
	}
	value := make([]byte, a[3])
	if err := t.readMemory(a[2], value); err != nil {
		return err
	}
	if t.fileType() == unix.S_IFLNK { // what a program may set is none of a link
		return unix.EPERM
	}
	return unix.Setxattr(t.fdPath(), name, value, int(int32(a[4])))
}

func removeXattr(t *target, a [6]uint64) error {
	name, err := t.readString(a[1], maxXattrName, unix.ERANGE)
	if err != nil {
		return err
	}
	if t.fileType() == unix.S_IFLNK {
		return unix.EPERM
	}
	return unix.Removexattr(t.fdPath(), name)
}

func truncateTarget(t *target, a [6]uint64) error { return unix.Truncate(t.fdPath(), int64(a[1])) }

// readWords reads numbers of 64 bits from the caller's memory.
func (t *target) readWords(at uint64, n int) ([]int64, error) {
	raw := make([]byte, 8*n)
	if err := t.readMemory(at, raw); err != nil {
		return nil, err
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return out, nil
}
