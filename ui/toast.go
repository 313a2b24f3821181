package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/style"
	"hermes/ui/text"
)

// toast is a short message that stands for a few seconds: one that fits on the status row, others
// in a box over the panes, so that nothing of them is lost, what to do next least of all.
type toast struct {
	level      event.Level
	text, hint string
	until      time.Time
}

// toasts are those that are shown now, newest last. A warning stays for its time, whatever comes
// after it.
type toasts []toast

const maxToasts = 4

func (ts *toasts) addToast(now time.Time, level event.Level, message, hint string) {
	stay := 4 * time.Second
	if level == event.Warn || level == event.Error {
		stay = 10 * time.Second
	}
	ts.addFor(now, stay, level, message, hint)
}

func (ts *toasts) addFor(now time.Time, stay time.Duration, level event.Level, message, hint string) {
	t := toast{level, oneLine(text.Sanitize(message)), oneLine(text.Sanitize(hint)), now.Add(stay)}
	*ts = slices.DeleteFunc(*ts, func(x toast) bool { return x.level == event.Info || x.text == t.text && x.hint == t.hint })
	*ts = append(*ts, t)
	if more := len(*ts) - maxToasts; more > 0 {
		*ts = (*ts)[more:]
	}
}

func (ts *toasts) drop(said string) {
	*ts = slices.DeleteFunc(*ts, func(t toast) bool { return t.text == said })
}

func (ts *toasts) dropExpired(now time.Time) {
	*ts = slices.DeleteFunc(*ts, func(t toast) bool { return !now.Before(t.until) })
}

// nextExpiry is when the next of them goes; zero for never.
func (ts toasts) nextExpiry() (at time.Time) {
	for _, t := range ts {
		if at.IsZero() || t.until.Before(at) {
			at = t.until
		}
	}
	return at
}

func (t toast) markAndStyle(s *style.Styles) (mark string, st styled) {
	switch t.level {
	case event.Warn:
		return s.Glyphs.Waits + " ", s.Warn
	case event.Error:
		return s.Glyphs.Failed + " ", s.Bad
	case event.Info:
	}
	return "", s.StatusStrong
}

// inRow is the only toast as it stands on the status row; "" when there is none, or when the row
// has no room of w cells for all of it.
func (ts toasts) inRow(s *style.Styles, w int) string {
	if len(ts) != 1 {
		return ""
	}
	t := ts[0]
	mark, st := t.markAndStyle(s)
	out := st.Render(mark + t.text)
	if t.hint != "" {
		out += s.Status.Render("  " + t.hint)
	}
	if text.Width(out) > w {
		return ""
	}
	return out
}

// drawBox are the lines, at most h of exactly w cells each, that show all of the toasts.
func (ts toasts) drawBox(s *style.Styles, w, h int) []string {
	var out []string
	for _, t := range ts {
		mark, st := t.markAndStyle(s)
		pad := text.Blank(text.Width(mark))
		for i, l := range text.Wrap(t.text, max(1, w-2-len(pad))) {
			if i == 0 {
				out = append(out, " "+st.Render(mark+l))
			} else {
				out = append(out, " "+pad+st.Render(l))
			}
		}
		for _, l := range text.Wrap(t.hint, max(1, w-2-len(pad))) {
			if l != "" {
				out = append(out, " "+pad+s.Dim.Render(l))
			}
		}
	}
	if h > 0 && len(out) > h {
		out = append(out[:h-1:h-1], " "+s.Dim.Render(s.Glyphs.Ellipsis))
	}
	for i := range out {
		out[i] = text.Fit(out[i], w)
	}
	return out
}

// toastWidth is the widest box of toasts.
const toastWidth = 72

// drawToasts shows in a box at the top right what the status row has no room for. The line that a
// person types in stays free.
func (f *frame) drawToasts(rows []string) {
	if len(f.toasts) == 0 || f.toasts.inRow(f.styles, f.toastRoom()) != "" {
		return
	}
	w, g, line := min(toastWidth, f.w-2), f.styles.Glyphs, f.styles.Border
	lines := f.toasts.drawBox(f.styles, w-2, max(1, f.h-7))
	out := []string{line.Render(g.TopLeft + strings.Repeat(g.Horizontal, w-2) + g.TopRight)}
	for _, l := range lines {
		out = append(out, line.Render(g.Vertical)+l+line.Render(g.Vertical))
	}
	out = append(out, line.Render(g.BottomLeft+strings.Repeat(g.Horizontal, w-2)+g.BottomRight))
	for i, l := range out {
		overwriteLine(rows, f.w-w-1, 1+i, l, f.w)
	}
}

// longTurn is how long a turn must have taken for its end to be worth a bell.
const longTurn = 10 * time.Second

func (f *frame) turnEnded(e event.TurnEnded, took time.Duration) tea.Cmd {
	if took < longTurn || e.Reason == event.TurnInterrupted {
		return nil
	}
	if e.Reason == event.TurnFailed {
		return f.notifyDesktop("failed after " + formatClock(took))
	}
	return f.notifyDesktop("done after " + formatClock(took))
}

// notifyDesktop rings the bell and sends a desktop notification through the terminal (OSC 9), when
// nobody looks.
func (f *frame) notifyDesktop(message string) tea.Cmd {
	if f.opt.Notify == "never" || f.opt.Notify != "always" && !f.blurred {
		return nil
	}
	message = strings.Map(func(r rune) rune {
		if r == ';' {
			return ' '
		}
		return r
	}, text.Inline(message))
	if err := f.screen.Write(fmt.Sprintf("\a\x1b]9;Hermes: %s\x1b\\", text.Truncate(message, 120, ""))); err != nil {
		f.failed = err
	}
	return nil
}
