package runner

import (
	"os"

	"golang.org/x/sys/unix"
)

// newTable makes the file of the lease. It is memory: nothing of it is on a disk, and nothing is left of it.
func newTable() (*os.File, error) {
	fd, err := unix.MemfdCreate("hermes-lease", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "hermes-lease"), nil
}
