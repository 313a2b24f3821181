package modeltest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// messages is Anthropic Messages.
var messages = &format{
	path: "/v1/messages", ping: "event: ping\ndata: {\"type\": \"ping\"}\n\n", whole: messagesWhole, check: checkMessages,
	object: messagesError,
	run:    func(s *stream) error { return messagesStream{s}.run() },
	failure: func(s *stream, message string) error {
		code := "api_error"
		if s.turn.Code != "" {
			code = s.turn.Code
		}
		return s.event("error", messagesError(message, code))
	},
	words: map[int][2]string{
		400: {"Invalid request.", "invalid_request_error"},
		401: {"invalid x-api-key", "authentication_error"},
		402: {"Your credit balance is too low to access the Anthropic API.", "billing_error"},
		403: {"Your API key does not have permission to use the specified resource.", "permission_error"},
		404: {"model: test-model", "not_found_error"},
		413: {"Request exceeds the maximum size", "request_too_large"},
		429: {"This request would exceed the rate limit of your organization.", "rate_limit_error"},
		500: {"Internal server error", "api_error"},
		503: {"Overloaded", "overloaded_error"},
		529: {"Overloaded", "overloaded_error"},
	},
}

func messagesError(message, code string) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": code, "message": message}}
}

// Signature is what this server signs a thinking block with. It takes back no other one.
func Signature(thinking string) string {
	sum := sha256.Sum256([]byte("signed: " + thinking))
	return base64.StdEncoding.EncodeToString(sum[:])
}

type messagesStream struct{ *stream }

func (s messagesStream) sendEvent(name string, fields map[string]any) error {
	fields["type"] = name
	return s.event(name, fields)
}

func (s messagesStream) run() error {
	u := messagesUsage(s.turn)
	u["output_tokens"] = 1
	err := s.sendEvent("message_start", map[string]any{"message": map[string]any{
		"id": "msg_test", "type": "message", "role": "assistant", "model": s.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": u,
	}})
	if err != nil {
		return err
	}
	for i, b := range messagesBlocks(s.turn) {
		if err := s.block(i, b); err != nil {
			return err
		}
	}
	return s.close(func() error {
		return s.sendEvent("message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": messagesStop(s.turn), "stop_sequence": nil}, "usage": messagesUsage(s.turn),
		})
	}, func() error { return s.sendEvent("message_stop", map[string]any{}) })
}

// block streams one block of an answer.
func (s messagesStream) block(i int, b map[string]any) error {
	first := map[string]any{"type": b["type"]}
	delta := func(kind, field string) func(string) error {
		return func(piece string) error {
			return s.sendEvent("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind, field: piece}})
		}
	}
	var body func() error
	switch b["type"] {
	case "thinking":
		first["thinking"], first["signature"] = "", ""
		body = func() error {
			if err := s.words(b["thinking"].(string), delta("thinking_delta", "thinking")); err != nil {
				return err
			}
			return delta("signature_delta", "signature")(b["signature"].(string))
		}
	case "text":
		first["text"] = ""
		body = func() error { return s.words(b["text"].(string), delta("text_delta", "text")) }
	case "tool_use":
		first["id"], first["name"], first["input"] = b["id"], b["name"], map[string]any{}
		body = func() error {
			if err := delta("input_json_delta", "partial_json")(""); err != nil {
				return err
			}
			return s.args(b["input"].(string), delta("input_json_delta", "partial_json"))
		}
	default:
		first = b
		body = func() error { return nil }
	}
	begin := func() error {
		return s.sendEvent("content_block_start", map[string]any{"index": i, "content_block": first})
	}
	if b["type"] == "tool_use" {
		if err := s.content(begin); err != nil {
			return err
		}
	} else if err := begin(); err != nil {
		return err
	}
	if i == 0 {
		if err := s.write([]byte(s.format.ping)); err != nil {
			return err
		}
	}
	if err := body(); err != nil {
		return err
	}
	return s.sendEvent("content_block_stop", map[string]any{"index": i})
}

// messagesBlocks are the blocks of the answer. The input of a call is its raw text.
func messagesBlocks(t Turn) []map[string]any {
	var out []map[string]any
	if t.Reasoning != "" {
		out = append(out, map[string]any{"type": "thinking", "thinking": t.Reasoning, "signature": Signature(t.Reasoning)})
	}
	if t.Redacted != "" {
		out = append(out, map[string]any{"type": "redacted_thinking", "data": t.Redacted})
	}
	if text := t.text(); text != "" {
		out = append(out, map[string]any{"type": "text", "text": text})
	}
	for i, c := range t.Calls {
		id := c.id(i)
		if t.NoID {
			id = ""
		}
		out = append(out, map[string]any{"type": "tool_use", "id": id, "name": c.Name, "input": c.Args})
	}
	return out
}

func messagesStop(t Turn) string {
	switch {
	case t.Finish != "":
		return t.Finish
	case len(t.Calls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func messagesUsage(t Turn) map[string]any {
	u := t.usage()
	return map[string]any{
		"input_tokens": u.Input - u.Cached - u.Written, "cache_creation_input_tokens": u.Written,
		"cache_read_input_tokens": u.Cached,
		"output_tokens":           u.Output, "output_tokens_details": map[string]any{"thinking_tokens": u.Reasoning},
	}
}

func messagesWhole(t Turn, req Request) map[string]any {
	blocks := messagesBlocks(t)
	for _, b := range blocks {
		if input, ok := b["input"].(string); ok {
			b["input"] = json.RawMessage(input)
		}
	}
	return map[string]any{
		"id": "msg_test", "type": "message", "role": "assistant", "model": req.Model, "content": blocks,
		"stop_reason": messagesStop(t), "stop_sequence": nil, "usage": messagesUsage(t),
	}
}
