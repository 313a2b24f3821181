package runner

import (
	_ "embed"
	"fmt"
	"os"
)

// keeperScript comes by the pipe that it then waits on, so that a list of processes shows one short
// line.
//
//go:embed keeper.sh
var keeperScript string

// ensureKeeper sees to it that a keeper lives: the first one, or another one when somebody killed
// it.
func (l *lease) ensureKeeper() error {
	if l.closed {
		return ErrClosed
	}
	if l.keeper != nil {
		if !closesWithin(0, l.keeper.exited) {
			return nil
		}
		_, _ = l.keeper.reap()
		_ = l.hold.Close()
		l.keeper = nil
	}
	err := l.openTable()
	if err == nil {
		err = l.startKeeper()
	}
	if err != nil {
		return fmt.Errorf("what runs when this program is killed will outlive it, for the keeper was not started: %w", err)
	}
	return nil
}

func (l *lease) openTable() (err error) {
	if l.table == nil {
		l.table, err = newTable()
	}
	return err
}

func (l *lease) startKeeper() error {
	ear, hold, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ear.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		_ = hold.Close()
		return err
	}
	defer null.Close()
	keeper := &child{exited: make(chan struct{})}
	if _, err = hold.WriteString(keeperScript); err == nil { // it fits into a pipe: this does not wait for the reader
		err = keeper.startProcess(launch{
			path: defaultShell, argv: []string{"sh", "-s", "hermes-keeper", l.tag, markPrefix(l.tag)}, env: keeperEnv(), dir: "/",
			files: []*os.File{ear, null, null, l.table}, outlives: true,
		})
	}
	if err != nil {
		_ = hold.Close()
		return err
	}
	l.keeper, l.hold = keeper, hold
	return nil
}

// keeperEnv has nothing of ours but where the programs are. The script looks for HERMES_LAST, which
// must not be first.
func keeperEnv() []string {
	path := os.Getenv("PATH")
	if path == "" {
		path = "/usr/bin:/bin"
	}
	return []string{"PATH=" + path, "LC_ALL=C", "HERMES_LAST=1"}
}
