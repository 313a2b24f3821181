package conversation

import (
	"strconv"
	"strings"
	"time"

	"hermes/core/event"
	"hermes/ui/text"
)

// header is the name over a message: who speaks at the left; when, or with which model and at what
// cost, at the right.
type header struct {
	base
	name  string
	facts []string // the most important one first; those that do not fit are left out
	at    time.Time
	user  bool
}

func (h *header) Lines(w int) []string {
	st, facts := h.e.s.Assistant, h.facts
	if h.user {
		st = h.e.s.User
	}
	if h.e.display.Timestamps && !h.at.IsZero() {
		facts = append(facts[:len(facts):len(facts)], h.at.Format("15:04"))
	}
	left := " " + st.Render(h.name)
	for n := len(facts); n > 0; n-- {
		right := strings.Join(facts[:n], " · ")
		if text.Width(left)+text.Width(right)+2 <= w {
			return []string{sides(left, h.e.s.Dim.Render(right), w)}
		}
	}
	return []string{text.Fit(left, w)}
}

// ended adds what the turn took.
func (h *header) ended(ev event.TurnEnded) {
	if ev.Reason == event.TurnDone {
		h.facts = append(h.facts, clock(ev.Took))
	}
	if ev.Usage.CostKnown && ev.Usage.Cost > 0 {
		h.facts = append(h.facts, money(ev.Usage.Cost))
	}
	if ev.Usage.Output > 0 {
		unit := " tokens"
		if ev.Usage.Output == 1 {
			unit = " token"
		}
		h.facts = append(h.facts, strconv.Itoa(ev.Usage.Output)+unit)
	}
	h.bump()
}

// money writes millionths of a dollar.
func money(micro int64) string {
	d := float64(micro) / 1e6
	if d != 0 && d < 0.1 {
		return "$" + strconv.FormatFloat(d, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(d, 'f', 2, 64)
}
