//go:build unix

package execcode

import (
	"io/fs"
	"os"
	"syscall"
)

func isOwned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
