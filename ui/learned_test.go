package ui_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/uitest"
)

// What was learned and waits is counted on the status row until it is settled; no event of this
// run has to tell of it.
func TestWhatWasLearnedIsCounted(t *testing.T) {
	opt, _ := options(t)
	var waiting atomic.Int32
	waiting.Store(2)
	opt.Look = func(context.Context, string) ui.Surroundings {
		return ui.Surroundings{Folder: "~/weather", Learned: int(waiting.Load())}
	}
	s := uitest.Start(t, opt, 80, 24)
	waitLast(t, s, "2 learned: /learn", "F1 help")
	waiting.Store(0)
	opt.Bus.Publish(event.Header{}, event.LearnSettled{ID: "p1", Kind: "create", Skill: "x", State: "accepted", By: "user"})
	s.Wait("no count", func(p string) bool { return !strings.Contains(lastLine(p), "learned") })
}
