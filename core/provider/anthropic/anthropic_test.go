package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, url string) provider.Provider {
	t.Helper()
	return modeltest.Client(t, anthropic.Make, provider.Endpoint{Name: "test", BaseURL: url, Key: "sk-ant-test", CacheTTL: "1h"})
}

var tools = []provider.ToolSpec{
	{Name: "a", Schema: json.RawMessage(`{"type":"object"}`)},
	{Name: "b", Description: "Looks.", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`)},
}

func user(text string) chat.Message { return chat.Message{Role: chat.RoleUser, Text: text} }

func result(id string) chat.Message {
	return chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: id, Name: "a", Text: "found", Parts: []chat.Part{
		{Kind: chat.PartImage, Name: "p.png", Media: "image/png", Data: []byte("png")},
	}}}
}

// The streams that the vendor's documentation prints.
const documented = "event: message_start\ndata: {\"type\": \"message_start\", \"message\": {\"id\": \"msg_01\", \"type\": \"message\", \"role\": \"assistant\", \"content\": [], \"model\": \"claude-opus-4-6\", \"stop_reason\": null, \"stop_sequence\": null, \"usage\": {\"input_tokens\": 472, \"cache_creation_input_tokens\": 8, \"cache_read_input_tokens\": 20, \"output_tokens\": 2}}}\n\n" +
	"event: content_block_start\ndata: {\"type\": \"content_block_start\", \"index\": 0, \"content_block\": {\"type\": \"thinking\", \"thinking\": \"\", \"signature\": \"\"}}\n\n" +
	"event: ping\ndata: {\"type\": \"ping\"}\n\n" +
	"event: content_block_delta\ndata: {\"type\": \"content_block_delta\", \"index\": 0, \"delta\": {\"type\": \"thinking_delta\", \"thinking\": \"I need the weather.\"}}\n\n" +
	"event: content_block_delta\ndata: {\"type\": \"content_block_delta\", \"index\": 0, \"delta\": {\"type\": \"signature_delta\", \"signature\": \"EqQBCgIYAhIM1gbcDa9GJwZA2b3h\"}}\n\n" +
	"event: content_block_stop\ndata: {\"type\": \"content_block_stop\", \"index\": 0}\n\n" +
	"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"EmwKAhgBEgy3va3pzix\"}}\n\n" +
	"event: content_block_stop\ndata: {\"type\": \"content_block_stop\", \"index\": 1}\n\n" +
	"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":\"Okay\"}}\n\n" +
	"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n" +
	"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01T1x1fJ34qAmk2tNTrN7Up6\",\"name\":\"get_weather\",\"input\":{}}}\n\n" +
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n" +
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"location\\\": \\\"San Francisco\"}}\n\n" +
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\", CA\\\"}\"}}\n\n" +
	"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":3}\n\n" +
	"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":89}}\n\n" +
	"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

func TestDocumentedStream(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Body: documented, WireSplit: 7})
	m, err := modeltest.Answer(t, client(t, s.URL), provider.Request{Model: "m", Messages: []chat.Message{user("go")}})
	if err != nil {
		t.Fatal(err)
	}
	want := chat.Usage{Input: 500, Output: 89, Cached: 20, Written: 8}
	if m.Text != "Okay" || m.Reasoning != "I need the weather." || m.Usage != want || m.Model != "claude-opus-4-6" ||
		m.Finish != chat.FinishToolCalls || string(m.Calls[0].Args) != `{"location": "San Francisco, CA"}` {
		t.Errorf("%+v", m)
	}
	for _, kept := range []string{"EqQBCgIYAhIM1gbcDa9GJwZA2b3h", "EmwKAhgBEgy3va3pzix"} {
		if !bytes.Contains(m.Opaque, []byte(kept)) {
			t.Errorf("%s is lost: %s", kept, m.Opaque)
		}
	}
}

// Thinking goes back unchanged within its turn, to its own server and model only.
func TestThinkingGoesBackToItsWriterOnly(t *testing.T) {
	think := modeltest.Turn{
		Reasoning: "I must look.", Redacted: "sealed", Text: "I look.",
		Calls: []modeltest.Call{{Name: "a", Args: "{}"}, {Name: "b", Args: `{"x":"y"}`}},
	}
	s := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{think}, Loop: true})
	p := client(t, s.URL)
	r := provider.Request{
		Model: "claude-sonnet-4-5", System: "Be brief.", Effort: "high", Tools: tools, Messages: []chat.Message{user("go")},
	}
	m, err := modeltest.Answer(t, p, r)
	if err != nil {
		t.Fatal(err)
	}
	turn := []chat.Message{user("go"), m, result("call_1"), result("call_2")}
	other := modeltest.Client(t, anthropic.Make, provider.Endpoint{Name: "other", BaseURL: s.URL})
	for _, c := range []struct {
		name     string
		to       provider.Provider
		model    string
		messages []chat.Message
		thinking bool
	}{
		{"the same turn", p, r.Model, turn, true},
		{"a word in between", p, r.Model, append(turn[:4:4], user("and?")), true},
		{"a later turn", p, r.Model, append(turn[:4:4], chat.Message{Role: chat.RoleAssistant, Text: "So."}, user("and?")), false},
		{"another model", p, "claude-opus-4-5", turn, false},
		{"another server", other, r.Model, turn, false},
	} {
		r.Model, r.Messages = c.model, c.messages
		if _, err := modeltest.Answer(t, c.to, r); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		all := s.Requests()
		body := all[len(all)-1].Body
		if got := bytes.Contains(body, []byte(modeltest.Signature("I must look."))); got != c.thinking ||
			bytes.Contains(body, []byte("sealed")) != c.thinking {
			t.Errorf("%s: thinking sent: %v: %s", c.name, got, body)
		}
		if marks := bytes.Count(body, []byte(`"cache_control":{`)); marks != 4 {
			t.Errorf("%s: %d cache marks: %s", c.name, marks, body)
		}
		if hour := bytes.Count(body, []byte(`"ttl":"1h"`)); c.to == p && hour != 4 {
			t.Errorf("%s: %d marks for an hour", c.name, hour)
		}
		if images := bytes.Count(body, []byte(`"media_type":"image/png"`)); images != 2 {
			t.Errorf("%s: %d images", c.name, images)
		}
	}
}

// A server that does not take its thoughts back, or no choice of effort, gets the request once more
// without.
func TestRefusedThinkingIsLeftOut(t *testing.T) {
	think := modeltest.Turn{Reasoning: "Hm.", Calls: []modeltest.Call{{Name: "a", Args: "{}"}}}
	no := modeltest.Turn{Status: 400, Message: "messages.1.content.0: Invalid `signature` in `thinking` block"}
	effort := modeltest.Turn{Status: 400, Message: "This model does not support the effort parameter."}
	s := modeltest.New(t, think, no, modeltest.Turn{}, modeltest.Turn{}, effort, modeltest.Turn{})
	p := client(t, s.URL)
	r := provider.Request{Model: "claude-opus-4-6", Tools: tools, Messages: []chat.Message{user("go")}}
	m, err := modeltest.Answer(t, p, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, m, result("call_1"))
	for range 2 {
		if _, err := modeltest.Answer(t, p, r); err != nil {
			t.Fatal(err)
		}
	}
	r.Effort = "high"
	if _, err := modeltest.Answer(t, p, r); err != nil {
		t.Fatal(err)
	}
	all := s.Requests()
	for i, want := range []int{1, 0, 0, 0, 0} {
		if got := bytes.Count(all[i+1].Body, []byte(`"signature"`)); got != want {
			t.Errorf("request %d: %d signatures", i+1, got)
		}
	}
	if a, b := all[4].Body, all[5].Body; !bytes.Contains(a, []byte(`"effort":"high"`)) || bytes.Contains(b, []byte("effort")) {
		t.Errorf("%s\n%s", a, b)
	}
}

func TestEffort(t *testing.T) {
	for _, c := range []struct{ model, effort, want string }{
		{"claude-sonnet-4-5-20250929", "low", `"thinking":{"budget_tokens":4000,"type":"enabled"}`},
		{"claude-3-7-sonnet-20250219", "minimal", `"budget_tokens":1024`},
		{"claude-opus-4-6", "xhigh", `"output_config":{"effort":"max"}`},
		{"anthropic/claude-opus-4.7", "xhigh", `"output_config":{"effort":"xhigh"}`},
		{"claude-sonnet-5", "minimal", `"output_config":{"effort":"low"}`},
		{"claude-sonnet-5", "none", `"thinking":{"type":"disabled"}`},
		{"claude-mythos-preview", "high", `"thinking":{"display":"summarized","type":"adaptive"}`},
		{"glm-4.6", "high", `"type":"enabled"`},
	} {
		s := modeltest.New(t, modeltest.Turn{})
		r := provider.Request{Model: c.model, Effort: c.effort, Messages: []chat.Message{user("go")}}
		if _, err := modeltest.Answer(t, client(t, s.URL), r); err != nil {
			t.Fatal(err)
		}
		if body := s.Requests()[0].Body; !strings.Contains(string(body), c.want) {
			t.Errorf("%s, %s: no %s in %s", c.model, c.effort, c.want, body)
		}
	}
}

func TestStops(t *testing.T) {
	for stop, want := range map[string]chat.Finish{
		"end_turn": chat.FinishStop, "max_tokens": chat.FinishLength, "refusal": chat.FinishContentFilter,
		"pause_turn": chat.FinishStop, "model_context_window_exceeded": chat.FinishLength, "stop_sequence": chat.FinishStop,
	} {
		s := modeltest.New(t, modeltest.Turn{Finish: stop})
		m, err := modeltest.Answer(t, client(t, s.URL), provider.Request{Model: "m", Messages: []chat.Message{user("go")}})
		if err != nil || m.Finish != want {
			t.Errorf("%s: %s %v", stop, m.Finish, err)
		}
	}
}

func TestErrorsOfTheVendor(t *testing.T) {
	for status, want := range map[int]provider.Class{
		400: provider.ClassFormat, 401: provider.ClassAuth, 402: provider.ClassBilling, 403: provider.ClassAuth,
		404: provider.ClassModelNotFound, 413: provider.ClassContextOverflow, 429: provider.ClassRateLimit,
		500: provider.ClassServer, 529: provider.ClassOverloaded,
	} {
		s := modeltest.New(t, modeltest.Turn{Status: status})
		_, err := modeltest.Answer(t, client(t, s.URL), provider.Request{Model: "m", Messages: []chat.Message{user("go")}})
		var e *provider.Error
		if !errors.As(err, &e) || e.Class != want {
			t.Errorf("HTTP %d: %v", status, err)
		}
	}
	s := modeltest.New(t, modeltest.Turn{Fault: modeltest.FaultErrorEvent, Code: "overloaded_error", Message: "Overloaded"})
	_, err := modeltest.Answer(t, client(t, s.URL), provider.Request{Model: "m", Messages: []chat.Message{user("go")}})
	var e *provider.Error
	if !errors.As(err, &e) || e.Class != provider.ClassOverloaded {
		t.Errorf("in the stream: %v", err)
	}
}

func TestOddHistoriesAndAddresses(t *testing.T) {
	calls := []chat.ToolCall{{ID: "functions.a:0", Name: "a", Invalid: `{"x`}, {ID: "2", Name: "a"}}
	for name, in := range map[string][]chat.Message{
		"nothing":                 nil,
		"begins with the model":   {{Role: chat.RoleAssistant, Text: "Hello."}, user("hi")},
		"ends with the model":     {user("hi"), {Role: chat.RoleAssistant, Text: "Hello. "}},
		"a call without a result": {user("hi"), {Role: chat.RoleAssistant, Calls: calls}, result("2"), user("stop")},
		"a result without a call": {user("hi"), result("1"), user("and?")},
		"system in the middle":    {user("hi"), {Role: chat.RoleSystem, Text: "Note."}, user(" ")},
		"another's state":         {user("hi"), {Role: chat.RoleAssistant, Calls: calls, Opaque: json.RawMessage(`{"from":"x","data":1}`)}},
	} {
		s := modeltest.New(t, modeltest.Turn{})
		url := strings.TrimSuffix(s.URL, "/v1") + map[bool]string{true: "", false: "/v1/messages"}[len(in)%2 == 0]
		r := provider.Request{Model: "claude-sonnet-4-5", Effort: "high", Messages: in}
		if _, err := modeltest.Answer(t, client(t, url), r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, line := range strings.Split(documented, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			f.Add("", data)
		}
	}
	f.Fuzz(func(t *testing.T, kind, data string) {
		a := anthropic.NewReader()
		for range 2 {
			started := map[int]bool{}
			chunks, err := a.Feed(kind, []byte(data))
			for _, c := range chunks {
				started[c.Index] = started[c.Index] || c.Kind == provider.ChunkToolStart
			}
			if err != nil {
				return
			}
		}
		_, _ = a.End()
	})
}
