package agent

import (
	"errors"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/store"
)

// keptInSpillFile reports whether err says that the database refused a message which is safe in the
// file beside it. Such a message counts as accepted: who sent it again would have it twice.
func keptInSpillFile(err error) bool {
	var kept *store.SpilledError
	return errors.As(err, &kept)
}

// answerPrompt starts the turn of a prompt, given what storing it returned. The caller holds change
// and knows that nothing runs.
func (w *worker) answerPrompt(prompt chat.Message, stored error) error {
	if stored != nil && !keptInSpillFile(stored) {
		return stored
	}
	return w.startJob(answerJob(prompt, stored))
}

// answerJob is the job of a prompt that is stored, or kept aside: no model is asked then, because
// what it said could not be stored.
func answerJob(prompt chat.Message, stored error) job {
	if stored == nil {
		return promptJob(prompt)
	}
	return func(t *turn) outcome {
		t.publish(event.TurnStarted{})
		return diskFull("your message is safe", stored).outcome
	}
}

// diskFull ends a turn whose last step is kept aside: what comes next could not be stored.
func diskFull(what string, err error) stop {
	return stop{outcome{
		reason: event.TurnFailed, err: what + ", but the turn cannot go on: " + err.Error(),
		hint: "do not send it again: make room on the disk, then go on", do: []event.Remedy{event.RemedyContinue},
	}}
}
