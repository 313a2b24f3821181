package responses_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/responses"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, url string) provider.Provider {
	t.Helper()
	return modeltest.Client(t, responses.Make, provider.Endpoint{Name: "test", BaseURL: url, Key: "sk-test"})
}

func ask(text string) provider.Request {
	return provider.Request{
		Model: "gpt-5", System: "Be brief.", Effort: "low", Messages: []chat.Message{{Role: chat.RoleUser, Text: text}},
		Tools: []provider.ToolSpec{{Name: "f", Description: "Looks.", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}

func TestRequest(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{})
	r := ask("go")
	r.MaxTokens = 100
	if _, err := modeltest.Answer(t, client(t, s.URL+"/responses"), r); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	for _, want := range []string{
		`"store":false`, `"stream":true`, `"include":["reasoning.encrypted_content"]`, `"instructions":"Be brief."`,
		`"max_output_tokens":100`, `"effort":"low"`, `"summary":"auto"`,
	} {
		if !bytes.Contains(got.Body, []byte(want)) {
			t.Errorf("no %s in %s", want, got.Body)
		}
	}
	if got.Path != "/v1/responses" || got.Header.Get("Authorization") != "Bearer sk-test" || got.Tools[0] != "f" {
		t.Errorf("%+v", got)
	}
}

// A server that does not take its reasoning back, or none at all, gets the request once more
// without.
func TestRefusedReasoningIsLeftOut(t *testing.T) {
	think := modeltest.Turn{Reasoning: "Hm.", Calls: []modeltest.Call{{Name: "f", Args: "{}"}}}
	no := modeltest.Turn{Status: 400, Message: "The encrypted content gAAA could not be verified.", Code: "invalid_encrypted_content"}
	none := modeltest.Turn{Status: 400, Message: "Unsupported parameter: 'reasoning.effort' is not supported with this model."}
	s := modeltest.New(t, think, no, modeltest.Turn{}, none, modeltest.Turn{})
	p := client(t, s.URL)
	r := ask("go")
	m, err := modeltest.Answer(t, p, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, m, chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "call_1", Text: "x"}})
	for range 2 {
		if _, err := modeltest.Answer(t, p, r); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Requests()
	for i, want := range []bool{false, true, false, false, false} {
		if got := bytes.Contains(all[i].Body, []byte(modeltest.Encrypted("Hm."))); got != want {
			t.Errorf("request %d: reasoning sent: %v", i, got)
		}
	}
	if bytes.Contains(all[4].Body, []byte("reasoning")) {
		t.Errorf("asked for reasoning again: %s", all[4].Body)
	}
}

func TestEnds(t *testing.T) {
	event := func(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }
	begin := event("response.created", `{"type":"response.created","response":{"object":"response","model":"gpt-5","status":"in_progress","error":null}}`) +
		event("response.output_item.added", `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","content":[]}}`)
	for name, c := range map[string]struct {
		body   string
		text   string
		finish chat.Finish
		class  provider.Class
	}{
		"refusal": {
			body: begin + event("response.refusal.delta", `{"type":"response.refusal.delta","output_index":0,"delta":"I cannot."}`) +
				event("response.completed", `{"type":"response.completed","response":{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot."}]}]}}`),
			text: "I cannot.", finish: chat.FinishContentFilter,
		},
		"cut by the limit": {
			body: begin + event("response.output_text.delta", `{"type":"response.output_text.delta","output_index":0,"delta":"Half"}`) +
				event("response.incomplete", `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`),
			text: "Half", finish: chat.FinishLength,
		},
		"failed": {
			body:  begin + event("response.failed", `{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached."}}}`),
			class: provider.ClassRateLimit,
		},
		"error": {
			body:  begin + event("error", `{"type":"error","code":"context_length_exceeded","message":"too long","param":null}`),
			class: provider.ClassContextOverflow,
		},
		"only the whole": {
			body: event("response.completed", `{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"All."}]}]}}`),
			text: "All.", finish: chat.FinishStop,
		},
	} {
		s := modeltest.New(t, modeltest.Turn{Body: c.body})
		m, err := modeltest.Answer(t, client(t, s.URL), ask("go"))
		var e *provider.Error
		if errors.As(err, &e) != (c.class != "") || e != nil && e.Class != c.class || m.Text != c.text || m.Finish != c.finish {
			t.Errorf("%s: %+v %v", name, m, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	f.Add("", `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"}}`)
	f.Add("", `{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"text":"x"}],"encrypted_content":"e"}}`)
	f.Add("", `{"object":"response","output":[{"type":"message","content":[{"text":"x"}]}],"usage":{"input_tokens":-1}}`)
	f.Add("", `{"type":"response.completed","response":{"output":[null,{}]}}`)
	f.Add("error", `overloaded`)
	f.Fuzz(func(_ *testing.T, kind, data string) {
		a := responses.NewReader()
		for range 2 {
			if _, err := a.Feed(kind, []byte(data)); err != nil {
				return
			}
		}
		_, _ = a.End()
	})
}
