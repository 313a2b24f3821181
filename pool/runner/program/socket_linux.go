package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/crash"
)

// listener is an abstract socket: a name without a file, in the network namespace of the container.
// Package net would make this program larger by a half.
type listener struct{ file *os.File }

// socketAddress is that of an abstract socket. The name comes with a random part: who knows it was
// told it, or is the same user.
func socketAddress(name string) (*unix.SockaddrUnix, error) {
	if name == "" || len(name) > 100 {
		return nil, fmt.Errorf("%q cannot be the name of a socket: 1 to 100 bytes", name)
	}
	return &unix.SockaddrUnix{Name: "@" + name}, nil
}

func newSocket(name string) (*os.File, *unix.SockaddrUnix, error) {
	at, err := socketAddress(name)
	if err != nil {
		return nil, nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket %s: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), at, nil
}

func listenSocket(name string) (*listener, error) {
	f, at, err := newSocket(name)
	if err != nil {
		return nil, err
	}
	err = controlFd(f, func(fd int) error { return errors.Join(unix.Bind(fd, at), unix.Listen(fd, 64)) })
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("socket %s: %w", name, err)
	}
	return &listener{f}, nil
}

func controlFd(f *os.File, do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	gone := conn.Control(func(fd uintptr) { err = do(int(fd)) })
	return errors.Join(gone, err)
}

// acceptConns hands every connection of this user or root to serve, each beside the others.
func (l *listener) acceptConns(serve func(io.ReadWriteCloser)) {
	for {
		f, err := l.nextConn()
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: it may pass
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if uid, err := checkPeer(f); err != nil || (uid != 0 && uid != os.Geteuid()) {
			_ = f.Close()
			continue
		}
		crash.Go("connection", func() { serve(f) })
	}
}

func (l *listener) nextConn() (*os.File, error) {
	conn, err := l.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, failed := -1, error(nil)
	err = conn.Read(func(at uintptr) bool {
		fd, _, failed = unix.Accept4(int(at), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "connection"), nil
}

// joinServer carries standard input and output to the socket of a serve.
func joinServer(name string) error {
	hideEnvironment()
	f, at, err := newSocket(name)
	if err != nil {
		return err
	}
	if err = controlFd(f, func(fd int) error { return unix.Connect(fd, at) }); err != nil {
		return fmt.Errorf("nothing serves on the socket %s here: %w", name, err)
	}
	uid, err := checkPeer(f)
	if err != nil || (uid != 0 && os.Geteuid() != 0 && uid != os.Geteuid()) {
		return fmt.Errorf("the socket %s belongs to another user (%d): %w", name, uid, errors.Join(err, os.ErrPermission))
	}
	rw, err := stdioConn()
	if err != nil {
		return err
	}
	done := make(chan struct{}, 2)
	crash.Go("to the socket", func() {
		_, _ = io.Copy(f, rw)
		_ = controlFd(f, func(fd int) error { return unix.Shutdown(fd, unix.SHUT_WR) })
		done <- struct{}{}
	})
	crash.Go("from the socket", func() {
		_, _ = io.Copy(rw, f)
		done <- struct{}{}
	})
	<-done
	return nil
}
