package file

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// keepOwner gives f the owner of a replaced file. Only root can give files away; for others both are the same already, or
// the rename makes the file theirs, as any editor does.
func keepOwner(f *os.File, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}

// links counts the names of a file.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // its type differs between systems
	}
	return 1
}

// tempName is a hidden name beside path, short enough for any file system.
func tempName(path string) string {
	return filepath.Join(filepath.Dir(path), ".hermes-"+rand.Text()[:12]+".tmp")
}
