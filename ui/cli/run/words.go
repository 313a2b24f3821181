package run

import (
	"fmt"
	"time"

	"hermes/core/event"
)

// retryWords says which model is asked again, when, and why.
func retryWords(p event.TurnPhase, at time.Time) string {
	out := "retrying"
	if p.Model != "" {
		out += " " + p.Model
	}
	out += " in " + max(0, p.Until.Sub(at)).Round(time.Second).String()
	if p.Cause != nil {
		out += " (" + p.Cause.String() + ")"
	}
	return out
}

// discardWords says why an answer was taken back.
func discardWords(e event.MessageDiscarded) string {
	switch e.Why {
	case event.DiscardEmpty:
		return "it was empty"
	case event.DiscardFailed:
		return e.Err
	default:
		return string(e.Why)
	}
}

// movedWords says which model goes on with a turn, and why.
func movedWords(m event.ModelMoved) string {
	why := m.From + ": " + m.Cause.String()
	if m.FromKey != "" {
		why += " with the key in " + m.FromKey
	}
	switch {
	case !m.Rested.IsZero():
		return fmt.Sprintf("%s before, left alone until %s; %s answers", why, m.Rested.Local().Format("15:04:05"), m.To)
	case m.From == m.To:
		return fmt.Sprintf("%s; it goes on with key %d of %d", why, m.Key, m.Keys)
	default:
		return why + "; " + m.To + " answers for the rest of the turn"
	}
}
