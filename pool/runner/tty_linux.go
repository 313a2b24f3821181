package runner

import (
	"os"

	"golang.org/x/sys/unix"
)

// makePollable returns f as a file whose blocked Read ends when it is closed. creack/pty leaves our
// side of a terminal in blocking mode, where a child that holds the other side would hold the
// reader for as long as it lives.
func makePollable(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return f, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return f, err
	}
	name := f.Name()
	_ = f.Close()
	return os.NewFile(uintptr(fd), name), nil
}
