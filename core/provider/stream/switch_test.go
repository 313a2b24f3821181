package stream_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
)

// looked is an answer with everything: reasoning, a text and two calls.
var looked = modeltest.Turn{
	Reasoning: "I must look.", Text: "I look.", Usage: &modeltest.Usage{Input: 12, Output: 7, Cached: 4, Reasoning: 3},
	Calls: []modeltest.Call{{ID: "call_a", Name: "shot", Args: `{"n":1}`}, {ID: "call_b", Name: "shot", Args: "{}"}},
}

// conversation is a turn in which the answer's calls gave images.
func conversation(m chat.Message) []chat.Message {
	out := []chat.Message{
		{Role: chat.RoleUser, Text: "look", Parts: []chat.Part{{Kind: chat.PartImage, Name: "u", Media: "image/png", Data: []byte("u")}}}, m,
	}
	for _, c := range m.Calls {
		out = append(out, chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{
			CallID: c.ID, Name: c.Name, Text: "seen", Parts: []chat.Part{{Kind: chat.PartImage, Name: "r", Media: "image/png", Data: []byte("r")}},
		}})
	}
	return out
}

func request(messages []chat.Message) provider.Request {
	return provider.Request{
		Model: "test-model", System: "Be brief.", Effort: "high", Messages: messages,
		Tools: []provider.ToolSpec{{Name: "shot", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}

// The same answer becomes the same message in every format. In the middle of its turn it goes on in
// every other format: with all of its images, and without the reasoning of another server.
func TestSwitchingInTheMiddleOfATurn(t *testing.T) {
	secrets := map[string]string{
		formats[0].name: `"reasoning_content":"I must look."`, formats[1].name: modeltest.Signature(looked.Reasoning),
		formats[2].name: modeltest.Encrypted(looked.Reasoning),
	}
	var first *chat.Message
	for _, from := range formats {
		s := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{looked, {Text: "So."}}, Loop: true})
		p := client(t, from, s.URL, quick)
		g := collect(t, p, request(conversation(chat.Message{})[:1]))
		if g.Err != nil {
			t.Fatal(g.Err)
		}
		m := chat.Message{Role: chat.RoleAssistant, Text: g.Text, Reasoning: g.Reasoning, Calls: g.Calls, Finish: g.End.Finish, Usage: g.End.Usage}
		if first == nil {
			was := m
			first = &was
		}
		if !reflect.DeepEqual(*first, m) {
			t.Errorf("%s: %+v, want %+v", from.name, m, *first)
		}
		m.Opaque = g.End.Opaque
		for _, to := range formats {
			for _, same := range []bool{true, false} {
				other := modeltest.New(t, modeltest.Turn{Text: "So."})
				next, server := client(t, to, other.URL, quick), other
				if same { // the same server and format, or the same server in another format
					next, server = p, s
					if to.name != from.name {
						continue
					}
				}
				if g := collect(t, next, request(conversation(m))); g.Err != nil || g.Text != "So." {
					t.Fatalf("%s to %s: %q %v", from.name, to.name, g.Text, g.Err)
				}
				all := server.Requests()
				body := all[len(all)-1].Body
				for writer, secret := range secrets {
					if got := bytes.Contains(body, []byte(secret)); got != (same && writer == from.name) {
						t.Errorf("%s to %s (the same server: %v): reasoning of %s sent: %v", from.name, to.name, same, writer, got)
					}
				}
				if images := bytes.Count(body, []byte(`image/png`)); images != 3 {
					t.Errorf("%s to %s: %d images", from.name, to.name, images)
				}
			}
		}
	}
}
