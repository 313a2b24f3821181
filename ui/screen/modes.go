package screen

import "hermes/ui/text"

// What Hermes needs of a terminal, in the order of switching on.
const (
	enter = titlePush + "\x1b[?1049h" + "\x1b[?7l" + cursorHide + "\x1b[?2004h" + "\x1b[?1004h"
	leave = syncOff + "\x1b[m" + MouseOff + "\x1b[?1004l" + "\x1b[?2004l" + "\x1b[?7h" + "\x1b[?1049l" + cursorShow + titlePop
)

// Sequences that switch mouse reports: clicks, wheel and motion while a button is held, in the SGR
// form.
const (
	MouseOn  = "\x1b[?1002h\x1b[?1006h"
	MouseOff = "\x1b[?1006l\x1b[?1002l"
)

// The window's title from before stays on the terminal's own stack (xterm's) meanwhile.
const (
	titlePush = "\x1b[22;2t"
	titlePop  = "\x1b[23;2t"
)

// LeaveSequence gives a terminal back as it was, whatever it shows. For those who cannot reach the
// Screen any more.
const LeaveSequence = leave

// Enter switches the terminal over; the next Paint draws everything.
func (s *Screen) Enter() error {
	seq := enter
	if s.mouse {
		seq += MouseOn
	}
	s.cursor, s.pen, s.x, s.title = Cursor{}, text.Pen{}, -1, ""
	s.Invalidate()
	return s.Write(seq)
}

// Leave gives the terminal back.
func (s *Screen) Leave() error {
	s.cursor = Cursor{}
	return s.Write(leave)
}

// SetMouse switches mouse reports on or off. Off, the terminal's own selection works.
func (s *Screen) SetMouse(on bool) error {
	if on == s.mouse {
		return nil
	}
	s.mouse = on
	if on {
		return s.Write(MouseOn)
	}
	return s.Write(MouseOff)
}

// Mouse reports whether mouse reports are on.
func (s *Screen) Mouse() bool { return s.mouse }

// SetTitle sets the title of the terminal's window, when it is another one. It must be clean text.
func (s *Screen) SetTitle(title string) error {
	if title == s.title {
		return nil
	}
	s.title = title
	return s.Write("\x1b]2;" + title + "\x1b\\")
}

// Write sends a sequence that moves nothing (a bell, OSC 52, OSC 9, a title) between two frames.
func (s *Screen) Write(seq string) error {
	_, err := s.out.Write([]byte(seq))
	return err
}
