// Package progress draws how far something long has come: a bar, how much, how fast, and how long
// it will take.
package progress

import (
	"fmt"
	"strings"
	"time"

	"hermes/core/event"
	"hermes/ui/style"
	"hermes/ui/text"
)

// window is the time that a rate is measured over: long enough to be calm, short enough to tell of
// a stall.
const window = 10 * time.Second

// Meter follows one Progress. The zero Meter has seen nothing.
type Meter struct {
	Last  event.Progress
	at    time.Time
	marks []mark // of the window, oldest first
}

type mark struct {
	at   time.Time
	done int64
}

// Known says that something was heard.
func (m *Meter) Known() bool { return m.Last.ID != "" }

// Add takes the newest report.
func (m *Meter) Add(at time.Time, p event.Progress) {
	if p.Done < m.Last.Done || p.ID != m.Last.ID { // it begins anew
		m.marks = nil
	}
	m.Last, m.at = p, at
	m.marks = append(m.marks, mark{at, p.Done})
	for len(m.marks) > 2 && (at.Sub(m.marks[1].at) >= window || len(m.marks) > 64) {
		m.marks = m.marks[1:]
	}
}

// Rate is units a second over the last seconds; 0 while unknown.
func (m *Meter) Rate() int64 {
	if len(m.marks) < 2 {
		return 0
	}
	d := m.at.Sub(m.marks[0].at)
	if d < 200*time.Millisecond {
		return 0
	}
	return int64(float64(m.Last.Done-m.marks[0].done) / d.Seconds())
}

// Left is how long it takes at this rate; 0 while unknown.
func (m *Meter) Left() time.Duration {
	rate := m.Rate()
	if rate <= 0 || m.Last.Total <= m.Last.Done {
		return 0
	}
	return time.Duration(float64(m.Last.Total-m.Last.Done) / float64(rate) * float64(time.Second)).Round(time.Second)
}

// Percent is how much of the total is done; ok is false while the total is not known.
func (m *Meter) Percent() (n int, ok bool) {
	if m.Last.Total <= 0 {
		return 0, false
	}
	return int(min(100, max(0, 100*m.Last.Done/m.Last.Total))), true
}

// Short is percent and bytes: "61% 412M".
func (m *Meter) Short() string {
	n, ok := m.Percent()
	switch {
	case ok:
		return fmt.Sprintf("%d%% %s", n, Size(m.Last.Done))
	case m.Last.Done > 0:
		return Size(m.Last.Done)
	default:
		return ""
	}
}

// Parts are what can be said, most important first: percent, bytes, the label (layers), rate, time
// left.
func (m *Meter) Parts() []string {
	var out []string
	if n, ok := m.Percent(); ok {
		out = append(out, fmt.Sprintf("%d%%", n), Size(m.Last.Done)+" of "+Size(m.Last.Total))
	} else if m.Last.Done > 0 {
		out = append(out, Size(m.Last.Done))
	}
	if m.Last.Label != "" {
		out = append(out, text.OneLine(m.Last.Label))
	}
	if rate := m.Rate(); rate > 0 {
		out = append(out, Size(rate)+"/s")
	}
	if left := m.Left(); left > 0 {
		out = append(out, Duration(left)+" left")
	}
	return out
}

// Line is bar and words in at most w cells: the words that fit, and a bar in what is left.
func (m *Meter) Line(s *style.Styles, w int) string {
	words := ""
	for _, part := range m.Parts() {
		next := strings.TrimPrefix(words+", "+part, ", ")
		if text.Width(next) > w-8 && words != "" {
			break
		}
		words = next
	}
	bar := min(w-text.Width(words)-1, 30)
	if bar < 4 {
		return text.Truncate(words, max(w, 0), s.Glyphs.Ellipsis)
	}
	return m.Bar(s, bar) + " " + words
}

// Bar is exactly w cells. While the total is not known it is empty.
func (m *Meter) Bar(s *style.Styles, w int) string {
	if w <= 0 {
		return ""
	}
	n, _ := m.Percent()
	full, empty := "█", "░"
	if s.ASCII {
		full, empty = "#", "-"
	}
	done := w * n / 100
	return s.Accent.Render(strings.Repeat(full, done)) + s.Faint.Render(strings.Repeat(empty, w-done))
}

// Size is a number of bytes in few cells: 412M.
func Size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1fG", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%dM", n>>20)
	default:
		return fmt.Sprintf("%dK", max(n, 0)>>10)
	}
}

// Duration is a time in few words: 24 s, 3 min, 2 h 5 min, 24 h, 3 d 4 h.
func Duration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return joinUnits(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	default:
		return joinUnits(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
	}
}

// joinUnits is a time in two units, or in the large one alone when nothing is left of the other.
func joinUnits(large int, unit string, small int, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d %s", large, unit)
	}
	return fmt.Sprintf("%d %s %d %s", large, unit, small, smallUnit)
}
