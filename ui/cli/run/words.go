package run

import (
	"time"

	"hermes/core/event"
)

// retryWords says how long a turn waits until it asks the model again, and why.
func retryWords(p event.TurnPhase, at time.Time) string {
	out := "retrying in " + max(0, p.Until.Sub(at)).Round(time.Second).String()
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
