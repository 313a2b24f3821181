package runner

import (
	"os"

	"golang.org/x/sys/unix"
)

// newTable makes the file of the lease. It is memory: nothing of it is on a disk, and nothing is
// left of it.
func newTable() (*os.File, error) { return memoryFile("hermes-lease") }

// newScript makes the file of a long command: in memory, for a container may have no place to
// write.
func newScript() (*os.File, error) {
	f, err := memoryFile("hermes-script")
	if err != nil {
		return scriptInTemp()
	}
	return f, nil
}

func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
