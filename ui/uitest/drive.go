package uitest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
	"hermes/ui"
	"hermes/ui/uitest/vt"
)

// Screen is the whole program, running on a terminal in memory.
type Screen struct {
	t       testing.TB
	Term    *vt.Terminal
	Program *ui.Program
	input   *io.PipeWriter
	cancel  context.CancelFunc
	done    chan error
}

// patience is how long a screen may take to show something before a test fails.
const patience = testwait.Hang

// Start runs the program on a terminal of w x h cells. It ends with the test.
func Start(t testing.TB, opt ui.Options, w, h int) *Screen {
	t.Helper()
	return Drive(t, opt, w, h, func(ctx context.Context, opt ui.Options, started func(*ui.Program)) error {
		p := ui.New(opt)
		started(p)
		return p.Run(ctx)
	})
}

// Drive is Start for a program that makes the screen itself: run is given the options with the
// terminal in memory, calls started before the screen runs, and returns when it has ended.
func Drive(t testing.TB, opt ui.Options, w, h int, run func(ctx context.Context, opt ui.Options, started func(*ui.Program)) error) *Screen {
	t.Helper()
	in, input := io.Pipe()
	s := &Screen{t: t, Term: vt.New(w, h), input: input, done: make(chan error, 1)}
	opt.Output, opt.Input, opt.W, opt.H = s.Term, in, w, h
	if opt.Getenv == nil {
		opt.Getenv = func(string) string { return "" }
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.cancel = cancel
	started := make(chan *ui.Program, 1)
	go func() {
		err := run(ctx, opt, func(p *ui.Program) { started <- p })
		_ = in.Close()
		s.done <- err
		close(s.done)
	}()
	t.Cleanup(func() { _ = s.Stop() })
	select {
	case s.Program = <-started:
	case err := <-s.done:
		t.Fatalf("the program ended before it had a screen: %v", err)
	}
	return s
}

// Resize changes the size of the terminal, tells the program, and returns when that has drawn
// itself anew.
func (s *Screen) Resize(w, h int) {
	s.t.Helper()
	s.Settle()
	s.Term.Resize(w, h)
	s.Program.Resize(w, h)
	s.Program.Resize(w, h) // is taken when the first one has been painted
}

// Stop ends the program and returns what Run returned.
func (s *Screen) Stop() error {
	s.cancel()
	_ = s.input.Close()
	select {
	case err := <-s.done:
		return err
	case <-time.After(patience):
		s.t.Error("the program does not end")
		return nil
	}
}

// Done receives what Run returned once the program ended by itself.
func (s *Screen) Done() <-chan error { return s.done }

// Type writes bytes as a terminal would send them: "hi", "\r" for enter, "\x1b1" for alt+1, "\x10"
// for ctrl+p.
func (s *Screen) Type(bytes string) {
	s.t.Helper()
	if _, err := io.WriteString(s.input, bytes); err != nil {
		s.t.Fatalf("typing %q: %v", bytes, err)
	}
}

// Wait waits until the picture fulfils want and returns it.
func (s *Screen) Wait(what string, want func(picture string) bool) string {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		changed := s.Term.Changed()
		if got := s.Term.Text(); want(got) {
			return got
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("the screen never showed %s:\n%s", what, s.Term.Text())
		}
	}
}

// WaitFor waits until the picture holds part.
func (s *Screen) WaitFor(part string) string {
	s.t.Helper()
	return s.Wait(part, func(p string) bool { return strings.Contains(p, part) })
}

// WaitGone waits until the picture does not hold part any more.
func (s *Screen) WaitGone(part string) string {
	s.t.Helper()
	return s.Wait("a picture without "+part, func(p string) bool { return !strings.Contains(p, part) })
}

// Settle waits until every event is on the screen and every command has ended, and returns the
// picture.
func (s *Screen) Settle() string {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for !s.Program.Idle() {
		if time.Now().After(deadline) {
			s.t.Fatal("the program is never idle")
		}
		time.Sleep(time.Millisecond) // between two looks at a condition, not instead of one
	}
	return s.Term.Text()
}
