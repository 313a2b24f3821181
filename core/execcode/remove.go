package execcode

import (
	"crypto/rand"
	"os"

	"golang.org/x/sys/unix"
)

// maxLevels is how deep a removal goes down; os.RemoveAll holds a descriptor for each level, and a
// script makes thousands.
const maxLevels = 32

// removeAll deletes a tree that a script made. Links in it are removed, never followed; folders
// without rights are opened first; what lies too deep is moved up. What cannot be removed stays.
func removeAll(root string) {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	top := os.NewFile(uintptr(fd), root)
	defer top.Close()
	for removeContents(top, top, 0) { // until nothing was moved up
		if _, err := top.Seek(0, 0); err != nil {
			break
		}
	}
	_ = os.RemoveAll(root)
}

// removeContents removes what is in dir, and reports whether some of it was moved into top instead.
func removeContents(top, dir *os.File, level int) (moved bool) {
	for {
		names, err := dir.Readdirnames(256)
		for _, name := range names {
			moved = removeEntry(top, dir, name, level) || moved
		}
		if err != nil {
			return moved
		}
	}
}

// removeEntry removes one entry of dir.
func removeEntry(top, dir *os.File, name string, level int) (moved bool) {
	at := int(dir.Fd())
	if unix.Unlinkat(at, name, 0) == nil {
		return false
	}
	var st unix.Stat_t
	if unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false
	}
	_ = unix.Fchmodat(at, name, 0o700, 0) // nothing of the script is alive to put a link here
	if level >= maxLevels {
		return unix.Renameat(at, name, int(top.Fd()), rand.Text()) == nil
	}
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	child := os.NewFile(uintptr(fd), name)
	moved = removeContents(top, child, level+1)
	_ = child.Close()
	_ = unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
	return moved
}
