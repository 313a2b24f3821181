package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
)

// rawStream is the bytes of a turn's stream.
func rawStream(t *testing.T, turn modeltest.Turn) string {
	t.Helper()
	s := modeltest.New(t, turn)
	res, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(`{"model":"test-model","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestConversation(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "dot.png")
	if err := os.WriteFile(picture, []byte("\x89PNG\r\n\x1a\n0000"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := modeltest.New(t, modeltest.Turn{})
	r := provider.Request{
		Model: "test-model", System: "You are Hermes.", MaxTokens: 100,
		Tools: []provider.ToolSpec{{Name: "terminal", Description: "Runs.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []chat.Message{
			{Role: chat.RoleUser, Text: "look", Attachments: []chat.Attachment{
				{Kind: chat.AttachPaste, Name: "log", Text: "pasted words"},
				{Kind: chat.AttachImage, Name: "dot.png", Path: picture},
				{Kind: chat.AttachImage, Name: "gone.png", Path: picture + ".gone"},
			}},
			{Role: chat.RoleAssistant, Text: "I look.", Calls: []chat.ToolCall{
				{ID: "1", Name: "terminal", Args: json.RawMessage(`{"command":"ls"}`)},
				{ID: "2", Name: "terminal", Invalid: `{"command":`},
			}},
			{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "1", Name: "terminal", Text: "a b"}},
			{Role: chat.RoleUser, Text: "and?"},
			{Role: chat.RoleUser, Text: "well?"},
		},
	}
	if g := collect(t, client(t, s.URL, quick), r); g.err != nil {
		t.Fatal(g.err)
	}
	req := s.Requests()[0]
	roles := make([]string, 0, len(req.Messages))
	for _, m := range req.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool tool user" {
		t.Fatalf("roles: %s", got)
	}
	first := req.Messages[1].Text()
	for _, want := range []string{"pasted words", "data:image/png;base64,iVBORw0K", "gone.png"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first message lacks %q: %s", want, first)
		}
	}
	calls := req.Messages[2].ToolCalls
	if calls[0].Function.Arguments != `{"command":"ls"}` || !json.Valid([]byte(calls[1].Function.Arguments)) {
		t.Errorf("arguments: %+v", calls)
	}
	if m := req.Messages[4]; m.ToolCallID != "2" || !strings.Contains(m.Text(), "interrupted") {
		t.Errorf("the open call was closed with %+v", m)
	}
	if got := req.Messages[5].Text(); got != "and?\n\nwell?" {
		t.Errorf("neighbours: %q", got)
	}
	if !bytes.Contains(req.Body, []byte(`"max_tokens":100`)) || req.Tools[0] != "terminal" || !req.Stream {
		t.Errorf("body: %s", req.Body)
	}
}

func TestBadSchemaIsNamed(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{})
	r := ask("go")
	r.Tools = []provider.ToolSpec{{Name: "odd", Schema: json.RawMessage(`[`)}}
	g := collect(t, client(t, s.URL, quick), r)
	if g.err == nil || g.err.Class != provider.ClassFormat || !strings.Contains(g.err.Message, "odd") {
		t.Errorf("%v", g.err)
	}
}

func TestWithoutStream(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Text: "Whole.", Calls: []modeltest.Call{{Name: "t", Args: "{}"}}})
	r := ask("go")
	r.NoStream = true
	g := collect(t, client(t, s.URL, quick), r)
	if g.err != nil || g.text != "Whole." || len(g.calls) != 1 || s.Requests()[0].Stream {
		t.Errorf("%+v %v", g, g.err)
	}
}

// Models that think between calls want their reasoning back, in the same turn and nowhere else.
func TestReasoningGoesBackWithinTheTurn(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Reasoning: "I must look.", Calls: []modeltest.Call{{ID: "1", Name: "f", Args: "{}"}}},
		modeltest.Turn{}, modeltest.Turn{}, modeltest.Turn{Status: 400, Message: "property 'reasoning_content' is unsupported"}, modeltest.Turn{})
	p := client(t, s.URL, quick)
	r := ask("go")
	first := collect(t, p, r)
	history := []chat.Message{
		{Role: chat.RoleAssistant, Reasoning: first.reasoning, Calls: first.calls, Opaque: first.end.Opaque},
		{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "1", Text: "x"}},
	}
	sent := func() bool {
		all := s.Requests()
		return bytes.Contains(all[len(all)-1].Body, []byte(`"reasoning_content":"I must look."`))
	}
	r.Messages = append(r.Messages, history...)
	if collect(t, p, r); !sent() {
		t.Error("the reasoning did not go back in the same turn")
	}
	later := r
	later.Messages = append(append([]chat.Message(nil), r.Messages...), chat.Message{Role: chat.RoleUser, Text: "and now?"})
	if collect(t, p, later); sent() {
		t.Error("the reasoning of an old turn was sent")
	}
	if g := collect(t, p, r); g.err != nil || sent() {
		t.Errorf("a server that rejects it got it again: %v", g.err)
	}
}
