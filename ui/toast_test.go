package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/event"
	"hermes/ui/style"
	"hermes/ui/text"
)

var plain = &style.Styles{Glyphs: style.Unicode()}

func TestNothingOfAToastIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var ts toasts
		now := time.Unix(0, 0)
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"not", "sent:", "容器", "/a/long/path", "try", "it", "again"}), 1, 30)
		message, hint := strings.Join(words.Draw(rt, "text"), " "), strings.Join(words.Draw(rt, "hint"), " ")
		ts.addToast(now, event.Error, message, hint)
		w := rapid.IntRange(20, 120).Draw(rt, "w")
		shown := ts.inRow(plain, w)
		if shown == "" {
			shown = strings.Join(ts.drawBox(plain, w, 0), "\n")
			for _, l := range strings.Split(shown, "\n") {
				if text.Width(l) != w {
					rt.Fatalf("a line of %d cells, not %d: %q", text.Width(l), w, l)
				}
			}
		} else if text.Width(shown) > w {
			rt.Fatalf("%q is wider than %d", shown, w)
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if want := squeeze(message + hint); !strings.Contains(squeeze(shown), want) {
			rt.Fatalf("%q is not all of %q", shown, want)
		}
	})
}

func TestAWarningOutlivesWhatComesAfterIt(t *testing.T) {
	var ts toasts
	now := time.Unix(0, 0)
	ts.addToast(now, event.Info, "a word", "")
	ts.addToast(now, event.Warn, "not saved", "free some space")
	ts.addToast(now.Add(time.Second), event.Error, "history not saved", "")
	ts.addToast(now.Add(time.Second), event.Error, "history not saved", "")
	got := strings.Join(ts.drawBox(plain, 60, 0), "\n")
	if strings.Contains(got, "a word") || !strings.Contains(got, "! not saved") || strings.Count(got, "history not saved") != 1 || ts.inRow(plain, 60) != "" {
		t.Errorf("the box:\n%s", got)
	}
	if at := ts.nextExpiry(); at != now.Add(10*time.Second) {
		t.Errorf("the first goes at %v", at)
	}
	if ts.dropExpired(now.Add(10 * time.Second)); !strings.Contains(ts.inRow(plain, 60), "history not saved") {
		t.Errorf("left: %+v", ts)
	}
	if ts.dropExpired(now.Add(time.Minute)); len(ts) != 0 || !ts.nextExpiry().IsZero() {
		t.Errorf("left: %+v", ts)
	}
}

func TestTheRowSaysWhatRunsAndWhere(t *testing.T) {
	s := &sessionStatus{}
	s.call = event.ToolStarted{Gist: "pytest -q", Backend: "analytics"}
	s.call.Call.Name = "terminal"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	late := at.Add(40 * time.Second)
	for _, c := range []struct {
		phase event.TurnPhase
		want  string
	}{
		{event.TurnPhase{Kind: event.PhaseRunning, Tool: "terminal"}, "running pytest -q in analytics"},
		{event.TurnPhase{Kind: event.PhaseRunning, Tool: "read_file"}, "running read_file"},
		{event.TurnPhase{Kind: event.PhaseApproval, Tool: "terminal"}, "terminal: waiting for approval"},
		{event.TurnPhase{Kind: event.PhaseStreaming}, "streaming"},
		{event.TurnPhase{Kind: event.PhaseWaiting}, "waiting for the model"},
		{event.TurnPhase{Kind: event.PhaseWaiting, Model: "big"}, "waiting for big"},
		{event.TurnPhase{Kind: event.PhaseWritingCall, Tool: "patch"}, "writing a call of patch"},
		{event.TurnPhase{Kind: event.PhaseCompressing, Count: 1}, "compressing 1 message"},
		{event.TurnPhase{Kind: event.PhaseCompressing, Count: 2}, "compressing 2 messages"},
		{
			event.TurnPhase{Kind: event.PhaseRetrying, Until: late, Cause: &event.Cause{Class: "rate_limit", HTTP: 429}},
			"retrying in 40 s, at " + late.Local().Format("15:04:05") + " (429 rate limit); any key: now, esc: stop",
		},
		{
			event.TurnPhase{Kind: event.PhaseRetrying, Until: at, Cause: &event.Cause{Class: "network"}},
			"retrying in a moment (network); any key: now, esc: stop",
		},
	} {
		if got := s.phaseText(c.phase, at, 160); got != c.want {
			t.Errorf("%+v: %q, not %q", c.phase, got, c.want)
		}
	}
	s.told = event.TurnPhase{Kind: event.PhaseRunning, Tool: "terminal"}
	if got := s.phaseText(s.told, at, 40); got != "running pytest -q" {
		t.Errorf("in a narrow row: %q", got)
	}
	s.phase, s.running = "running pytest -q", map[string]bool{"a": true, "b": true}
	if got := s.phaseNow(at); got != "running 2 calls" {
		t.Errorf("%q", got)
	}
	if delete(s.running, "a"); s.phaseNow(at) != "running pytest -q" {
		t.Errorf("%q", s.phaseNow(at))
	}
	s.call = event.ToolStarted{Gist: "weather.py"}
	s.call.Call.Name = "read_file"
	if got := s.phaseText(event.TurnPhase{Kind: event.PhaseRunning, Tool: "read_file"}, at, 160); got != "running read_file weather.py" {
		t.Errorf("%q", got)
	}
	s.phase, s.answering = "streaming", true
	if s.setActivity("thinking"); s.phase != "thinking" {
		t.Errorf("%q", s.phase)
	}
	s.phase, s.answering = "running x", false
	if s.setActivity("writing"); s.phase != "running x" {
		t.Errorf("%q", s.phase)
	}
}

func TestThePaletteBeginsWithWhatCanBeDone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var items []Item
		for i := range rapid.IntRange(0, 20).Draw(rt, "n") {
			it := Item{ID: string(rune('a' + i)), Group: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "group")}
			if rapid.Bool().Draw(rt, "off") {
				it.Why = "not now"
			}
			items = append(items, it)
		}
		got := possibleFirst(groupItems(slices.Clone(items)))
		if len(got) != len(items) {
			rt.Fatalf("%d of %d are left", len(got), len(items))
		}
		able, ended := map[string]bool{}, map[string]bool{}
		for _, it := range items {
			able[it.Group] = able[it.Group] || it.Why == ""
		}
		for i, it := range got {
			if i > 0 && got[i-1].Group != it.Group {
				ended[got[i-1].Group] = true
				if able[it.Group] && !able[got[i-1].Group] {
					rt.Fatalf("%s can do something and stands behind %s: %+v", it.Group, got[i-1].Group, got)
				}
			}
			if ended[it.Group] || i > 0 && got[i-1].Group == it.Group && got[i-1].Why != "" && it.Why == "" {
				rt.Fatalf("out of order at %d: %+v", i, got)
			}
		}
	})
}
