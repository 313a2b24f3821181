package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// InUseError says that another process works in a session.
type InUseError struct {
	UID string
	PID int // of that process; 0 when the system does not tell
}

func (e *InUseError) Error() string {
	who := "another hermes"
	if e.PID > 0 {
		who = fmt.Sprintf("another hermes (pid %d)", e.PID)
	}
	return fmt.Sprintf("session %s is at work in %s: wait until it is done, stop it there, or fork the session (hermes sessions fork %s)", e.UID, who, e.UID)
}

// leases are locks on single bytes of one file, at the row id of each session: the system takes
// them away when the process ends, however it ends, so that none can be stale, and it tells who has
// one. They belong to the process: the file is opened once and stays open, because closing any
// descriptor of it would drop them all.
type leases struct {
	mu   sync.Mutex
	file *os.File
	held map[int64]int // by session: how many in this process
}

// Lease marks session uid as worked in by this process until release. While another process has it,
// the error is an *InUseError. Within this process several may have it; first is false for all but
// the first. Where files cannot be locked, everybody gets it.
func (s *Store) Lease(ctx context.Context, uid string) (release func(), first bool, err error) {
	x, err := s.Session(ctx, uid)
	if err != nil {
		return nil, false, err
	}
	l := &s.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[int64]int{}
	}
	if l.file == nil {
		l.file, _ = os.OpenFile(s.path+".leases", os.O_CREATE|os.O_RDWR, 0o600) // a full disk must not end the conversation
	}
	if first = l.held[x.ID] == 0; first && l.file != nil {
		if pid, taken := lockByte(l.file, x.ID); taken {
			return nil, false, &InUseError{UID: uid, PID: pid}
		}
	}
	l.held[x.ID]++
	return sync.OnceFunc(func() { l.release(x.ID) }), first, nil
}

// IsWorkedElsewhere reports whether another process works in the session of that row.
func (s *Store) IsWorkedElsewhere(id int64) bool {
	l := &s.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		l.file, _ = os.OpenFile(s.path+".leases", os.O_RDWR, 0) // where there is none nobody works
	}
	if l.file == nil {
		return false
	}
	lock := byteLock(unix.F_WRLCK, id)
	return unix.FcntlFlock(l.file.Fd(), unix.F_GETLK, lock) == nil && lock.Type != unix.F_UNLCK
}

func (l *leases) release(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[id]--; l.held[id] > 0 {
		return
	}
	delete(l.held, id)
	if l.file != nil {
		_ = unix.FcntlFlock(l.file.Fd(), unix.F_SETLK, byteLock(unix.F_UNLCK, id))
	}
}

func (l *leases) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

func byteLock(kind int16, at int64) *unix.Flock_t {
	return &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: 1}
}

// lockByte reports who has the lock when it is not to be had.
func lockByte(f *os.File, at int64) (pid int, taken bool) {
	for range 3 { // the holder may let go between the two questions
		err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, byteLock(unix.F_WRLCK, at))
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
			return 0, false
		}
		who := byteLock(unix.F_WRLCK, at)
		if unix.FcntlFlock(f.Fd(), unix.F_GETLK, who) == nil && who.Type != unix.F_UNLCK {
			return int(max(0, who.Pid)), true
		}
	}
	return 0, true
}
