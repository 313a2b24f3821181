package openai_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
)

func TestConversation(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{})
	r := provider.Request{
		Model: "test-model", System: "You are Hermes.", MaxTokens: 100,
		Tools: []provider.ToolSpec{{Name: "terminal", Description: "Runs.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []chat.Message{
			{Role: chat.RoleUser, Text: "look", Parts: []chat.Part{
				{Kind: chat.PartPaste, Name: "log", Text: "pasted words"},
				{Kind: chat.PartImage, Name: "dot.png", Media: "image/png", Data: []byte("\x89PNG\r\n\x1a\n0000")},
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
	if g := collect(t, client(t, s.URL), r); g.Err != nil {
		t.Fatal(g.Err)
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
	for _, want := range []string{"pasted words", "data:image/png;base64,iVBORw0K"} {
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

func picture(name string) chat.Part {
	return chat.Part{Kind: chat.PartImage, Name: name, Media: "image/png", Blob: strings.Repeat("a", 64), Data: []byte(name)}
}

// looked is a conversation in which two calls of an answer gave images.
func looked(after ...chat.Message) []chat.Message {
	return append([]chat.Message{
		{Role: chat.RoleUser, Text: "look"},
		{Role: chat.RoleAssistant, Reasoning: "hm", Opaque: json.RawMessage(`{"provider":"test"}`), Calls: []chat.ToolCall{
			{ID: "1", Name: "shot", Args: json.RawMessage(`{}`)}, {ID: "2", Name: "shot", Args: json.RawMessage(`{}`)},
		}},
		{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "1", Name: "shot", Text: "one", Parts: []chat.Part{picture("a.png")}}},
		{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "2", Name: "shot", Text: "two", Parts: []chat.Part{picture("b.png")}}},
	}, after...)
}

// The format takes no images in results: they follow in a message of the person, by the names of
// their calls, after the last result.
func TestImagesOfResults(t *testing.T) {
	for _, c := range []struct {
		after []chat.Message
		roles string
		says  []string
	}{
		{nil, "user assistant tool tool user", nil},
		{
			[]chat.Message{{Role: chat.RoleUser, Text: "well?", Parts: []chat.Part{picture("c.png")}}},
			"user assistant tool tool user",
			[]string{"well?", "base64,Yy5wbmc="},
		},
		{[]chat.Message{{Role: chat.RoleAssistant, Text: "I see."}}, "user assistant tool tool user assistant", nil},
	} {
		s := modeltest.New(t, modeltest.Turn{})
		if g := collect(t, client(t, s.URL), provider.Request{Model: "m", Messages: looked(c.after...)}); g.Err != nil {
			t.Fatal(g.Err)
		}
		var roles []string
		for _, m := range s.Requests()[0].Messages {
			roles = append(roles, m.Role)
		}
		if got := strings.Join(roles, " "); got != c.roles {
			t.Errorf("roles: %s, want %s", got, c.roles)
		}
		shown := s.Requests()[0].Messages[4].Text()
		for _, want := range append(c.says, `\"a.png\" of shot (1), \"b.png\" of shot (2)]`, "base64,YS5wbmc=", "base64,Yi5wbmc=") {
			if !strings.Contains(shown, want) {
				t.Errorf("no %s in %s", want, shown)
			}
		}
	}
}

// A server that refuses images gets a line for each instead, at once and from then on: no image can
// end a conversation.
func TestAServerThatRefusesImages(t *testing.T) {
	for status, message := range map[int]string{
		400: "unknown variant `image_url`, expected `text`", 404: "No endpoints found that support image input", 413: "Payload too large", 422: "bad Image",
	} {
		s := modeltest.New(t, modeltest.Turn{Status: status, Message: message}, modeltest.Turn{}, modeltest.Turn{})
		p := client(t, s.URL)
		for range 2 {
			if g := collect(t, p, provider.Request{Model: "m", Messages: looked()}); g.Err != nil {
				t.Fatal(g.Err)
			}
		}
		for i, req := range s.Requests() {
			sent, said := bytes.Contains(req.Body, []byte("base64,")), bytes.Contains(req.Body, []byte("the server refuses it"))
			if sent != (i == 0) || said != (i > 0) {
				t.Errorf("HTTP %d: request %d: %s", status, i, req.Body)
			}
		}
	}
	s := modeltest.New(t, modeltest.Turn{Status: 400, Message: "the image of the container is missing"})
	if g := collect(t, client(t, s.URL), ask("no image here")); g.Err == nil || len(s.Requests()) != 1 {
		t.Errorf("%v after %d requests", g.Err, len(s.Requests()))
	}
}

// Several vendors answer "tools": [] with an error.
func TestARequestWithoutToolsHasNoKeyForThem(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{})
	r := ask("go")
	r.Tools = []provider.ToolSpec{}
	if g := collect(t, client(t, s.URL), r); g.Err != nil {
		t.Fatal(g.Err)
	}
	if body := s.Requests()[0].Body; bytes.Contains(body, []byte(`"tools"`)) {
		t.Errorf("body: %s", body)
	}
}

func TestBadSchemaIsNamed(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{})
	r := ask("go")
	r.Tools = []provider.ToolSpec{{Name: "odd", Schema: json.RawMessage(`[`)}}
	g := collect(t, client(t, s.URL), r)
	if g.Err == nil || g.Err.Class != provider.ClassFormat || !strings.Contains(g.Err.Message, "odd") {
		t.Errorf("%v", g.Err)
	}
}

// Models that think between calls want their reasoning back, in the same turn and nowhere else.
func TestReasoningGoesBackWithinTheTurn(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Reasoning: "I must look.", Calls: []modeltest.Call{{ID: "1", Name: "f", Args: "{}"}}},
		modeltest.Turn{}, modeltest.Turn{}, modeltest.Turn{Status: 400, Message: "property 'reasoning_content' is unsupported"}, modeltest.Turn{})
	p := client(t, s.URL)
	r := ask("go")
	first := collect(t, p, r)
	history := []chat.Message{
		{Role: chat.RoleAssistant, Reasoning: first.Reasoning, Calls: first.Calls, Opaque: first.Opaque},
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
	if g := collect(t, p, r); g.Err != nil || sent() {
		t.Errorf("a server that rejects it got it again: %v", g.Err)
	}
}
