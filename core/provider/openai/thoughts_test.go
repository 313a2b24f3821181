package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
)

// events is a stream of chat completions with these deltas.
func events(finish string, deltas ...string) string {
	var b strings.Builder
	for _, d := range append(deltas, `{}`) {
		f := "null"
		if d == "{}" {
			f = `"` + finish + `"`
		}
		b.WriteString(`data: {"object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + d + `,"finish_reason":` + f + "}]}\n\n")
	}
	return b.String() + "data: [DONE]\n\n"
}

// sentBack is the assistant's message in the newest request.
func sentBack(t *testing.T, s *modeltest.Server) (m struct {
	Details json.RawMessage `json:"reasoning_details"`
	Calls   []struct {
		Extra json.RawMessage `json:"extra_content"`
	} `json:"tool_calls"`
},
) {
	t.Helper()
	all := s.Requests()
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(all[len(all)-1].Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, raw := range body.Messages {
		if strings.Contains(string(raw), `"role":"assistant"`) {
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

// answered is an answer with the results of its calls.
func answered(m chat.Message) []chat.Message {
	m.Role = chat.RoleAssistant
	out := []chat.Message{m}
	for _, c := range m.Calls {
		out = append(out, chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: c.ID, Text: "x"}})
	}
	return out
}

const signed = `{"google":{"thought_signature":"AYsig=="}}`

// Gemini signs the first of parallel calls and refuses the next request without the signature. It
// goes back to Gemini only, within the turn.
func TestSignaturesOfCallsGoBack(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Body: events("tool_calls",
		`{"role":"assistant","tool_calls":[{"extra_content":`+signed+`,"function":{"arguments":"{\"a\":1}","name":"f"},"id":"c1","index":0,"type":"function"}]}`,
		`{"tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c2","index":1,"type":"function"}]}`,
	)}, modeltest.Turn{}, modeltest.Turn{})
	p := client(t, s.URL)
	r := ask("go")
	first := collect(t, p, r)
	if first.Err != nil || len(first.Calls) != 2 {
		t.Fatalf("%+v", first)
	}
	r.Messages = append(r.Messages, answered(first.Message)...)
	if g := collect(t, p, r); g.Err != nil {
		t.Fatal(g.Err)
	}
	if m := sentBack(t, s); string(m.Calls[0].Extra) != signed || m.Calls[1].Extra != nil {
		t.Errorf("%+v", m)
	}
	r.Messages = append(r.Messages, chat.Message{Role: chat.RoleUser, Text: "and now?"})
	if collect(t, p, r); sentBack(t, s).Calls[0].Extra != nil {
		t.Error("the signature of an old turn was sent")
	}
	other := modeltest.New(t, modeltest.Turn{})
	r.Messages = r.Messages[:len(r.Messages)-1]
	if collect(t, client(t, other.URL), r); sentBack(t, other).Calls[0].Extra != nil {
		t.Error("another server got the signature")
	}
}

// Calls that another vendor's model made have no signature. A server that refuses them gets the
// words that its vendor names for that, once it said so.
func TestCallsOfAnotherModelAreMarkedUnsigned(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Status: 400, Message: "Function call is missing a thought_signature in functionCall parts."}, modeltest.Turn{Text: "Good."})
	r := ask("go")
	r.Messages = append(r.Messages, answered(chat.Message{Calls: []chat.ToolCall{
		{ID: "1", Name: "f", Args: json.RawMessage("{}")}, {ID: "2", Name: "f", Args: json.RawMessage("{}")},
	}})...)
	if g := collect(t, client(t, s.URL), r); g.Err != nil || g.Text != "Good." {
		t.Fatalf("%+v", g.Err)
	}
	m := sentBack(t, s)
	if !strings.Contains(string(m.Calls[0].Extra), "skip_thought_signature_validator") || m.Calls[1].Extra != nil {
		t.Errorf("%+v", m)
	}
}

// OpenRouter's reasoning_details come in pieces and go back whole, in their order.
func TestReasoningDetailsGoBack(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Body: events("tool_calls",
		`{"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","format":"anthropic-claude-v1","index":0}]}`,
		`{"reasoning":"look.","reasoning_details":[{"type":"reasoning.text","text":"look.","format":"anthropic-claude-v1","index":0}]}`,
		`{"reasoning_details":[{"type":"reasoning.text","signature":"sig","format":"anthropic-claude-v1","index":0}]}`,
		`{"reasoning_details":[{"type":"reasoning.encrypted","data":"AA==","id":"r1","index":1},null]}`,
		`{"reasoning_details":"odd"}`,
		`{"tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c1","index":0,"type":"function"}]}`,
	)}, modeltest.Turn{}, modeltest.Turn{Status: 400, Message: "reasoning_details: unknown field"}, modeltest.Turn{})
	p := client(t, s.URL)
	r := ask("go")
	first := collect(t, p, r)
	if first.Err != nil || first.Reasoning != "I look." {
		t.Fatalf("%+v", first)
	}
	r.Messages = append(r.Messages, answered(first.Message)...)
	collect(t, p, r)
	want := `[{"format":"anthropic-claude-v1","index":0,"signature":"sig","text":"I look.","type":"reasoning.text"},` +
		`{"data":"AA==","id":"r1","index":1,"type":"reasoning.encrypted"}]`
	if got := string(sentBack(t, s).Details); got != want {
		t.Errorf("%s", got)
	}
	if g := collect(t, p, r); g.Err != nil || sentBack(t, s).Details != nil {
		t.Errorf("a server that rejects them got them again: %v", g.Err)
	}
}

// Entries without a number are joined as long as they go on with one: thousands of pieces would
// go back one by one otherwise. What is signed, encrypted or has another id begins anew.
func TestReasoningDetailsWithoutIndex(t *testing.T) {
	one := func(fields string) string { return `{"reasoning_details":[{` + fields + `}]}` }
	const text = `"type":"reasoning.text"`
	for name, c := range map[string]struct {
		deltas []string
		want   string
	}{
		"pieces, then the signature": {
			[]string{one(text + `,"text":"I "`), one(text + `,"text":"look.","index":null`), one(text + `,"signature":"s1"`), one(text + `,"text":"Again."`)},
			`[{"index":null,"signature":"s1","text":"I look.","type":"reasoning.text"},{"text":"Again.","type":"reasoning.text"}]`,
		},
		"ids": {
			[]string{one(text + `,"id":"a","text":"x"`), one(text + `,"id":"a","text":"y"`), one(text + `,"text":"z"`), one(text + `,"id":"b","text":"w"`)},
			`[{"id":"a","text":"xyz","type":"reasoning.text"},{"id":"b","text":"w","type":"reasoning.text"}]`,
		},
		"encrypted": {
			[]string{one(`"type":"reasoning.encrypted","data":"AA=="`), one(`"type":"reasoning.encrypted","data":"BB=="`)},
			`[{"data":"AA==","type":"reasoning.encrypted"},{"data":"BB==","type":"reasoning.encrypted"}]`,
		},
		"types": {
			[]string{one(`"type":"reasoning.summary","summary":"S"`), one(`"type":"reasoning.summary","summary":"T"`), one(text + `,"text":"x"`)},
			`[{"summary":"ST","type":"reasoning.summary"},{"text":"x","type":"reasoning.text"}]`,
		},
		"a number, then none": {
			[]string{one(text + `,"index":0,"text":"x"`), one(text + `,"text":"y"`)},
			`[{"index":0,"text":"x","type":"reasoning.text"},{"text":"y","type":"reasoning.text"}]`,
		},
	} {
		s := modeltest.New(t, modeltest.Turn{Body: events("tool_calls", append(c.deltas,
			`{"tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c1","index":0,"type":"function"}]}`)...)}, modeltest.Turn{})
		p, r := client(t, s.URL), ask("go")
		r.Messages = append(r.Messages, answered(collect(t, p, r).Message)...)
		collect(t, p, r)
		if got := string(sentBack(t, s).Details); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A flood of them is refused like any other.
func TestAFloodOfDetails(t *testing.T) {
	one := `{"reasoning_details":[{"type":"reasoning.text","text":"` + strings.Repeat("x", 1<<20) + `","index":0}]}`
	s := modeltest.New(t, modeltest.Turn{Body: events("stop", one, one, one, one, one, one, one, one, one)})
	if g := collect(t, client(t, s.URL), ask("go")); g.Err == nil || g.Err.Class != provider.ClassTooLarge {
		t.Errorf("%v", g.Err)
	}
}

// A server sends anything under the names that tell entries apart: what is no type and no index
// begins an entry of its own.
func TestOddReasoningDetails(t *testing.T) {
	for _, entry := range []string{`{"type":{}}`, `{"type":[],"index":0}`, `{"type":"reasoning.text","index":[]}`, `{"index":{"a":1}}`} {
		s := modeltest.New(t, modeltest.Turn{Body: events("tool_calls",
			`{"reasoning_details":[`+entry+`,`+entry+`]}`, `{"reasoning_details":[`+entry+`]}`,
			`{"tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c1","index":0,"type":"function"}]}`,
		)}, modeltest.Turn{})
		p, r := client(t, s.URL), ask("go")
		first := collect(t, p, r)
		if first.Err != nil {
			t.Fatalf("%s: %v", entry, first.Err)
		}
		r.Messages = append(r.Messages, answered(first.Message)...)
		collect(t, p, r)
		var back []json.RawMessage
		if err := json.Unmarshal(sentBack(t, s).Details, &back); err != nil || len(back) != 3 {
			t.Errorf("%s: %s %v", entry, back, err)
		}
	}
}

// What one model signed goes to no other model of the same server, which would refuse it.
func TestAnotherModelOfTheServerGetsNothingSigned(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Body: events("tool_calls",
		`{"reasoning_details":[{"type":"reasoning.text","text":"I look.","signature":"sig","index":0}]}`,
		`{"tool_calls":[{"extra_content":`+signed+`,"function":{"arguments":"{}","name":"f"},"id":"c1","index":0,"type":"function"}]}`,
	)}, modeltest.Turn{}, modeltest.Turn{})
	p, r := client(t, s.URL), ask("go")
	r.Messages = append(r.Messages, answered(collect(t, p, r).Message)...)
	other := r
	other.Model = "other-model"
	collect(t, p, other)
	if m := sentBack(t, s); m.Details != nil || m.Calls[0].Extra != nil {
		t.Errorf("another model got %+v", m)
	}
	collect(t, p, r)
	if m := sentBack(t, s); m.Details == nil || m.Calls[0].Extra == nil {
		t.Errorf("the model itself got %+v", m)
	}
}

// What one model refuses is sent to the other models of the server as before.
func TestARefusalIsOfOneModel(t *testing.T) {
	for _, refusal := range []string{"reasoning_details: unknown field", "Function call is missing a thought_signature in functionCall parts."} {
		s := modeltest.New(t, modeltest.Turn{Body: events("tool_calls",
			`{"reasoning_details":[{"type":"reasoning.text","text":"I look.","index":0}]}`,
			`{"tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c1","index":0,"type":"function"}]}`,
		)}, modeltest.Turn{Status: 400, Message: refusal}, modeltest.Turn{}, modeltest.Turn{})
		p, r := client(t, s.URL), ask("go")
		r.Messages = append(r.Messages, answered(collect(t, p, r).Message)...)
		other := r
		other.Model = "other-model"
		if g := collect(t, p, other); g.Err != nil {
			t.Fatal(g.Err)
		}
		collect(t, p, r)
		if m := sentBack(t, s); m.Details == nil || m.Calls[0].Extra != nil {
			t.Errorf("%s: %+v", refusal, m)
		}
	}
}
