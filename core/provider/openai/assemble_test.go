package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hermes/core/provider"
	"hermes/core/provider/stream"
)

func feedAll(t *testing.T, events ...string) (string, []string, error) {
	t.Helper()
	a := newAssembler("", "")
	var text strings.Builder
	var calls []string
	for _, e := range events {
		chunks, err := a.Feed("", []byte(e))
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
	_, err := a.End()
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
	events := make([]string, stream.MaxCalls+1)
	for i := range events {
		events[i] = fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"name":"f"}}]}}]}`, i)
	}
	if _, _, err := feedAll(t, events...); err == nil {
		t.Error("an answer with endless calls was accepted")
	}
}

// What surrounds each piece of an entry of reasoning_details is not kept, so it does not count:
// long thinking comes in very many pieces.
func TestLongThinkingInDetails(t *testing.T) {
	const event = `{"choices":[{"index":0,"delta":{"reasoning":"word","reasoning_details":[` +
		`{"type":"reasoning.text","text":"word","format":"anthropic-claude-v1","id":null,"signature":null,"index":0}]}}]}`
	const pieces = 40_000
	a := newAssembler("", "")
	for i := range pieces {
		if _, err := a.Feed("", []byte(event)); err != nil {
			t.Fatalf("piece %d: %v", i, err)
		}
	}
	back := a.thoughts().Details
	var whole struct{ Text string }
	if len(back) != 1 || json.Unmarshal(back[0], &whole) != nil || whole.Text != strings.Repeat("word", pieces) {
		t.Errorf("%d entries, the first with %d bytes of text", len(back), len(whole.Text))
	}
}

// A field of an entry is as it came last, whatever came before it; nothing takes nothing away.
func TestFieldsOfDetailsThatChange(t *testing.T) {
	var e entries
	kept := 0
	for _, piece := range []string{
		`{"type":"t","index":0,"text":"a"}`, `{"type":"t","index":0,"text":"b"}`, `{"type":"t","index":0,"text":null,"n":1}`,
		`{"type":"t","index":0,"text":{"x":1}}`, `{"type":"t","index":0,"text":"c"}`, `{"type":"t","index":0,"n":12}`, `{}`, `null`,
	} {
		var d entry
		if err := json.Unmarshal([]byte(piece), &d); err != nil {
			t.Fatal(err)
		}
		kept += e.add([]entry{d})
	}
	e.endLast()
	if len(e.whole) != 1 || string(e.whole[0]) != `{"index":0,"n":12,"text":"c","type":"t"}` || kept != len(`indexntexttype`)+len(`012"c""t"`) {
		t.Errorf("%s, %d bytes are counted", e.whole, kept)
	}
}

func FuzzEvent(f *testing.F) {
	f.Add("", `{"choices":[{"index":0,"delta":{"content":"x","tool_calls":[{"index":0,"function":{"name":"f","arguments":"{"}}]},"finish_reason":"stop"}]}`)
	f.Add("error", `overloaded`)
	f.Add("", `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[[]]}]}}],"usage":{"cost":1e308}}`)
	f.Add("", `{"choices":[{"delta":{"tool_calls":[{"index":-5},{"id":"x"},{}]}}]}`)
	f.Add("", `{"choices":[{"delta":{"reasoning_details":[{"type":{}},{"type":{}},{"type":"t","index":0,"text":"x"},{"type":"t","index":0,"text":[]}]}}]}`)
	f.Fuzz(func(t *testing.T, kind, data string) {
		a := newAssembler("", "")
		for range 2 {
			chunks, err := a.Feed(kind, []byte(data))
			for _, c := range chunks {
				if c.Kind == provider.ChunkToolArgs && (c.Index < 0 || c.Index >= len(a.calls) || !a.calls[c.Index].started) {
					t.Fatalf("arguments for a call that did not start: %+v", c)
				}
			}
			if err != nil {
				return
			}
		}
		_, _ = a.End()
	})
}

func BenchmarkEvent(b *testing.B) {
	event := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":"twenty characters.. "},"finish_reason":null}]}`)
	a := newAssembler("", "")
	b.ReportAllocs()
	for b.Loop() {
		a.Tally = stream.NewTally("", "")
		if _, err := a.Feed("", event); err != nil {
			b.Fatal(err)
		}
	}
}
