package progress

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/event"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

var start = time.Date(2026, 3, 4, 14, 2, 0, 0, time.UTC)

func TestRateAndTimeLeft(t *testing.T) {
	m := Meter{}
	for i := range int64(21) {
		m.Add(start.Add(time.Duration(i)*time.Second), event.Progress{ID: "pull:x", Label: "3 of 5 layers", Done: i * 10 << 20, Total: 400 << 20})
	}
	if m.Rate() != 10<<20 || m.Left() != 20*time.Second {
		t.Errorf("rate %d, left %v", m.Rate(), m.Left())
	}
	if got := strings.Join(m.Parts(), ", "); got != "50%, 200M of 400M, 3 of 5 layers, 10M/s, 20 s left" {
		t.Errorf("says %q", got)
	}
	if got := text.Sanitize(m.Line(uitest.Styles(t, style.True), 40)); got != "███████░░░░░░░ 50%, 200M of 400M" && text.Width(got) > 40 {
		t.Errorf("draws %q", got)
	}
	m.Add(start.Add(time.Minute), event.Progress{ID: "pull:x", Done: 1, Total: 400 << 20})
	if m.Rate() != 0 {
		t.Error("a pull that begins anew has the old rate")
	}
}

func TestAStallIsSeen(t *testing.T) {
	m := Meter{}
	m.Add(start, event.Progress{ID: "x", Done: 0, Total: 100 << 20})
	m.Add(start.Add(time.Second), event.Progress{ID: "x", Done: 50 << 20, Total: 100 << 20})
	for i := range 30 {
		m.Add(start.Add(time.Duration(i+2)*time.Second), event.Progress{ID: "x", Done: 50 << 20, Total: 100 << 20})
	}
	if m.Rate() != 0 || m.Left() != 0 {
		t.Errorf("rate %d, left %v of a pull that stands still", m.Rate(), m.Left())
	}
}

func TestAnyLineFits(t *testing.T) {
	styles := uitest.Styles(t, style.True)
	rapid.Check(t, func(rt *rapid.T) {
		m := Meter{}
		for i := range rapid.IntRange(0, 4).Draw(rt, "reports") {
			m.Add(start.Add(time.Duration(i)*time.Second), event.Progress{
				ID: "x", Label: rapid.SampledFrom([]string{"", "3 of 5 layers", "网络\n\x1b[2J"}).Draw(rt, "label"),
				Done: rapid.Int64Range(-1<<40, 1<<40).Draw(rt, "done"), Total: rapid.Int64Range(-1, 1<<40).Draw(rt, "total"),
			})
		}
		w := rapid.IntRange(0, 120).Draw(rt, "w")
		if line := m.Line(styles, w); text.Width(line) > w || strings.Contains(line, "\n") {
			rt.Fatalf("%d cells of %d: %q", text.Width(line), w, line)
		}
		if bar := m.Bar(styles, w); text.Width(bar) != w {
			rt.Fatalf("a bar of %d cells has %d", w, text.Width(bar))
		}
	})
}

func TestATimeNamesNoEmptyUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		90 * time.Second: "90 s", 3 * time.Minute: "3 min", 2*time.Hour + 5*time.Minute: "2 h 5 min",
		24 * time.Hour: "24 h", 48 * time.Hour: "2 d", 76 * time.Hour: "3 d 4 h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}
