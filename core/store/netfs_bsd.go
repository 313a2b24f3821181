//go:build darwin || freebsd

package store

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// networkFS reports whether path lies on a file system without the shared memory that a write-ahead
// log needs.
func networkFS(path string) (fsType string, network bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &st); err != nil {
		return "", false
	}
	fsType = unix.ByteSliceToString(st.Fstypename[:])
	return fsType, isNetwork(fsType)
}
