package confine

import "golang.org/x/sys/unix"

// guardedOld are calls that newer processors do not have.
var guardedOld = map[uint32]call{
	unix.SYS_CHMOD:     {-1, 0, -1, false, chmodFrom(1)},
	unix.SYS_CHOWN:     {-1, 0, -1, false, chownFrom(1)},
	unix.SYS_LCHOWN:    {-1, 0, -1, true, chownFrom(1)},
	unix.SYS_UTIME:     {-1, 0, -1, false, setTimes(1, readSeconds)},
	unix.SYS_UTIMES:    {-1, 0, -1, false, setTimes(1, readTimevals)},
	unix.SYS_FUTIMESAT: {0, 1, -1, false, setTimes(2, readTimevals)},
}

// makesFile are calls that make a file with a mode: the argument of the mode, and that of flags
// without which it means nothing.
var makesFile = map[uint32][2]int{
	unix.SYS_OPEN: {2, 1}, unix.SYS_OPENAT: {3, 2}, unix.SYS_CREAT: {1, -1}, unix.SYS_MKNOD: {1, -1}, unix.SYS_MKNODAT: {2, -1},
}

// setsMode are calls that set a mode: its argument.
var setsMode = map[uint32]int{unix.SYS_CHMOD: 1, unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2, sysFchmodat2: 2}
