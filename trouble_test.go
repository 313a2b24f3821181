package main

import (
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/ui"
)

func TestAFailedTurnSaysSoAndTheNextOneWorks(t *testing.T) {
	h, _ := homeWith(t,
		modeltest.Turn{Status: 401},
		modeltest.Turn{Text: "Half an answer.", Fault: modeltest.FaultErrorEvent, After: 1, Message: "This is not allowed here.", Code: "content_filter"},
		modeltest.Turn{Text: "All is well."},
	)
	s := h.open()
	say(s, "first")
	s.WaitFor("Incorrect API key")
	s.WaitFor("hermes setup")
	s.WaitFor("ready")
	say(s, "second")
	s.WaitFor("All is well.")
	s.WaitFor("ready")
}

func TestEscStopsTheWaitForAnotherTry(t *testing.T) {
	h, _ := homeWith(t, modeltest.Turn{Status: 429, RetryAfter: "50"}, modeltest.Turn{Text: "After all."})
	s := h.open()
	say(s, "first")
	s.WaitFor("retrying in 50 s")
	s.Type(esc)
	s.WaitFor("ready")
	say(s, "second")
	s.WaitFor("After all.")
}

func TestWhatWasQueuedIsThereAfterARestart(t *testing.T) {
	h, server := homeWith(t, modeltest.Turn{Text: "Words that never end.", After: 1, Hold: make(chan struct{})})
	h.configure(serverSettings(server) + "display:\n  busy_input_mode: queue\n")
	s := h.open()
	say(s, "start")
	s.WaitFor("Words")
	say(s, "do not forget this")
	s.WaitFor("1 queued")
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	s = h.screen(160, 44, ui.Options{}, "last")
	s.WaitFor("1 held: do not forget this")
	s.WaitFor("Words")
	s.WaitFor("ready")
}
