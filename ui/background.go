package ui

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/ansi"

	"hermes/core/crash"
	"hermes/ui/style"
)

// A terminal that is asked for the colour of its background answers OSC 11, a colour of
// XParseColor, and BEL or ST: ESC ] 11 ; rgb:ffff/ffff/ffff ESC \. See "Operating System Commands"
// in xterm's ctlseqs. Many answer nothing, so that nobody waits for it.
const (
	answerBegins  = "\x1b]11;"
	longestAnswer = 64
	answerWithin  = 3 * time.Second // over a slow line; what comes later is keys
)

// backgroundTold is what the terminal answered.
type backgroundTold struct{ dark bool }

// shouldAskBackground reports whether the terminal's background decides about the theme, and only
// the terminal knows it.
func (o Options) shouldAskBackground() bool {
	return o.followsBackground() && o.Getenv("COLORFGBG") == "" && o.Getenv("TERM") != "linux" &&
		style.Detect(o.Getenv) != style.None
}

// followsBackground reports whether the theme is the one that fits the terminal.
func (o Options) followsBackground() bool { return o.Theme == "" || o.Theme == DefaultTheme }

// DefaultTheme is what stands for the theme that fits the terminal.
const DefaultTheme = "default"

// askBackground asks the terminal behind keys. The answer is taken out of the keys.
func (p *Program) askBackground(keys *wholeKeys) {
	if p.frame.terminal.out == nil || !p.opt.shouldAskBackground() {
		return
	}
	keys.answer.expect(func(dark bool) {
		crash.Go("background", func() { p.tea.Send(backgroundTold{dark}) }) // the reader must not wait for the loop
	})
	// Where the write fails, the first frame's does too, and says so.
	_ = p.frame.screen.Write(ansi.RequestBackgroundColor)
}

// followBackground takes the theme that fits, unless the person has chosen another one meanwhile.
func (f *frame) followBackground(told backgroundTold) {
	before, err := f.opt.loadTheme(f.opt.Theme)
	f.opt.light = !told.dark
	if err == nil && before.Name == f.styles.Name && before.Dark != told.dark {
		f.setTheme(f.opt.Theme)
	}
}

// backgroundAnswer takes the answer of a terminal out of what is read from it. Its zero value
// expects none.
type backgroundAnswer struct {
	until atomic.Int64 // in ns since 1970; 0: none is expected
	told  func(dark bool)
}

// expect calls told once, when the answer comes. It must be called before the first read.
func (a *backgroundAnswer) expect(told func(dark bool)) {
	a.told = told
	a.until.Store(time.Now().Add(answerWithin).UnixNano())
}

// takeFrom removes the answer from b, if it is there, and returns how many bytes are left and how
// many of them, at the end, may be the beginning of one.
func (a *backgroundAnswer) takeFrom(b []byte) (left, open int) {
	until := a.until.Load()
	if until == 0 {
		return len(b), 0
	}
	if time.Now().UnixNano() > until {
		a.until.Store(0)
		return len(b), 0
	}
	start := bytes.Index(b, []byte(answerBegins))
	if start < 0 {
		return len(b), beginningLength(b)
	}
	said, rest, whole := cutAnswer(b[start+len(answerBegins):])
	if !whole {
		if open = len(b) - start; open > longestAnswer {
			open = 0
		}
		return len(b), open
	}
	a.until.Store(0)
	if c := ansi.XParseColor(string(said)); c != nil {
		r, g, b, _ := c.RGBA()
		a.told(2126*r+7152*g+722*b < 5000*0xffff) // the luminance of ITU-R BT.709, in ten thousandths
	}
	return start + copy(b[start:], rest), 0
}

// cutAnswer splits what follows the beginning of an answer at its end.
func cutAnswer(b []byte) (said, rest []byte, whole bool) {
	i := bytes.IndexAny(b, "\x07\x1b")
	switch {
	case i < 0 || b[i] == '\x1b' && i+1 == len(b):
		return nil, nil, false
	case b[i] == '\x07':
		return b[:i], b[i+1:], true
	case b[i+1] == '\\':
		return b[:i], b[i+2:], true
	}
	return b[:i], b[i:], true // cut off by another sequence
}

// beginningLength is how many bytes at the end of b begin an answer. An escape alone is a key:
// where a read ends between it and the rest, the answer is not understood.
func beginningLength(b []byte) int {
	for k := len(answerBegins) - 1; k > 1; k-- {
		if bytes.HasSuffix(b, []byte(answerBegins[:k])) {
			return k
		}
	}
	return 0
}
