package runner

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// bytesWaiting is the ioctl that tells how many bytes a pipe holds (FIONREAD, which x/sys does not
// have).
const bytesWaiting = 0x4004667f

// waiter waits in wait4: macOS cannot report an end without reaping.
type waiter struct {
	status unix.WaitStatus
	err    error
}

func sysAttr(l launch, _ *waiter) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: l.tty, Ctty: 0}
}

func (w *waiter) awaitExit(pid int) {
	for {
		_, w.err = unix.Wait4(pid, &w.status, 0, nil)
		if !errors.Is(w.err, unix.EINTR) {
			return
		}
	}
}

func (w *waiter) reap(int) (unix.WaitStatus, error) { return w.status, w.err }
