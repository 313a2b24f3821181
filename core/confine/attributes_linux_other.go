//go:build linux && !amd64

package confine

import "golang.org/x/sys/unix"

var guardedOld map[uint32]call

var makesFile = map[uint32][2]int{unix.SYS_OPENAT: {3, 2}, unix.SYS_MKNODAT: {2, -1}}

var setsMode = map[uint32]int{unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2, sysFchmodat2: 2}
