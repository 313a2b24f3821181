package wire

import (
	"errors"
	"fmt"
	"time"
)

// Version of the protocol. Both sides must speak the same one: they come out of one build.
const Version = 2

// Options of a Client. The zero value is right for most.
type Options struct {
	Grace     time.Duration // between TERM and KILL on the far side; 0 means 2 s
	Drain     time.Duration // as runner.Options.Drain
	Heartbeat time.Duration // 0 means 10 s; after three of them without a word the other side is lost
	SHA256    string        // of the program that must answer, in hexadecimal; "" accepts any
}

// Info is what the far program says about itself and the place where it runs. It is as trustworthy
// as that place.
type Info struct {
	Version  int    // of the protocol
	SHA256   string // of the program, hexadecimal; "" when it could not read itself
	OS, Arch string // as GOOS and GOARCH
	UID, GID int
	PID      int // 1: it is the first process of its container
	Hostname string
	Home     string // HOME
	Dir      string // where it was started: WORKDIR of an image, home of a login
	Shell    string // path of bash, else of sh; "" when there is neither: only argument vectors can run
}

// NotStarted is an error of Run and Start when the command certainly did not begin because this
// connection, or what is behind it, is of no use any more: elsewhere, or after a new start, the
// same command may well begin. What is wrong with the command itself (no such program or directory,
// too large) is an ordinary error.
type NotStarted struct{ Err error }

func (e *NotStarted) Error() string { return e.Err.Error() }
func (e *NotStarted) Unwrap() error { return e.Err }

// Lost is an error of a call in whose middle the stream was lost.
type Lost struct{ Err error }

func (e *Lost) Error() string {
	return fmt.Sprintf("connection lost; the command may still have run: %v", e.Err)
}
func (e *Lost) Unwrap() error { return e.Err }

// ErrClosed is why a Client that was closed starts nothing.
var ErrClosed = errors.New("the connection was closed")
