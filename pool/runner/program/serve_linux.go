package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/crash"
	"hermes/pool/runner"
	"hermes/pool/runner/wire"
)

// How long commands get: when somebody asked us to end, and when nobody is there any more.
const (
	politeGrace = 2 * time.Second
	politeWait  = 5 * time.Second
	lostGrace   = 500 * time.Millisecond
	lostWait    = 1500 * time.Millisecond
)

func serveRunner(o options) error {
	hideEnvironment()
	warmUp()
	ended := make(chan os.Signal, 4)
	signal.Notify(ended, unix.SIGTERM, unix.SIGINT)
	// Caught, not ignored, for what is ignored stays so in every command: the end of a stream is
	// seen by reading it.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE, unix.SIGHUP)
	if os.Getpid() == 1 {
		crash.Go("orphans", collectOrphans)
	}
	s := wire.NewServer(wire.Place{Info: currentPlace(), Grace: o.grace})
	if o.socket != "" {
		l, err := listenSocket(o.socket)
		if err != nil {
			return err
		}
		crash.Go("socket", func() { l.acceptConns(s.Serve) })
	}
	rw, err := stdioConn()
	if err != nil {
		return err
	}
	crash.Go("stdio", func() { s.Serve(rw) })
	grace, wait := politeGrace, politeWait
	select {
	case <-ended:
	case <-s.Idle():
		grace, wait = lostGrace, lostWait
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := s.Close(ctx, grace); err != nil {
		return err
	}
	return nil
}

// hideEnvironment closes /proc/PID/fd, mem and ptrace to commands, which run as the same user: none
// may write into the stream and so speak for this program. What is started from here is seen as
// ever. An error leaves things as they were.
func hideEnvironment() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// warmUp makes threads beforehand, for a command that reached the limit of processes must not keep
// this program from the thread with which it ends that command: Go gives up where it gets none.
func warmUp() {
	const threads = 14
	runtime.GOMAXPROCS(min(runtime.NumCPU(), 4))
	var all, ready sync.WaitGroup
	ready.Add(threads)
	all.Add(threads)
	for range threads {
		crash.Go("warm", func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread() // the thread is kept
			ready.Done()
			ready.Wait()
			all.Done()
		})
	}
	all.Wait()
}

// collectOrphans ends the zombies that the first process of a container inherits.
func collectOrphans() {
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	for range children {
		time.Sleep(100 * time.Millisecond) // one look for many
		runner.Reap()
	}
}

// stream is standard input and output as one. Closing it ends reads and writes that wait.
type stream struct{ in, out *os.File }

func (s stream) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s stream) Write(b []byte) (int, error) { return s.out.Write(b) }
func (s stream) Close() error                { return errors.Join(s.in.Close(), s.out.Close()) }

// stdioConn moves the stream to other descriptors, so that nothing else of this process can write
// into it.
func stdioConn() (io.ReadWriteCloser, error) {
	var files [2]*os.File
	for fd := range files {
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
		if err == nil {
			err = unix.SetNonblock(own, true) // then the poller watches it
		}
		if err != nil {
			return nil, fmt.Errorf("standard input and output: %w", err)
		}
		_, _ = unix.FcntlInt(uintptr(own), unix.F_SETPIPE_SZ, 256<<10) // fewer turns of both sides in a flood; if it is a pipe, and may grow
		files[fd] = os.NewFile(uintptr(own), []string{"stdin", "stdout"}[fd])
		if err := silenceStdio(fd); err != nil {
			return nil, err
		}
	}
	return stream{files[0], files[1]}, nil
}

// silenceStdio makes a standard descriptor /dev/null, or, where there is none, closes what it was
// by pointing it at standard error.
func silenceStdio(fd int) error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return unix.Dup3(2, fd, 0)
	}
	defer func() { _ = unix.Close(null) }()
	return unix.Dup3(null, fd, 0)
}

// checkPeer returns the user on the other side of a socket.
func checkPeer(f *os.File) (uid int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	if gone := conn.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); gone != nil || err != nil {
		return 0, errors.Join(gone, err)
	}
	return int(cred.Uid), nil
}
