package agent

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"hermes/core/chat"
)

// drawHistory makes histories as no healthy program leaves them: messages in any order, results
// without calls, calls without results, empty and cut answers.
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
		got := validHistory(history)
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
