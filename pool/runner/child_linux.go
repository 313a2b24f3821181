package runner

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// bytesWaiting is the ioctl that tells how many bytes a pipe holds.
const bytesWaiting = unix.TIOCINQ

// waiter learns of the end of a child through its pidfd, which the network poller watches: no
// thread is blocked for a running command.
type waiter struct{ pidfd int }

func sysAttr(l launch, w *waiter) *syscall.SysProcAttr {
	w.pidfd = -1
	attr := &syscall.SysProcAttr{Setsid: true, Setctty: l.tty && !l.wrapped, Ctty: 0, PidFD: &w.pidfd}
	if !l.outlives {
		attr.Pdeathsig = syscall.SIGKILL // at once, though only this one: the rest is the keeper's
	}
	return attr
}

// awaitExit blocks until the child has ended and leaves it unreaped.
func (w *waiter) awaitExit(pid int) {
	if w.pidfd >= 0 && w.pollExit() == nil {
		return
	}
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
}

func (w *waiter) pollExit() error {
	if err := unix.SetNonblock(w.pidfd, true); err != nil {
		_ = unix.Close(w.pidfd)
		return err
	}
	f := os.NewFile(uintptr(w.pidfd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || (err != nil && !errors.Is(err, unix.EINTR))
	})
}

func (w *waiter) reap(pid int) (unix.WaitStatus, error) {
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &ws, 0, nil)
		if !errors.Is(err, unix.EINTR) {
			return ws, err
		}
	}
}
