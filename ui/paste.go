package ui

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
)

// A terminal puts a paste between these two.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// maxPaste is how much of one paste is taken, in bytes: as much as a prompt of `hermes run` may
// have.
const maxPaste = 10 << 20

// pastes takes what is pasted out of what is read from a terminal and leaves its two ends, between
// which nothing stands. bubbletea copies and searches all of a paste with every 256 bytes of it: 10
// MB take more than a minute, in which no key is answered. It also drops what is no UTF-8.
type pastes struct {
	inside bool
	body   []byte // of the paste that is read, as far as it is kept
	bytes  int    // of it in all, or a few more

	mu   sync.Mutex
	done []paste // those that bubbletea has not told of yet, oldest first
}

// paste is what a person pasted.
type paste struct {
	text    []rune
	invalid int // bytes that are no UTF-8
	tooLong int // bytes, of a paste of which nothing was kept
}

// takeFrom removes what is pasted from b. open is how many of the bytes that are left, at the end,
// may be the beginning of a paste. full says that b is all that could be read at once. What is
// returned has at most len(pasteEnds) bytes more than b.
func (p *pastes) takeFrom(b []byte, full bool) (left []byte, open int) {
	for len(b) > 0 {
		if p.inside {
			rest, ended := p.takeBody(b)
			if !ended {
				break
			}
			left, b = append(left, pasteEnds...), rest
			continue
		}
		start := bytes.Index(b, []byte(pasteBegins))
		if start < 0 {
			return append(left, b...), beginningOfPaste(b, full)
		}
		start += len(pasteBegins)
		left, b = append(left, b[:start]...), b[start:]
		p.inside = true
	}
	return left, 0
}

// takeBody adds b to the paste, and returns what follows its end.
func (p *pastes) takeBody(b []byte) (rest []byte, ended bool) {
	from := max(0, len(p.body)-len(pasteEnds)+1)
	p.body = append(p.body, b...)
	p.bytes += len(b)
	end := bytes.Index(p.body[from:], []byte(pasteEnds))
	if end < 0 {
		if keep := len(pasteEnds) - 1; p.bytes > maxPaste+keep && len(p.body) > keep {
			p.body = p.body[:copy(p.body, p.body[len(p.body)-keep:])] // the end may have begun
		}
		return nil, false
	}
	end += from
	rest = bytes.Clone(p.body[end+len(pasteEnds):])
	got := paste{}
	if n := p.bytes - len(rest) - len(pasteEnds); n > maxPaste {
		got.tooLong = n
	} else {
		got.text, got.invalid = readPaste(p.body[:end])
	}
	p.inside, p.body, p.bytes = false, nil, 0
	p.mu.Lock()
	p.done = append(p.done, got)
	p.mu.Unlock()
	return rest, true
}

// beginningOfPaste is how many bytes at the end of b begin a paste. An escape alone, and one with a
// bracket, are keys, unless b is all that could be read at once.
func beginningOfPaste(b []byte, full bool) int {
	least := len("\x1b[2")
	if full {
		least = 1
	}
	for k := len(pasteBegins) - 1; k >= least; k-- {
		if bytes.HasSuffix(b, []byte(pasteBegins[:k])) {
			return k
		}
	}
	return 0
}

// readPaste returns the characters of b. What is no UTF-8 becomes one U+FFFD for bytes that follow
// each other.
func readPaste(b []byte) (out []rune, invalid int) {
	out = make([]rune, 0, utf8.RuneCount(b))
	broken := false
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		if r == utf8.RuneError && n == 1 {
			if invalid++; broken {
				continue
			}
			broken = true
		} else {
			broken = false
		}
		out = append(out, r)
	}
	return out, invalid
}

// next returns the oldest paste that nobody was told of.
func (p *pastes) next() (got paste, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.done) == 0 {
		return paste{}, false
	}
	got, p.done = p.done[0], p.done[1:]
	return got, true
}

// restorePaste puts what was pasted in the place of the empty paste that bubbletea read.
func (p *pastes) restorePaste(msg tea.Msg) tea.Msg {
	if key, ok := msg.(tea.KeyMsg); ok && key.Paste {
		if got, ok := p.next(); ok {
			return got
		}
	}
	return msg
}

// isText reports that some of it can be read.
func (p paste) isText() bool { return p.invalid == 0 || len(p.text) > 1 }

// handlePaste hands a paste to whoever has the keys, or says why nobody gets it.
func (f *frame) handlePaste(p paste) tea.Cmd {
	const instead = "Save it to a file, and name the file: @notes.txt"
	switch {
	case p.tooLong > 0:
		return f.showToast(event.Warn, fmt.Sprintf("The paste has %d MB, more than the %d MB that a paste may have: nothing was taken",
			(p.tooLong+1<<20-1)>>20, maxPaste>>20), instead)
	case !p.isText():
		return f.showToast(event.Warn, fmt.Sprintf("The paste is no text: none of its %d bytes is UTF-8. Nothing was taken", p.invalid), instead)
	}
	cmd := f.handleKey(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: p.text})
	if p.invalid > 0 {
		return tea.Batch(cmd, f.showToast(event.Warn, fmt.Sprintf("In the paste \uFFFD stands for what is no UTF-8 (bytes: %d)", p.invalid),
			"Where they matter, save it to a file and name the file"))
	}
	return cmd
}
