package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// responses is OpenAI Responses.
var responses = &format{
	path: "/responses", ping: ": ping\n\n", check: checkResponses, object: errorObject,
	whole: func(t Turn, req Request) map[string]any { return responseObject(t, req.Model, true) },
	run:   func(s *stream) error { return (&responsesStream{stream: s}).run() },
	failure: func(s *stream, message string) error {
		return s.event("error", map[string]any{"type": "error", "code": "server_error", "message": message, "param": nil})
	},
}

// Encrypted is what this server makes of its reasoning. It takes back nothing else.
func Encrypted(reasoning string) string {
	return "enc-" + base64.StdEncoding.EncodeToString([]byte(reasoning))
}

type responsesStream struct {
	*stream
	number int
}

func (s *responsesStream) sendEvent(name string, fields map[string]any) error {
	fields["type"], fields["sequence_number"] = name, s.number
	s.number++
	return s.event(name, fields)
}

func (s *responsesStream) run() error {
	for _, name := range []string{"response.created", "response.in_progress"} {
		if err := s.sendEvent(name, map[string]any{"response": responseObject(s.turn, s.model, false)}); err != nil {
			return err
		}
	}
	for i, item := range responseItems(s.turn) {
		if err := s.item(i, item); err != nil {
			return err
		}
	}
	whole := responseObject(s.turn, s.model, true)
	done := func() error {
		return s.sendEvent("response."+whole["status"].(string), map[string]any{"response": whole})
	}
	return s.close(done, func() error { return nil })
}

// item streams one item of an answer.
func (s *responsesStream) item(i int, item map[string]any) error {
	id := item["id"]
	at := func(name string, fields map[string]any) error {
		fields["output_index"], fields["item_id"] = i, id
		return s.sendEvent(name, fields)
	}
	delta := func(name, index string) func(string) error {
		return func(piece string) error {
			fields := map[string]any{"delta": piece}
			if index != "" {
				fields[index] = 0
			}
			return at(name, fields)
		}
	}
	begin := map[string]any{"id": id, "type": item["type"], "status": "in_progress"}
	var body func() error
	switch item["type"] {
	case "reasoning":
		begin = map[string]any{"id": id, "type": "reasoning", "summary": []any{}}
		body = func() error {
			return s.part(at, "summary_index", "response.reasoning_summary_part", map[string]any{"type": "summary_text"}, s.turn.Reasoning,
				"response.reasoning_summary_text", delta)
		}
	case "message":
		begin["role"], begin["content"] = "assistant", []any{}
		body = func() error {
			return s.part(at, "content_index", "response.content_part", map[string]any{"type": "output_text", "annotations": []any{}},
				s.turn.text(), "response.output_text", delta)
		}
	default:
		begin["call_id"], begin["name"], begin["arguments"] = item["call_id"], item["name"], ""
		args := item["arguments"].(string)
		body = func() error {
			if err := s.args(args, delta("response.function_call_arguments.delta", "")); err != nil {
				return err
			}
			return at("response.function_call_arguments.done", map[string]any{"arguments": args})
		}
	}
	first := func() error {
		return s.sendEvent("response.output_item.added", map[string]any{"output_index": i, "item": begin})
	}
	if item["type"] == "function_call" {
		if err := s.content(first); err != nil {
			return err
		}
	} else if err := first(); err != nil {
		return err
	}
	if err := body(); err != nil {
		return err
	}
	return s.sendEvent("response.output_item.done", map[string]any{"output_index": i, "item": item})
}

// part streams a text between the events that begin and end its part, as the vendor's client wants
// them.
func (s *responsesStream) part(
	at func(string, map[string]any) error, index, name string, part map[string]any, text, words string,
	delta func(name, index string) func(string) error,
) error {
	with := func(text string) map[string]any {
		whole := maps.Clone(part)
		whole["text"] = text
		return map[string]any{index: 0, "part": whole}
	}
	if err := at(name+".added", with("")); err != nil {
		return err
	}
	if err := s.words(text, delta(words+".delta", index)); err != nil {
		return err
	}
	if err := at(words+".done", map[string]any{index: 0, "text": text}); err != nil {
		return err
	}
	return at(name+".done", with(text))
}

