package ui

import "golang.org/x/sys/unix"

// discardOutput throws away what the terminal has not taken yet, so that a blocked write returns.
func discardOutput(fd uintptr) error {
	return unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCOFLUSH) //nolint:gosec // a file descriptor is small
}
