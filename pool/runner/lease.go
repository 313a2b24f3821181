package runner

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// lease ends the commands of a Runner whose process died without a Close, by whatever death. With
// the first command it starts a keeper: a shell in a session of its own that waits on a pipe of
// which only this process holds the other end, so the kernel tells it. What runs is in a table in
// memory that both have open: a call costs three small writes and does not wake the keeper.
//
// A call is in the table from before its fork until it is reaped, for as long as its number names
// it and nothing else. What a command left behind when it ended is thus not the keeper's, as it is
// not Close's.
type lease struct {
	tag string // what the tags of all calls begin with

	mu     sync.Mutex
	table  *os.File
	hold   *os.File // the pipe; it is closed when the Runner is gone
	keeper *child   // nil before the first command
	free   []int64  // offsets of rows that are not in use
	size   int64    // of the table
	closed bool
	told   bool // that there is no keeper
	off    bool // nobody wants one
}

const (
	rowFormat = "%010d %-10d\n" // the call, and its process or 0
	rowSize   = 22
)

// blank is a row that is not in use.
var blank = strings.Repeat(" ", rowSize-1) + "\n"

// row is a call's place in the table.
type row struct {
	of   *lease // nil: it has none
	at   int64
	call uint64
}

// takeRow enters a call that is about to be started. Without a keeper the command runs all the
// same, and the first error says so.
func (l *lease) takeRow(call uint64) (row, error) {
	if l.off {
		return row{}, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ensureKeeper(); err != nil {
		told := l.told || errors.Is(err, ErrClosed)
		l.told = true
		if told {
			return row{}, nil
		}
		return row{}, err
	}
	r := row{of: l, at: l.size, call: call}
	if last := len(l.free) - 1; last >= 0 {
		r.at, l.free = l.free[last], l.free[:last]
	} else {
		l.size += rowSize
	}
	r.writeRow(fmt.Sprintf(rowFormat, call, 0))
	return r, nil
}

// setProcess says which process, and so which group and session, the call is.
func (r row) setProcess(pid int) {
	if r.of == nil {
		return
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.writeRow(fmt.Sprintf(rowFormat, r.call, pid))
}

// dropRow takes the call out. Its process must not have been reaped.
func (r row) dropRow() {
	if r.of == nil {
		return
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.writeRow(blank)
	r.of.free = append(r.of.free, r.at)
}

// writeRow writes the row. It is not torn by our death: one small write is in the table whole, or
// not at all.
func (r row) writeRow(text string) {
	if r.of.table != nil {
		_, _ = r.of.table.WriteAt([]byte(text), r.at)
	}
}

// releaseKeeper lets the keeper go. It has nothing to do when the table is empty; else, when a
// Close of the Runner gave up on something, it does what it would have done had the process died.
func (l *lease) releaseKeeper() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.keeper == nil {
		return
	}
	idle := int64(len(l.free))*rowSize == l.size
	if idle {
		_ = unix.Kill(l.keeper.pid, unix.SIGKILL) // not reaped yet: it is nobody else's number
	}
	_ = l.hold.Close()
	_ = l.table.Close()
	if idle {
		<-l.keeper.exited
		_, _ = l.keeper.reap()
	}
	l.keeper, l.table = nil, nil
}
