package output

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

// standing is a history whose sessions stand somehow.
type standing struct{ asked int }

func (*standing) Recent(context.Context, string, int) ([]chat.Message, error) { return nil, nil }

func (s *standing) Overview(_ context.Context, session string) (Overview, error) {
	if s.asked++; session != "s" {
		return Overview{}, nil
	}
	return Overview{
		Window: 200_000, Used: 62_000,
		Shares: []Share{{"history: results", 40_000}, {"tools: definitions", 12_000}, {"identity", 6_000}, {"history: messages", 3_500}, {"skills", 400}, {"memory", 100}},
		Todo: []event.TodoItem{
			{Content: "read the log", Status: "completed"}, {Content: "find the slow test 容器", Status: "in_progress"}, {Content: "mend it\x1b[2J", Status: "pending"},
		},
		Files: []ChangedFile{{"pool/ttl.go", 12, 3}, {"a/very/long/path/that/has/no/room/in/this/pane/at/all.go", 1, 0}}, More: 2,
		Runs: []Process{{"p1", "npm run dev", start}},
	}, nil
}

func pumpWake(p *Pane) { uitest.Pump(p, p.Wake()) }

func TestWhileNothingRunsThePaneShowsHowTheSessionStands(t *testing.T) {
	for name, level := range map[string]style.Level{"plain": style.None, "colour": style.True} {
		p := opened(t, &standing{})
		p.Restyle(uitest.Styles(t, level))
		for _, size := range [][2]int{{44, 30}, {60, 20}, {38, 12}} {
			p.Resize(size[0], size[1])
			uitest.Golden(t, fmt.Sprintf("overview-%s-%dx%d", name, size[0], size[1]), p.View())
			uitest.CheckBlock(t, p.View(), size[0], size[1])
		}
	}
}

func TestTheOverviewGivesWayToWhatRunsAndToWhoReads(t *testing.T) {
	h := &standing{}
	p := opened(t, h)
	p.Resize(44, 30)
	if v := p.View(); !strings.Contains(v, "31% of 200k") || strings.Contains(v, "[2J") {
		t.Fatalf("at rest:\n%s", v)
	}
	p.Resize(38, 12)
	if v := p.View(); !strings.Contains(v, "31% of 200k") || !strings.Contains(v, "find the slow test") || !strings.Contains(v, "ttl.go") {
		t.Errorf("what is to be done has no room:\n%s", v)
	}
	p.Resize(44, 30)
	p.all(here, event.TurnStarted{}, started("c", "pytest -q"), printed("c", 0, lines(0, 90)))
	if v := p.View(); strings.Contains(v, "Context") {
		t.Errorf("a running call has the pane:\n%s", v)
	}
	code := 0
	p.all(later, event.ToolEnded{Result: chat.ToolResult{CallID: "c", ExitCode: &code}})
	if v := p.View(); strings.Contains(v, "Context") {
		t.Errorf("between two calls of a turn:\n%s", v)
	}
	before := h.asked
	p.all(later, event.TurnEnded{})
	pumpWake(p)
	if v := p.View(); !strings.Contains(v, "Changed files") || !strings.Contains(v, "line 89") || h.asked != before+1 {
		t.Errorf("after the turn, asked %d times:\n%s", h.asked-before, v)
	}
	pumpWake(p)
	if h.asked != before+1 {
		t.Error("it is read again although nothing happened")
	}
	act(t, p, "output.pageup")
	if v := p.View(); strings.Contains(v, "Context") {
		t.Errorf("who reads has the pane:\n%s", v)
	}
	act(t, p, "output.end")
	if v := p.View(); !strings.Contains(v, "Context") {
		t.Errorf("back at the end:\n%s", v)
	}
	uitest.Pump(p, p.Update(ui.SessionFocused{UID: "other"}))
	if v := p.View(); strings.Contains(v, "Changed files") {
		t.Errorf("that of another session:\n%s", v)
	}
}
