package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// The processes of one data folder agree by file locks, which the system ends with the process
// however that ends. Each container's name has two:
//
//	NAME.change  held alone while the container is made, started, stopped or removed
//	NAME.use     held together by all who use it
//
// Whoever holds the first and can have the second alone knows that nobody else uses the container.
type lock struct {
	path string
	file *os.File
}

var errHeld = errors.New("another process holds the lock")

// tryLock takes a lock now, or returns errHeld.
func tryLock(path string, how int) (*lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, fmt.Errorf("lock of a container: %w", err)
		}
		err = flock(f, how)
		if err != nil {
			_ = f.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, errHeld
			}
			return nil, fmt.Errorf("lock of a container %s: %w", path, err)
		}
		if isCurrent(f, path) {
			return &lock{path, f}, nil
		}
		_ = f.Close() // it was removed between open and lock: what we hold is nobody's lock
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func isCurrent(f *os.File, path string) bool {
	a, err := f.Stat()
	b, err2 := os.Stat(path)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

const lockPoll = 20 * time.Millisecond

// takeLock waits for a lock until ctx is done.
func takeLock(ctx context.Context, path string, how int) (*lock, error) {
	for {
		l, err := tryLock(path, how)
		if !errors.Is(err, errHeld) {
			return l, err
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return nil, fmt.Errorf("another hermes is changing the same container: %w", ctx.Err())
		}
	}
}

// isAlone says whether nobody else shares the lock, which stays held, shared, whatever the answer.
// Only for who holds the change lock: others cannot come in between.
func (l *lock) isAlone() bool {
	ok := flock(l.file, unix.LOCK_EX) == nil
	for range 3 { // somebody who lists containers looks at it for a moment
		if ok {
			break
		}
		time.Sleep(lockPoll / 2)
		ok = flock(l.file, unix.LOCK_EX) == nil
	}
	// A failed conversion can lose the lock, a good one must be undone. Neither waits: nobody takes
	// it alone without the change lock.
	_ = flock(l.file, unix.LOCK_SH)
	return ok
}

// unlock gives the lock back.
func (l *lock) unlock() {
	if l != nil {
		_ = l.file.Close()
	}
}

// erase gives it back and removes its file. It must be held alone.
func (l *lock) erase() {
	_ = os.Remove(l.path)
	l.unlock()
}

func (k *Kind) changeLock(name string) string { return filepath.Join(k.homeDir(), name+".change") }
func (k *Kind) useLock(name string) string    { return filepath.Join(k.homeDir(), name+".use") }

// nobodyUses says whether no process has the name's container in use. For who holds the change lock
// and does not use it.
func (k *Kind) nobodyUses(name string) bool {
	l, err := tryLock(k.useLock(name), unix.LOCK_EX)
	if err != nil {
		return false
	}
	l.unlock()
	return true
}
