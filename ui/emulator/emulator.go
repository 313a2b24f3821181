// Package emulator is a terminal in memory for programs that nobody trusts: what they write becomes
// cells, and only cells leave it. Titles, clipboards, links and whatever else a sequence asks of a
// terminal stay inside.
//
// The contract: Write may be called from one goroutine while another draws. It never blocks on the
// program, never panics, and takes no longer than its bytes are worth: the lock is given up every
// few hundred of them. A width that the program and we see differently never moves what stands
// right of it.
//
// The parser and the screen are charm's x/vt; what is here bounds it, guards it and turns it into
// rows for a pane.
package emulator

import (
	"io"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"hermes/core/crash"
)

const (
	// history is how many lines that scrolled away are kept.
	history = 2000
	// piece is how many bytes are written under one lock: some milliseconds at worst.
	piece = 512
	// maxSize bounds a terminal in cells a side.
	maxSize = 500
)

// Terminal is one terminal in memory.
type Terminal struct {
	reply func([]byte)

	mu     sync.Mutex
	vt     *vt.Emulator
	w, h   int
	hidden bool
	alt    bool
	modes  modes
	shades map[[3]uint8]shade
	closed bool
}

// New makes a terminal of w x h cells. Reply gets what the terminal answers to the program; it may
// be nil and must not block.
func New(w, h int, reply func([]byte)) *Terminal {
	t := &Terminal{reply: reply, shades: map[[3]uint8]shade{}}
	t.w, t.h = clamp(w), clamp(h)
	t.reset()
	return t
}

func clamp(n int) int { return min(max(n, 1), maxSize) }

// reset begins with an empty screen. The lock is held, or nobody has the terminal yet.
func (t *Terminal) reset() {
	t.endReplies()
	e := vt.NewEmulator(t.w, t.h)
	e.SetScrollbackSize(history)
	t.vt, t.hidden, t.alt, t.modes = e, false, false, modes{}
	e.SetCallbacks(vt.Callbacks{
		AltScreen:        func(on bool) { t.alt = on },
		CursorVisibility: func(visible bool) { t.hidden = !visible },
		EnableMode:       func(m ansi.Mode) { t.setMode(m, true) },
		DisableMode:      func(m ansi.Mode) { t.setMode(m, false) },
	})
	limitRepeats(e)
	crash.Go("terminal replies", func() { t.forwardAnswers(e) })
}

// forwardAnswers hands over what the emulator says to the program. It must always read: the
// emulator waits for it.
func (t *Terminal) forwardAnswers(e *vt.Emulator) {
	buf := make([]byte, 256)
	for {
		n, err := e.Read(buf)
		if n > 0 && t.reply != nil {
			t.reply(append([]byte(nil), buf[:n]...))
		}
		if err != nil {
			return
		}
	}
}

// endReplies ends the goroutine of answer. The emulator's own Close races with its Read.
func (t *Terminal) endReplies() {
	if t.vt == nil {
		return
	}
	if c, ok := t.vt.InputPipe().(io.Closer); ok {
		c.Close()
	}
}

// Close ends the terminal. What it shows stays.
func (t *Terminal) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		t.endReplies()
	}
}

// Write is what the program prints.
func (t *Terminal) Write(data []byte) {
	for len(data) > 0 {
		n := min(len(data), piece)
		t.writeGuarded(data[:n])
		data = data[n:]
	}
}

// writeGuarded survives what the emulator does not: the screen begins anew, and the rest of the
// program with it.
func (t *Terminal) writeGuarded(data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	defer func() {
		if recover() != nil {
			t.reset()
		}
	}()
	_, _ = t.vt.Write(data)
}

// Resize changes the size in cells.
func (t *Terminal) Resize(w, h int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, h = clamp(w), clamp(h)
	if w == t.w && h == t.h {
		return
	}
	t.w, t.h = w, h
	defer func() {
		if recover() != nil {
			t.reset()
		}
	}()
	t.vt.Resize(w, h)
}

// Alternate reports a full-screen program: it has the alternate screen.
func (t *Terminal) Alternate() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.alt
}

// History is how many lines have scrolled away and can be looked at; none while a full-screen
// program runs.
func (t *Terminal) History() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.historyLength()
}

func (t *Terminal) historyLength() int {
	if t.alt {
		return 0
	}
	return t.vt.ScrollbackLen()
}

// Cursor is where the cursor stands; ok is false when the program hides it.
func (t *Terminal) Cursor() (x, y int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.vt.CursorPosition()
	return min(max(p.X, 0), t.w-1), min(max(p.Y, 0), t.h-1), !t.hidden
}

// limitRepeats bounds what the emulator would take at its word: a repeat of a billion characters is
// ten bytes to write, and rows below the last one can be named as a margin but not written to.
func limitRepeats(e *vt.Emulator) {
	for _, cmd := range []int{'b', 'I', 'Z', 'X', '@', 'P', 'L', 'M', 'S', 'T'} {
		e.RegisterCsiHandler(cmd, func(params ansi.Params) bool {
			n, _, _ := params.Param(0, 1)
			return n > max(e.Width(), e.Height(), 1000) // handled: not at all
		})
	}
	e.RegisterCsiHandler('r', func(params ansi.Params) bool {
		bottom, _, _ := params.Param(1, e.Height())
		return bottom > e.Height()
	})
}
