//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package ui

import "golang.org/x/sys/unix"

const flushWrite = 2 // FWRITE of sys/file.h

// discardOutput throws away what the terminal has not taken yet, so that a blocked write returns.
func discardOutput(fd uintptr) error {
	return unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, flushWrite)
}
