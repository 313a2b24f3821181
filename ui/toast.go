package ui

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/text"
)

// toast is the short message that stands on the status row for a few seconds.
type toast struct {
	level      event.Level
	text, hint string
	until      time.Time
}

func (t *toast) show(now time.Time, level event.Level, message, hint string) {
	stay := 4 * time.Second
	if level == event.Warn || level == event.Error {
		stay = 10 * time.Second
	}
	*t = toast{level, oneLine(text.Sanitize(message)), oneLine(text.Sanitize(hint)), now.Add(stay)}
}

func (t *toast) expire(now time.Time) {
	if !now.Before(t.until) {
		*t = toast{}
	}
}

func (t *toast) view(f *frame) string {
	if t.text == "" {
		return ""
	}
	mark, st := "", f.styles.StatusStrong
	switch t.level {
	case event.Warn:
		mark, st = f.styles.Glyphs.Waits+" ", f.styles.Warn
	case event.Error:
		mark, st = f.styles.Glyphs.Failed+" ", f.styles.Bad
	case event.Info:
	}
	out := st.Render(mark + t.text)
	if t.hint != "" {
		out += f.styles.Status.Render("  " + t.hint)
	}
	return out
}

// longTurn is how long a turn must have taken for its end to be worth a bell.
const longTurn = 10 * time.Second

func (f *frame) turnEnded(e event.TurnEnded, took time.Duration) tea.Cmd {
	if took < longTurn || e.Reason == event.TurnInterrupted {
		return nil
	}
	if e.Reason == event.TurnFailed {
		return f.notify("failed after " + clock(took))
	}
	return f.notify("done after " + clock(took))
}

// notify rings the bell and sends a desktop notification through the terminal (OSC 9), when nobody looks.
func (f *frame) notify(message string) tea.Cmd {
	if f.opt.Notify == "never" || f.opt.Notify != "always" && !f.blurred {
		return nil
	}
	message = strings.Map(func(r rune) rune {
		if r == ';' || r < 0x20 {
			return ' '
		}
		return r
	}, message)
	if err := f.screen.Write(fmt.Sprintf("\a\x1b]9;Hermes: %s\x1b\\", text.Truncate(message, 120, ""))); err != nil {
		f.failed = err
	}
	return nil
}
