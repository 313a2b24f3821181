package shell

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"hermes/core/crash"
	"hermes/core/event"
	"hermes/ui/emulator"
)

// Bounds of what waits on its way to and from the shell.
const (
	maxWaiting = 16 << 10 // output behind which whole lines of plain text are left out
	maxTyped   = 1 << 20  // typed and pasted
	maxReplies = 4 << 10  // answers of the terminal to a program that does not read them
)

// link is a shell that runs, with the terminal that it draws on. It has two goroutines, one a
// direction, which end with the shell.
type link struct {
	term    *emulator.Terminal
	changed func()

	mu      sync.Mutex
	output  []byte
	dropped int
	typed   []byte
	replies int // bytes of typed that the terminal answered
	proc    Process
	ended   bool

	wakeOut, wakeIn chan struct{}
	done            chan struct{}
}

func newLink(w, h int, changed func()) *link {
	l := &link{changed: changed, wakeOut: make(chan struct{}, 1), wakeIn: make(chan struct{}, 1), done: make(chan struct{})}
	l.term = emulator.New(w, h, l.answerProgram)
	crash.Go("shell output", l.drawLoop)
	return l
}

// startLink begins to type into the process, and waits for its end.
func (l *link) startLink(p Process) {
	l.mu.Lock()
	l.proc = p
	l.mu.Unlock()
	crash.Go("shell input", l.writeInput)
	crash.Go("shell end", func() {
		p.Wait()
		l.stopGoroutines()
	})
}

// stopGoroutines stops the goroutines, behind the last output.
func (l *link) stopGoroutines() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.ended = true
		close(l.done)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// takeOutput takes output from the pool. It never waits.
func (l *link) takeOutput(s event.Stream, data []byte) {
	if s == event.Note { // ours, with lines of ours, in the midst of a sequence perhaps
		data = append([]byte("\x18\x1b[0;2m"), bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))...)
		data = append(data, "\x1b[m"...)
	}
	l.mu.Lock()
	l.output = append(l.output, data...)
	if len(l.output) > 2*maxWaiting {
		n := 0
		l.output, n = thinFlood(l.output, maxWaiting)
		l.dropped += n
	}
	l.mu.Unlock()
	signal(l.wakeOut)
}

// thinFlood leaves whole lines of plain text out of the front until at most that many bytes wait,
// or no such line is left. Everything that changes how the terminal works is a sequence, and those
// stay.
func thinFlood(data []byte, most int) (kept []byte, lines int) {
	kept = data[:0]
	for len(data) > 0 && len(kept)+len(data) > most {
		n := bytes.IndexByte(data, '\n') + 1
		if n == 0 {
			break
		}
		if bytes.IndexByte(data[:n], 0x1b) >= 0 {
			kept = append(kept, data[:n]...)
		} else {
			lines++
		}
		data = data[n:]
	}
	return append(kept, data...), lines
}

// drawLoop feeds the terminal. What comes while it draws waits together, so a flood costs one
// picture a frame.
func (l *link) drawLoop() {
	defer l.term.Close()
	for {
		ended := false
		select {
		case <-l.wakeOut:
		case <-l.done:
			ended = true
		}
		for data := l.nextPart(); len(data) > 0; data = l.nextPart() {
			l.term.Write(data)
			l.changed()
		}
		if ended {
			l.changed()
			return
		}
	}
}

// nextPart is the next part of what waits: so little that it is drawn within a frame, and whole
// lines, so that what is left out behind them begins with one.
func (l *link) nextPart() []byte {
	const part = 4 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	var data []byte
	if l.dropped > 0 && !l.term.Alternate() {
		data = fmt.Appendf(data, "[%d lines came faster than they could be shown]\r\n", l.dropped)
	}
	l.dropped = 0
	n := min(part, len(l.output))
	if i := bytes.LastIndexByte(l.output[:n], '\n'); i >= 0 && n < len(l.output) {
		n = i + 1
	}
	data = append(data, l.output[:n]...)
	l.output = l.output[n:]
	return data
}

// answerProgram is what the terminal says to the program. It never waits: a program that asks and
// does not listen gets no more answers.
func (l *link) answerProgram(data []byte) {
	l.mu.Lock()
	if l.replies+len(data) <= maxReplies {
		l.replies += len(data)
		l.typed = append(l.typed, data...)
	}
	l.mu.Unlock()
	signal(l.wakeIn)
}

// typeInput is what the person types. It reports whether there was room for it.
func (l *link) typeInput(data []byte) bool {
	l.mu.Lock()
	room := !l.ended && len(l.typed)+len(data) <= maxTyped
	if room {
		l.typed = append(l.typed, data...)
	}
	l.mu.Unlock()
	signal(l.wakeIn)
	return room
}

// writeInput gives the shell its input, which may wait for a program that does not read.
func (l *link) writeInput() {
	for {
		select {
		case <-l.wakeIn:
		case <-l.done:
			return
		}
		l.mu.Lock()
		data := l.typed
		l.typed, l.replies = nil, 0
		l.mu.Unlock()
		if len(data) > 0 && l.proc.Write(data) != nil {
			return // it has ended: Wait tells
		}
	}
}

// hasEnded reports whether the shell has ended.
func (l *link) hasEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// killShell ends the shell and what runs in it.
func (l *link) killShell(ctx context.Context) error {
	l.mu.Lock()
	p := l.proc
	l.mu.Unlock()
	if p == nil {
		l.stopGoroutines()
		return nil
	}
	return p.Kill(ctx)
}
