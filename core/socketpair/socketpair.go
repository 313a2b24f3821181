// Package socketpair makes the channel between Hermes and a child: two connected sockets.
package socketpair

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Make returns two connected stream sockets. No other child inherits them. Ours can be closed while
// something reads it; theirs is for the child's ExtraFiles, and to be closed after the start.
func Make() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // not every system can make them close on exec at once
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		return nil, nil, errors.Join(err, unix.Close(pair[0]), unix.Close(pair[1]))
	}
	return os.NewFile(uintptr(pair[0]), "channel"), os.NewFile(uintptr(pair[1]), "channel"), nil
}
