package modeltest

// completions is OpenAI chat completions.
var completions = &format{
	path: "/chat/completions", ping: ": ping\n\n", whole: chatWhole, check: func(r Request) error { return CheckChat(r.Body) },
	object:  errorObject,
	run:     func(s *stream) error { return chatStream{s}.run() },
	failure: func(s *stream, message string) error { return s.event("", errorObject(message, "server_error")) },
}

type chatStream struct{ *stream }

func (s chatStream) run() error {
	if err := s.choice(map[string]any{"role": "assistant", "content": ""}, nil); err != nil {
		return err
	}
	field := s.turn.ReasoningField
	if field == "" {
		field = "reasoning_content"
	}
	if err := s.words(s.turn.Reasoning, s.sender(field)); err != nil {
		return err
	}
	if err := s.words(s.turn.text(), s.sender("content")); err != nil {
		return err
	}
	if err := s.calls(); err != nil {
		return err
	}
	return s.close(func() error {
		if err := s.choice(map[string]any{}, chatFinish(s.turn)); err != nil {
			return err
		}
		return s.event("", s.frame([]any{}, chatUsage(s.turn)))
	}, func() error { return s.write([]byte("data: [DONE]\n\n")) })
}

func (s chatStream) sender(field string) func(string) error {
	return func(piece string) error { return s.choice(map[string]any{field: piece}, nil) }
}

func (s chatStream) calls() error {
	for i, c := range s.turn.Calls {
		first := map[string]any{"type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}
		if !s.turn.NoID {
			first["id"] = c.id(i)
		}
		if err := s.content(func() error { return s.call(i, first) }); err != nil {
			return err
		}
		err := s.args(c.Args, func(piece string) error {
			return s.call(i, map[string]any{"function": map[string]any{"arguments": piece}})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s chatStream) call(i int, c map[string]any) error {
	if !s.turn.NoIndex {
		c["index"] = i
	}
	return s.choice(map[string]any{"tool_calls": []any{c}}, nil)
}

func (s chatStream) choice(delta map[string]any, finish any) error {
	return s.event("", s.frame([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}, nil))
}

func (s chatStream) frame(choices []any, usage any) map[string]any {
	f := map[string]any{
		"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1700000000, "model": s.model, "choices": choices,
	}
	if usage != nil {
		f["usage"] = usage
	}
	return f
}

func chatFinish(t Turn) string {
	switch {
	case t.Finish != "":
		return t.Finish
	case len(t.Calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func chatUsage(t Turn) map[string]any {
	u := t.usage()
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     u.cache(),
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
	}
}

// whole is the answer of a server that does not stream.
func chatWhole(t Turn, req Request) map[string]any {
	message := map[string]any{"role": "assistant", "content": t.Text}
	if t.Reasoning != "" {
		message["reasoning_content"] = t.Reasoning
	}
	var calls []any
	for i, c := range t.Calls {
		calls = append(calls, map[string]any{
			"id": c.id(i), "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Args},
		})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return map[string]any{
		"id": "chatcmpl-test", "object": "chat.completion", "created": 1700000000, "model": req.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": chatFinish(t)}},
		"usage":   chatUsage(t),
	}
}
