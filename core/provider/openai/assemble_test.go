package openai

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/provider"
)

func feedAll(t *testing.T, events ...string) (string, []string, error) {
	t.Helper()
	a := newAssembler(provider.Model{})
	var text strings.Builder
	var calls []string
	for _, e := range events {
		chunks, err := a.feed("", []byte(e))
		for _, c := range chunks {
			switch c.Kind {
			case provider.ChunkToolStart:
				calls = append(calls, c.Name+" ")
			case provider.ChunkToolArgs:
				calls[c.Index] += c.Text
			default:
				text.WriteString(c.Text)
			}
		}
		if err != nil {
			return text.String(), calls, err
		}
	}
	_, err := a.end()
	return text.String(), calls, err
}

func TestOddServers(t *testing.T) {
	d := func(s string) string { return `{"choices":[{"index":0,"delta":` + s + `}]}` }
	for name, c := range map[string]struct {
		events []string
		text   string
		calls  string
		fails  bool
	}{
		"all calls have index 0": {
			events: []string{
				d(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`),
				d(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]}`),
			}, calls: "f {}|g {}",
		},
		"the id comes with each piece": {
			events: []string{
				d(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}`),
				d(`{"tool_calls":[{"id":"a","function":{"arguments":"}"}}]}`),
			}, calls: "f {}",
		},
		"the name comes late": {
			events: []string{
				d(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{"}}]}`),
				d(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"}"}}]}`),
			}, calls: "f {}",
		},
		"no name at all":         {events: []string{d(`{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}`)}, fails: true},
		"arguments as an object": {events: []string{d(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":{"a":1}}}]}`)}, calls: `f {"a":1}`},
		"the old name":           {events: []string{d(`{"function_call":{"name":"f","arguments":"{}"}}`)}, calls: "f {}"},
		"text in parts":          {events: []string{d(`{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":[{"type":"text","text":"b"}]}]}`)}, text: "ba"},
		"an unknown form":        {events: []string{d(`{"content":{"x":1}}`)}},
		"null everywhere":        {events: []string{d(`{"content":null,"reasoning":null,"tool_calls":null}`), `{"choices":null,"usage":null,"error":null}`}},
		"another choice":         {events: []string{`{"choices":[{"index":1,"delta":{"content":"no"}}]}`}},
		"error object":           {events: []string{`{"error":{"message":"x"}}`}, fails: true},
		"error finish":           {events: []string{`{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			text, calls, err := feedAll(t, c.events...)
			if text != c.text || strings.Join(calls, "|") != c.calls || (err != nil) != c.fails {
				t.Errorf("text %q, calls %q, error %v", text, calls, err)
			}
		})
	}
}

func TestCallsAreBounded(t *testing.T) {
	events := make([]string, maxCalls+1)
	for i := range events {
		events[i] = fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"name":"f"}}]}}]}`, i)
	}
	if _, _, err := feedAll(t, events...); err == nil {
		t.Error("an answer with endless calls was accepted")
	}
}

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
		out := mend(in)
		if broken := valid(out); broken != "" {
			t.Fatalf("%s in %+v", broken, out)
		}
		if again := mend(out); len(again) != len(out) {
			t.Fatalf("mending twice changes the history: %+v", again)
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add("", `{"choices":[{"index":0,"delta":{"content":"x","tool_calls":[{"index":0,"function":{"name":"f","arguments":"{"}}]},"finish_reason":"stop"}]}`)
	f.Add("error", `overloaded`)
	f.Add("", `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[[]]}]}}],"usage":{"cost":1e308}}`)
	f.Add("", `{"choices":[{"delta":{"tool_calls":[{"index":-5},{"id":"x"},{}]}}]}`)
	f.Fuzz(func(t *testing.T, kind, data string) {
		a := newAssembler(provider.Model{})
		for range 2 {
			chunks, err := a.feed(kind, []byte(data))
			for _, c := range chunks {
				if c.Kind == provider.ChunkToolArgs && (c.Index < 0 || c.Index >= len(a.calls) || !a.calls[c.Index].started) {
					t.Fatalf("arguments for a call that did not start: %+v", c)
				}
			}
			if err != nil {
				return
			}
		}
		_, _ = a.end()
	})
}

func BenchmarkEvent(b *testing.B) {
	event := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":"twenty characters.. "},"finish_reason":null}]}`)
	a := newAssembler(provider.Model{})
	b.ReportAllocs()
	for b.Loop() {
		a.size = 0
		if _, err := a.feed("", event); err != nil {
			b.Fatal(err)
		}
	}
}
