package history

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hermes/core/chat"
)

// valid tells which rule of the wire format a history breaks.
func valid(in []chat.Message) string {
	open := []string{}
	for i, m := range in {
		if m.Role == chat.RoleTool {
			if len(open) == 0 || open[0] != m.Result.CallID {
				return "a result out of place"
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return "a call without a result"
		}
		if m.Role == chat.RoleAssistant && strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
			return "an empty message"
		}
		if i > 0 && in[i-1].Role == m.Role {
			return "two of a kind in a row"
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return "an open call at the end"
	}
	return ""
}

func TestMendMakesAnyHistoryValid(t *testing.T) {
	message := rapid.Custom(func(t *rapid.T) chat.Message {
		m := chat.Message{
			Role: rapid.SampledFrom([]chat.Role{chat.RoleUser, chat.RoleAssistant, chat.RoleTool}).Draw(t, "role"),
			Text: rapid.SampledFrom([]string{"", " ", "hello", "more"}).Draw(t, "text"),
		}
		id := func() string { return rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "id") }
		switch m.Role {
		case chat.RoleAssistant:
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				m.Calls = append(m.Calls, chat.ToolCall{ID: id(), Name: rapid.SampledFrom([]string{"", "f"}).Draw(t, "name")})
			}
		case chat.RoleTool:
			m.Result = &chat.ToolResult{CallID: id(), Text: "x"}
		default:
		}
		return m
	})
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(message, 0, 12).Draw(t, "history")
		out := Mend(in)
		if broken := valid(out); broken != "" {
			t.Fatalf("%s in %+v", broken, out)
		}
		if again := Mend(out); len(again) != len(out) {
			t.Fatalf("mending twice changes the history: %+v", again)
		}
	})
}

// TestACallOfAnyNameCanBeSent: vendors refuse a request with a name that they would not take, so
// one odd call of a model would make every later request fail.
func TestACallOfAnyNameCanBeSent(t *testing.T) {
	for name, want := range map[string]string{
		"terminal": "terminal", "no\x1b]0;x\a": "no__0_x_", "mcp__a__b-c": "mcp__a__b-c", "größe": "gr__e",
		strings.Repeat("x", 200): strings.Repeat("x", 64),
	} {
		if got := named([]chat.ToolCall{{ID: "1", Name: name}})[0].Name; got != want {
			t.Errorf("%q is sent as %q, want %q", name, got, want)
		}
	}
}
