package conversation

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
)

// A terminal without bracketed paste sends a paste as keys, and each line end of it as enter: a
// pasted log would become five hundred prompts. Keys that come faster than anybody types are such a
// paste when more of them follow an enter; then the enter is a line end. Nothing of a person's
// typing waits for this.
const (
	burstGap  = 25 * time.Millisecond // between two keys of a paste at most
	burstSize = 6                     // characters that came so fast before an enter is doubted
	burstWait = 60 * time.Millisecond // after a doubted enter: what follows in this time is the paste going on
)

// burst follows how fast keys come.
type burst struct {
	last  time.Time
	size  int  // characters
	lines int  // enters that became line ends
	enter int  // numbers the doubted enters
	after bool // something came after the newest of them
}

// burstMsg says that the time after a doubted enter is over.
type burstMsg struct{ enter int }

// noteText notes n characters.
func (b *burst) noteText(now time.Time, n int) {
	if now.Sub(b.last) > burstGap {
		b.size, b.lines = 0, 0
	}
	b.last, b.size = now, b.size+n
}

// doubtsEnter reports that an enter that comes now may be a line end.
func (b *burst) doubtsEnter(now time.Time) bool {
	return b.size >= burstSize && now.Sub(b.last) <= burstGap
}

// lineEnd takes a doubted enter as a line end for now.
func (p *Pane) lineEnd() tea.Cmd {
	b := &p.burst
	b.last, b.after = p.deps.Now(), false
	b.lines++
	b.enter++
	p.composer.Key(tea.KeyMsg{Type: tea.KeyCtrlJ})
	m := burstMsg{b.enter}
	return func() tea.Msg {
		time.Sleep(burstWait)
		return m
	}
}

// burstOver sends what was written after all, when its enter was the only one and nothing came
// after it. A paste waits for an enter of its own.
func (p *Pane) burstOver(m burstMsg) tea.Cmd {
	b := &p.burst
	switch {
	case m.enter != b.enter:
		return nil
	case b.after || b.lines > 1:
		return showToast(event.Info, fmt.Sprintf("Pasted %d lines; enter sends them", b.lines+1), "")
	default:
		*b = burst{enter: b.enter}
		p.composer.Key(tea.KeyMsg{Type: tea.KeyBackspace})
		return p.submitLine()
	}
}
