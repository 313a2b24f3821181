package ui_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"hermes/core/testskip"
)

// full stops reading the terminal and fills it from the side of the program, until it takes nothing
// more.
func (r *real) full() {
	r.t.Helper()
	side := r.side()
	defer func() { _ = unix.Close(side) }()
	close(r.hold)
	junk := make([]byte, 16)          // the kernel refuses large pieces before it is full
	for refused := 0; refused < 20; { // the kernel moves bytes along behind us, so that one refusal is not the end
		_, err := unix.Write(side, junk)
		switch {
		case errors.Is(err, unix.EAGAIN):
			refused++
			<-r.held
			time.Sleep(10 * time.Millisecond)
		case err == nil:
			refused = 0
		case !errors.Is(err, unix.EINTR):
			r.t.Fatal(err)
		}
	}
}

// side opens the program's side of the terminal, for writes that do not block.
func (r *real) side() (fd int) {
	r.t.Helper()
	raw, err := r.pty.SyscallConn()
	if err != nil {
		r.t.Fatal(err)
	}
	n := 0
	if ctlErr := raw.Control(func(master uintptr) { n, err = unix.IoctlGetInt(int(master), unix.TIOCGPTN) }); ctlErr != nil || err != nil { //nolint:gosec // a file descriptor is small
		r.t.Fatal(ctlErr, err)
	}
	if fd, err = unix.Open(fmt.Sprint("/dev/pts/", n), unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0); err != nil {
		r.t.Fatal(err)
	}
	return fd
}

func TestATerminalThatTakesNothingDoesNotHoldUs(t *testing.T) {
	testskip.Long(t, "waits for real time-outs")
	for _, busy := range []bool{true, false} {
		t.Run(fmt.Sprint("busy ", busy), func(t *testing.T) {
			r := startReal(t)
			r.wait("ready")
			if busy {
				r.key("\x06")
				r.wait("00000")
			}
			r.full()
			if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if code := r.exit(patience); code != 1 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
