package conversation

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/core/chat"
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
	took  string     // of the turn; "" when nobody measured it
	usage chat.Usage // of its answers
}

func (h *header) Lines(w int) []string {
	st, facts := h.e.s.Assistant, slices.Concat(h.facts, h.spentFacts())
	if h.user {
		st = h.e.s.User
	}
	if h.e.display.Timestamps && !h.at.IsZero() {
		facts = append(facts, h.at.Format("15:04"))
	}
	left := " " + st.Render(h.name)
	for n := len(facts); n > 0; n-- {
		right := strings.Join(facts[:n], " · ")
		if text.Width(left)+text.Width(right)+2 <= w {
			return []string{joinSides(left, h.e.s.Dim.Render(right), w)}
		}
	}
	return []string{text.Fit(left, w)}
}

// noteTurnEnd takes over what the turn took and used.
func (h *header) noteTurnEnd(ev event.TurnEnded) {
	if ev.Reason == event.TurnDone {
		h.took = text.Duration(ev.Took)
	}
	h.usage = ev.Usage
	h.bumpVersion()
}

// spentFacts are the facts about what an answer took: also of one that is read again later.
func (h *header) spentFacts() (facts []string) {
	if h.took != "" {
		facts = append(facts, h.took)
	}
	if h.usage.CostKnown && h.usage.Cost > 0 {
		facts = append(facts, formatMoney(h.usage.Cost))
	}
	switch {
	case h.usage.Output == 1:
		facts = append(facts, "1 token")
	case h.usage.Output > 0:
		facts = append(facts, strconv.Itoa(h.usage.Output)+" tokens")
	}
	return facts
}

// formatMoney writes millionths of a dollar.
func formatMoney(micro int64) string {
	d := float64(micro) / 1e6
	if d != 0 && d < 0.1 {
		return "$" + strconv.FormatFloat(d, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(d, 'f', 2, 64)
}