func responseItems(t Turn) []map[string]any {
	var out []map[string]any
	if t.Reasoning != "" {
		out = append(out, map[string]any{
			"id": "rs_test", "type": "reasoning", "encrypted_content": Encrypted(t.Reasoning),
			"summary": []any{map[string]any{"type": "summary_text", "text": t.Reasoning}},
		})
	}
	if text := t.text(); text != "" {
		out = append(out, map[string]any{
			"id": "msg_test", "type": "message", "status": "completed", "role": "assistant",
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}},
		})
	}
	for i, c := range t.Calls {
		id := c.id(i)
		if t.NoID {
			id = ""
		}
		out = append(out, map[string]any{
			"id": fmt.Sprintf("fc_%d", i+1), "type": "function_call", "status": "completed",
			"call_id": id, "name": c.Name, "arguments": c.Args,
		})
	}
	return out
}

// responseObject is the answer as an object, at its begin or at its end.
func responseObject(t Turn, model string, ended bool) map[string]any {
	out := map[string]any{
		"id": "resp_test", "object": "response", "created_at": 1700000000, "model": model, "status": "in_progress",
		"output": []any{}, "error": nil, "incomplete_details": nil, "usage": nil, "store": false,
		"parallel_tool_calls": true, "tools": []any{}, "tool_choice": "auto",
	}
	if !ended {
		return out
	}
	u := t.usage()
	out["status"], out["output"] = "completed", responseItems(t)
	out["usage"] = map[string]any{
		"input_tokens": u.Input, "input_tokens_details": u.cache(),
		"output_tokens": u.Output, "output_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
		"total_tokens": u.Input + u.Output,
	}
	if t.Finish != "" && t.Finish != "stop" {
		out["status"], out["incomplete_details"] = "incomplete", map[string]any{"reason": t.Finish}
	}
	return out
}

// checkResponses is the rules of OpenAI Responses for a request.
func checkResponses(req Request) error {
	var in struct {
		Input json.RawMessage `json:"input"`
		Tools []struct{ Type, Name string }
		Limit *int `json:"max_output_tokens"`
	}
	if err := json.Unmarshal(req.Body, &in); err != nil {
		return err
	}
	if in.Limit != nil && *in.Limit < 16 {
		return errors.New("invalid 'max_output_tokens': expected a value >= 16")
	}
	for i, t := range in.Tools {
		if t.Type != "function" || t.Name == "" {
			return fmt.Errorf("missing required parameter: 'tools[%d].name'", i)
		}
	}
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		return nil
	}
	var items []inputItem
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return err
	}
	return checkItems(items)
}

type inputItem struct {
	Type, Role, Name, Arguments, Output string
	Content                             json.RawMessage
	Encrypted                           string `json:"encrypted_content"`
	CallID                              string `json:"call_id"`
}

// UnmarshalJSON takes an output that is a list, too.
func (i *inputItem) UnmarshalJSON(b []byte) error {
	type plain inputItem
	var raw struct {
		*plain
		Output json.RawMessage
	}
	raw.plain = (*plain)(i)
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	i.Output = string(raw.Output)
	return nil
}

// checkItems demands that each call has its output behind it, that reasoning is ours and something
// follows it, and that nothing is empty.
func checkItems(items []inputItem) error {
	var steps []step
	for i, item := range items {
		switch item.Type {
		case "", "message":
			text, other, err := contentOf(item.Content)
			if err != nil {
				return fmt.Errorf("input[%d].content: %w", i, err)
			}
			role := item.Role
			if role == "developer" || role == "system" {
				role = "user"
			}
			steps = append(steps, step{role: role, text: text, other: other})
		case "reasoning":
			raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(item.Encrypted, "enc-"))
			if err != nil || item.Encrypted != Encrypted(string(raw)) {
				return fmt.Errorf("input[%d]: the encrypted content could not be verified", i)
			}
			if i+1 == len(items) || items[i+1].Role == "user" || items[i+1].Type == "function_call_output" {
				return fmt.Errorf("input[%d]: item of type 'reasoning' was provided without its required following item", i)
			}
		case "function_call":
			call := stepCall{item.CallID, item.Name, item.Arguments}
			if n := len(steps); n > 0 && steps[n-1].role == "assistant" {
				steps[n-1].calls = append(steps[n-1].calls, call)
				continue
			}
			steps = append(steps, step{role: "assistant", calls: []stepCall{call}})
		case "function_call_output":
			steps = append(steps, step{role: "tool", id: item.CallID, text: strings.Trim(item.Output, `"[] `)})
		default:
			return fmt.Errorf("input[%d]: no item is called %q", i, item.Type)
		}
	}
	return checkPairs(steps)
}
