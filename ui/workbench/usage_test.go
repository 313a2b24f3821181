package workbench

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/store"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

func someUsage() usageReports {
	row := func(key, name string, calls, in, cached, out int, cost int64, unpriced int) store.UsageRow {
		return store.UsageRow{Key: key, Name: name, Calls: calls, Unpriced: unpriced, Usage: chat.Usage{
			Input: in, Cached: cached, Written: (in - cached) / 2, Output: out, Reasoning: out / 3, Cost: cost,
		}}
	}
	made := agent.Composition{Tokens: 21_000, Counted: 19_400, Window: 200_000, Model: "anthropic/claude-sonnet-5", Shares: []agent.Share{
		{Name: "identity", Tokens: 700},
		{Name: "tools", Tokens: 400},
		{Name: "skills", Tokens: 900},
		{Name: "context", Tokens: 2000},
		{Name: "memory", Tokens: 300},
		{Name: "definitions", Tokens: 5200},
		{Name: "messages", Tokens: 1500},
		{Name: "results", Tokens: 8000},
		{Name: "images", Tokens: 2000},
	}}
	return usageReports{
		session: client.UsageReport{
			Session: "s1", Composition: &made, Total: row("", "", 12, 180_000, 150_000, 4_000, 81_000, 0),
			Turns:    []store.UsageRow{row("9", "Look at the chart\x1b[31m and say\nwhat is wrong \u202ewith it", 4, 60_000, 58_000, 900, 21_000, 0)},
			Models:   []store.UsageRow{row("anthropic/claude-sonnet-5", "", 11, 170_000, 150_000, 3_900, 81_000, 0), row("lab/m", "", 1, 10_000, 0, 100, 0, 1)},
			Purposes: []store.UsageRow{row("", "", 11, 170_000, 150_000, 3_900, 81_000, 0), row("compression", "", 1, 10_000, 0, 100, 0, 1)},
		},
		all: client.UsageReport{
			Total: row("", "", 99, 1_900_000, 900_000, 50_000, 2_400_000, 7), Today: row("", "", 12, 180_000, 150_000, 4_000, 81_000, 0),
			Days:     []store.UsageRow{row("2026-11-22", "", 12, 180_000, 150_000, 4_000, 81_000, 0), row("2026-11-21", "", 87, 1_720_000, 750_000, 46_000, 2_319_000, 7)},
			Models:   []store.UsageRow{row("anthropic/claude-sonnet-5", "", 92, 1_800_000, 900_000, 49_000, 2_400_000, 0), row("lab/m", "", 7, 100_000, 0, 1_000, 0, 7)},
			Sessions: []store.UsageRow{row("s1", "The chart", 12, 180_000, 150_000, 4_000, 81_000, 0), row("", "", 87, 1_720_000, 750_000, 46_000, 2_319_000, 7)},
		},
	}
}

func TestUsageGolden(t *testing.T) {
	for _, size := range uitest.Sizes() {
		for name, level := range map[string]style.Level{"colour": style.True, "none": style.None} {
			v := &usageView{uid: "s1", r: someUsage()}
			v.Restyle(uitest.Styles(t, level))
			w, h := v.Size(size.W, size.H)
			view := v.View(w, h)
			uitest.CheckBlock(t, view, w, h)
			if strings.Contains(view, "\u202e") || strings.Contains(view, "\x1b[31m and") {
				t.Error("a prompt's control characters are drawn")
			}
			uitest.Golden(t, fmt.Sprintf("usage-%s-%dx%d", name, size.W, size.H), view)
		}
	}
}

// The overlay reads again when a turn of its session ends, and shows what it read.
func TestUsageFollowsTheSession(t *testing.T) {
	read := 0
	v := &usageView{uid: "s1", r: usageReports{}, again: func() tea.Cmd {
		read++
		return func() tea.Msg { return usageMsg{someUsage()} }
	}}
	v.Restyle(uitest.Styles(t, style.None))
	if view := v.View(80, 5); !strings.Contains(view, "no model was called yet") {
		t.Error(view)
	}
	if v.Observe(event.Envelope{Header: event.Header{Session: "other"}, Event: event.TurnEnded{}}) != nil {
		t.Error("it follows another session")
	}
	cmd := v.Observe(event.Envelope{Header: event.Header{Session: "s1"}, Event: event.TurnEnded{}})
	if cmd == nil || read != 1 {
		t.Fatalf("read %d times", read)
	}
	v.Update(cmd())
	if view := v.View(100, 40); !strings.Contains(view, "Look at the chart") || !strings.Contains(view, "83%") || !strings.Contains(view, "tools: definitions") {
		t.Error(view)
	}
	v.View(100, 6)
	v.Update(tea.KeyMsg{Type: tea.KeyEnd})
	if view := v.View(100, 6); !strings.Contains(view, "(deleted)") {
		t.Error(view)
	}
	if _, done := v.Update(tea.KeyMsg{Type: tea.KeyEsc}); !done {
		t.Error("esc does not close it")
	}
}
