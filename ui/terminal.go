package ui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"hermes/core/crash"
	"hermes/ui/screen"
)

// terminal is the device under the screen: raw mode, size, and giving both back. Where input or
// output is no terminal (in tests) it does nothing.
type terminal struct {
	in, out *os.File
	before  *term.State
	lent    atomic.Bool // a process has it
}

func newTerminal(in io.Reader, out io.Writer) *terminal {
	t := &terminal{}
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) { //nolint:gosec // a file descriptor is small
		t.in = f
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) { //nolint:gosec // as above
		t.out = f
	}
	return t
}

// keyboardInput is standard input, or the controlling terminal when something is piped in.
func keyboardInput() io.Reader {
	if term.IsTerminal(int(os.Stdin.Fd())) { //nolint:gosec // as above
		return os.Stdin
	}
	if tty, err := os.Open("/dev/tty"); err == nil {
		return tty
	}
	return os.Stdin
}

// takeOver makes the terminal ours.
func (t *terminal) takeOver(s *screen.Screen) error {
	if t.in != nil {
		state, err := term.MakeRaw(int(t.in.Fd())) //nolint:gosec // as above
		if err != nil {
			return fmt.Errorf("raw mode: %w", err)
		}
		t.before = state
	}
	return s.Enter()
}

// giveBack gives the terminal back.
func (t *terminal) giveBack(s *screen.Screen) error {
	return errors.Join(s.Leave(), t.endRawMode())
}

// endRawMode ends raw mode.
func (t *terminal) endRawMode() error {
	if t.before == nil {
		return nil
	}
	err := term.Restore(int(t.in.Fd()), t.before) //nolint:gosec // as above
	t.before = nil
	return err
}

// giveBackUnasked gives the terminal back when nobody may be asked any more: after a panic, or
// while writes block.
func (t *terminal) giveBackUnasked(out io.Writer, wait time.Duration) {
	if t.out != nil {
		_ = discardOutput(t.out.Fd()) // at worst the next write blocks, and is not waited for
	}
	done := make(chan struct{})
	crash.Go("rescue terminal", func() {
		defer close(done)
		_, _ = io.WriteString(out, screen.LeaveSequence)
	})
	select {
	case <-done:
	case <-time.After(wait):
	}
	_ = t.endRawMode()
}

// size returns the terminal's size in cells. A terminal that says 0 is taken for 80x24.
func (t *terminal) size(w, h int) (int, int) {
	if t.out == nil {
		return w, h
	}
	w, h, err := term.GetSize(int(t.out.Fd())) //nolint:gosec // as above
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// watchSize calls changed after each resize until stop is closed.
func (t *terminal) watchSize(stop <-chan struct{}, changed func(w, h int)) {
	if t.out == nil {
		return
	}
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGWINCH, syscall.SIGCONT)
	crash.Go("terminal size", func() {
		defer signal.Stop(sig)
		for {
			select {
			case <-stop:
				return
			case <-sig:
				changed(t.size(0, 0))
			}
		}
	})
}

// ignoredAfter is how long a stop may take before it counts as ignored.
const ignoredAfter = 500 * time.Millisecond

// stopSelf stops our process group as the shell's ctrl+z would, and returns when it is continued.
func stopSelf() {
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	if syscall.Kill(0, syscall.SIGTSTP) != nil {
		return
	}
	// Without a shell that could continue us (the program is its own session) the kernel ignores
	// the signal.
	select {
	case <-cont:
	case <-time.After(ignoredAfter):
	}
}
