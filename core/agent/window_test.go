package agent

import (
	"testing"

	"hermes/core/event"
	"hermes/core/provider"
)

// Nobody knows the window of a model: its server is asked once, and the screen hears of it.
func TestAnUnknownWindowIsAskedOfTheServer(t *testing.T) {
	r := newRig(t)
	r.model.listed = []provider.Model{{ID: "other", Window: 7}, {ID: "unknown", Window: 32_000}}
	if err := r.agent.SetModel(t.Context(), r.uid, "fake/unknown"); err != nil {
		t.Fatal(err)
	}
	told := func(all []event.Envelope) (n int) {
		for _, e := range all {
			if m, ok := e.Event.(event.ModelChanged); ok && m.Model == "unknown" && m.Window == 32_000 {
				n++
			}
		}
		return n
	}
	for i := range 2 {
		r.submit("hello", "")
		r.ended(i + 1)
		r.idle()
		r.sink.until(func(all []event.Envelope) bool { return told(all) > 0 })
	}
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	r.sink.until(func(all []event.Envelope) bool { return told(all) == 1 })
	if r.model.lists != 1 {
		t.Errorf("asked %d times", r.model.lists)
	}
	ticks := each[event.UsageTick](r.sink)
	if last := ticks[len(ticks)-1]; last.Window != 32_000 {
		t.Errorf("the last tick is %+v", last)
	}
}
