package runner

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"hermes/core/confine"
	"hermes/core/crash"
)

// child is one started process: the leader of a session and group of its own.
type child struct {
	pid    int
	tag    string        // value of HERMES_CALL in its environment
	inside bool          // of a program that tells how the command ended, as a shell does
	row    row           // in the lease
	exited chan struct{} // closed when it ended; it stays unreaped, so that its number is not used again
	wait   waiter
}

// launch is everything that the fork needs.
type launch struct {
	path  string
	argv  []string
	env   []string
	dir   string
	files []*os.File // nil: closed in the child
	tty   bool       // files[0] becomes the controlling terminal

	confine *confine.Policy // of the thread that forks
	wrapped bool            // another program starts it

	outlives bool // the death of this process
}

func (r *Runner) forkChild(l launch, tag string, place row) (*child, error) {
	c := &child{tag: tag, inside: l.wrapped, row: place, exited: make(chan struct{})}
	err := r.spawnOnThread(c, l)
	if err != nil {
		place.dropRow()
		return nil, startError(l, err)
	}
	place.setProcess(c.pid)
	return c, nil
}

// spawnOnThread forks on the thread that may do what the child is to be allowed.
func (r *Runner) spawnOnThread(c *child, l launch) error {
	err := error(ErrClosed)
	if l.confine == nil {
		r.forks.runOnThread(func() { err = c.startProcess(l) })
		return err
	}
	cell, missing := r.cells.takeCell(*l.confine)
	if missing != nil {
		return noSandbox(l.confine.Mode, missing)
	}
	cell.runOnThread(func() { err = c.startProcess(l) })
	if err != nil {
		r.cells.leaveCell(cell)
		return err
	}
	crash.Go("runner cell", func() {
		<-c.exited
		r.cells.leaveCell(cell)
	})
	return nil
}

func noSandbox(m confine.Mode, why error) error {
	return fmt.Errorf("the sandbox (terminal.sandbox: %s) cannot be had, so nothing runs: %w", m, why)
}

func (c *child) startProcess(l launch) (err error) {
	attr := &syscall.ProcAttr{Dir: l.dir, Env: l.env, Files: make([]uintptr, len(l.files)), Sys: sysAttr(l, &c.wait)}
	for i, f := range l.files {
		attr.Files[i] = ^uintptr(0)
		if f != nil {
			attr.Files[i] = f.Fd()
		}
	}
	if c.pid, err = kids.forkLocked(func() (int, error) {
		pid, _, err := syscall.StartProcess(l.path, l.argv, attr)
		return pid, err
	}); err != nil {
		return err
	}
	if c.tag != "" {
		markProcess(c.pid, c.tag)
	}
	crash.Go("runner wait", func() {
		c.wait.awaitExit(c.pid)
		close(c.exited)
	})
	return nil
}

func startError(l launch, err error) error {
	switch {
	case errors.Is(err, ErrClosed):
		return err
	case errors.Is(err, unix.E2BIG):
		return fmt.Errorf("%s was not started: the arguments and environment are too large for this system: %w", l.path, err)
	case errors.Is(err, unix.EAGAIN):
		return fmt.Errorf("%s was not started: the limit of processes is reached; what runs in the background counts too: %w", l.path, err)
	case errors.Is(err, unix.ENOENT) && fileExists(l.path) && fileExists(l.dir):
		return fmt.Errorf("%s was not started: the interpreter that its first line names, or its dynamic loader, does not exist here: %w", l.path, err)
	case errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("%s was not started: it is not a program for this machine, and has no #! line: %w", l.path, err)
	default:
		return fmt.Errorf("%s was not started in %s: %w", l.path, l.dir, err)
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// exit is how a command ended.
type exit struct {
	code        int
	signal      string
	timedOut    bool
	interrupted bool
	warnings    []string
}

// reap collects the status. The child must have exited.
func (c *child) reap() (exit, error) {
	c.row.dropRow()
	ws, err := c.wait.reap(c.pid)
	kids.forgetChild(c.pid)
	if err != nil {
		return exit{}, fmt.Errorf("the command ran, but how it ended is unknown: %w", err)
	}
	if ws.Signaled() {
		return exit{code: 128 + int(ws.Signal()), signal: unix.SignalName(ws.Signal())}, nil
	}
	e := exit{code: ws.ExitStatus()}
	if c.inside && e.code > 128 {
		e.signal = unix.SignalName(unix.Signal(e.code - 128))
	}
	return e, nil
}
