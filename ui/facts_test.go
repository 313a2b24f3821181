package ui_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/uitest"
)

// facts opens a screen whose session stands somewhere.
func facts(t *testing.T, w, h int, level string) (*uitest.Screen, *event.Bus) {
	t.Helper()
	opt, _ := options(t)
	now := time.Unix(1_700_000_041, 0)
	opt.Now = func() time.Time { return now }
	opt.Defaults = func() (ui.Defaults, bool) { return ui.Defaults{Level: level}, true }
	opt.Look = func(context.Context, string) ui.Surroundings {
		return ui.Surroundings{Folder: "~/weather", Branch: "main", Background: 2}
	}
	opt.NoModel = "offline"
	s := uitest.Start(t, opt, w, h)
	s.Wait("the status row", func(p string) bool { // what runs in the background stands where "ready" was
		return strings.Contains(lastLine(p), "ready") || strings.Contains(lastLine(p), "in background")
	})
	return s, opt.Bus
}

func lastLine(picture string) string {
	rows := strings.Split(strings.TrimRight(picture, "\n"), "\n")
	return strings.TrimSpace(rows[len(rows)-1])
}

// waitLast waits until the last row holds all of the words.
func waitLast(t *testing.T, s *uitest.Screen, words ...string) string {
	t.Helper()
	return lastLine(s.Wait(fmt.Sprintf("%q on the status row", words), func(p string) bool {
		for _, w := range words {
			if !strings.Contains(lastLine(p), w) {
				return false
			}
		}
		return true
	}))
}

func TestTheStatusRowSaysWhereWithWhatAndWhatIsAsked(t *testing.T) {
	for _, tt := range []struct {
		w, h int
		want []string
	}{
		{160, 44, []string{"2 in background", "~/weather main", "sonnet", "31% of 200k", "$0.042", "asks for risky things", "F1 help"}},
		{120, 40, []string{"2 in background", "~/weather main", "sonnet", "31% of 200k", "$0.042", "asks for risky things"}},
		{80, 24, []string{"sonnet", "31% of 200k", "$0.042", "asks: risky"}},
		{40, 12, []string{"asks: risky"}},
	} {
		s, bus := facts(t, tt.w, tt.h, "standard")
		h := event.Header{Session: "s1"}
		bus.Publish(event.Header{}, event.ModelChanged{Provider: "anthropic", Model: "sonnet", Window: 200_000})
		bus.Publish(h, event.UsageTick{Session: "s1", Context: 62_000, Total: chat.Usage{Cost: 42_000, CostKnown: true}})
		bus.Publish(h, event.ProcessEnded{ID: "p1"})
		waitLast(t, s, tt.want...)
	}
}

func TestTheContextIsToldAlsoWhenTheWindowComesLateOrIsUnknown(t *testing.T) {
	s, bus := facts(t, 160, 44, "standard")
	h := event.Header{Session: "s1"}
	bus.Publish(h, event.SessionOpened{Info: event.SessionInfo{UID: "s1", Provider: "own", Model: "qwen"}, How: "resume"})
	bus.Publish(h, event.UsageTick{Session: "s1", Context: 12_345})
	waitLast(t, s, "qwen  12k tokens")
	bus.Publish(event.Header{}, event.ModelChanged{Provider: "own", Model: "qwen", Window: 32_000})
	waitLast(t, s, "qwen  38% of 32k")
	bus.Publish(h, event.UsageTick{Session: "s1", Context: 16_000}) // who does not know the window takes nothing away
	waitLast(t, s, "qwen  50% of 32k")
}

func TestWithoutAModelTheStatusRowSaysWhatConnectsOne(t *testing.T) {
	s, bus := facts(t, 120, 40, "standard")
	bus.Publish(event.Header{}, event.ModelChanged{Provider: "offline", Model: "offline"})
	waitLast(t, s, "no model: ")
	s.Resize(50, 20)
	waitLast(t, s, "no model", "asks: risky")
}

func TestEveryLevelOfApprovalIsSaidInWords(t *testing.T) {
	for _, level := range []string{"plan", "read", "create", "standard", "sensitive", "smart", "all"} {
		full, brief := ui.LevelWords(level)
		if full == level || brief == level || len(brief) > len(full) {
			t.Errorf("%s is said as %q, in brief %q", level, full, brief)
		}
		s, bus := facts(t, 160, 44, level)
		waitLast(t, s, full)
		bus.Publish(event.Header{Session: "s1"}, event.SessionConfigured{Level: "plan", Effort: "high"})
		bus.Publish(event.Header{}, event.ModelChanged{Provider: "own", Model: "qwen"})
		waitLast(t, s, "plans only", "qwen  thinks high")
	}
}

func TestTheWindowTitleSaysWhichSessionAndHowItStands(t *testing.T) {
	s, bus := facts(t, 120, 40, "standard")
	s.Wait("the title at rest", func(string) bool { return s.Term.Title() == "conversation:s1 - ~/weather - Hermes" })
	h := event.Header{Session: "s1"}
	bus.Publish(h, event.TurnStarted{})
	s.Wait("a title that works", func(string) bool { return strings.HasPrefix(s.Term.Title(), "* conv") })
	bus.Publish(h, event.ApprovalAsked{ID: "a"})
	s.Wait("a title that waits", func(string) bool { return strings.HasPrefix(s.Term.Title(), "! conv") })
}

// A look waits for the program to open; the folder of a new conversation is known before.
func TestTheFolderStandsOnTheFirstFrame(t *testing.T) {
	opt, _ := options(t)
	opt.Defaults = func() (ui.Defaults, bool) { return ui.Defaults{}, true }
	opt.Around = ui.Surroundings{Folder: "~/weather", Branch: "main"}
	opt.Look = func(ctx context.Context, _ string) ui.Surroundings {
		<-ctx.Done() // the program does not open
		return ui.Surroundings{}
	}
	waitLast(t, uitest.Start(t, opt, 120, 40), "~/weather main")
}
