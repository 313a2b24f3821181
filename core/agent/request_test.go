package agent

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/intent"
)

// drawHistory makes histories as no healthy program leaves them: messages in any order, results without calls, calls
// without results, empty and cut answers.
func drawHistory(t *rapid.T) []chat.Message {
	var out []chat.Message
	var open []string
	for i := range rapid.IntRange(0, 25).Draw(t, "messages") {
		text := rapid.SampledFrom([]string{"", "a", "b c"}).Draw(t, "text")
		switch rapid.SampledFrom([]string{"user", "assistant", "calls", "result", "orphan"}).Draw(t, "kind") {
		case "user":
			out = append(out, chat.Message{Role: chat.RoleUser, Text: text + "u"})
		case "assistant":
			out = append(out, chat.Message{Role: chat.RoleAssistant, Text: text, Status: chat.StatusCancelled})
		case "calls":
			m := chat.Message{Role: chat.RoleAssistant, Text: text}
			for j := range rapid.IntRange(1, 3).Draw(t, "calls") {
				id := fmt.Sprintf("%d-%d", i, j)
				m.Calls, open = append(m.Calls, chat.ToolCall{ID: id, Name: "x"}), append(open, id)
			}
			out = append(out, m)
		case "result":
			if len(open) > 0 {
				n := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				out = append(out, chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: open[n], Text: "r"}})
				open = append(open[:n:n], open[n+1:]...)
			}
		default:
			out = append(out, chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "nobody", Text: "r"}})
		}
	}
	return out
}

func TestAnyHistoryBecomesARequestThatProvidersTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := drawHistory(t)
		before := fmt.Sprintf("%+v", history)
		got := valid(history)
		if err := sound(got); err != nil {
			t.Fatalf("%v\nhistory %+v\nrequest %+v", err, history, got)
		}
		if after := fmt.Sprintf("%+v", history); after != before {
			t.Fatal("the history itself was changed")
		}
		said := 0
		for _, m := range history {
			if m.Role == chat.RoleUser {
				said += len(m.Text)
			}
		}
		sent := 0
		for _, m := range got {
			if m.Role == chat.RoleUser {
				sent += len(m.Text)
			}
		}
		if sent < said {
			t.Fatalf("%d of %d bytes of the person's words are sent", sent, said)
		}
	})
}

func TestGroups(t *testing.T) {
	ro := func(paths ...string) *toolJob { return &toolJob{intent: intent.Intent{Paths: paths, Reads: true}} }
	rw := func(paths ...string) *toolJob { return &toolJob{intent: intent.Intent{Paths: paths}} }
	serial := func() *toolJob { j := ro(); j.spec.Serial = true; return j }
	tests := []struct {
		name string
		jobs []*toolJob
		want []int
	}{
		{"readers together", []*toolJob{ro(), ro("/a"), ro()}, []int{3}},
		{"writers of different files", []*toolJob{rw("/a"), rw("/b"), ro("/c")}, []int{3}},
		{"writers of one file", []*toolJob{rw("/a"), rw("/a")}, []int{1, 1}},
		{"a reader of what is written", []*toolJob{rw("/a"), ro("/a")}, []int{1, 1}},
		{"a folder and a file in it", []*toolJob{rw("/d"), rw("/d/x")}, []int{1, 1}},
		{"names that only begin alike", []*toolJob{rw("/d"), rw("/dx")}, []int{2}},
		{"commands alone", []*toolJob{rw(), rw(), ro()}, []int{1, 1, 1}},
		{"a search beside a writer", []*toolJob{ro(), rw("/a")}, []int{1, 1}},
		{"serial alone", []*toolJob{ro(), serial(), ro(), ro()}, []int{1, 1, 2}},
	}
	for _, tt := range tests {
		var got []int
		for _, g := range groups(tt.jobs) {
			got = append(got, len(g))
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
