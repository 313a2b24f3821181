package program

import (
	"fmt"
	"testing"
	"time"

	"hermes/ui"
	"hermes/ui/uitest"
)

// library is a home with two imported sessions, so that nothing on the screen depends on when the
// test runs.
func library(t testing.TB) *home {
	t.Helper()
	h := newHome(t, "")
	for _, name := range []string{"docker", "pool"} {
		if r := h.run("sessions", "import", "testdata/"+name+".json"); r.code != 0 {
			t.Fatal(r.err)
		}
	}
	return h
}

// noon is a clock that starts at noon of the day after the sessions of library.
func noon() func() time.Time {
	began := time.Now()
	return func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(time.Since(began)) }
}

// settled waits for what is opened behind the first frame: the conversation, the list, and the
// model where there is room to name it.
func settled(s *uitest.Screen, size uitest.Size) string {
	s.WaitFor("run the test again")
	if size.W >= 80 {
		s.WaitFor("sonnet")
	}
	if size.W >= 120 {
		s.WaitFor("0 of 1 up")
	}
	return s.Settle()
}

func TestGoldenScreens(t *testing.T) {
	h := library(t)
	for _, size := range uitest.Sizes() {
		s := h.screen(size.W, size.H, ui.Options{Now: noon()}, "the pool test")
		uitest.Golden(t, fmt.Sprintf("screen-%dx%d", size.W, size.H), settled(s, size))
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// A screen that grew and shrank shows what one shows that was opened in that size.
func TestGoldenScreensAfterResizing(t *testing.T) {
	h := library(t)
	sizes := uitest.Sizes()
	first := sizes[len(sizes)-1]
	s := h.screen(first.W, first.H, ui.Options{Now: noon()}, "the pool test")
	settled(s, first)
	for _, size := range append(sizes, uitest.Size{W: 20, H: 5}, uitest.Size{W: 1, H: 1}, sizes[1], first, sizes[0]) {
		s.Resize(size.W, size.H)
		if size.W < 40 {
			s.Settle()
			continue
		}
		uitest.Golden(t, fmt.Sprintf("screen-%dx%d", size.W, size.H), settled(s, size))
	}
}
