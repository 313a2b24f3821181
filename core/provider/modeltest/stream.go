package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// errCut ends an answer early: the fault happened or the client left.
var errCut = errors.New("cut")

// answer writes a turn that begins with HTTP 200.
func answer(w http.ResponseWriter, r *http.Request, t Turn, req Request) {
	switch {
	case t.Fault == FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Welcome</body></html>\n")
		return
	case t.Fault == FaultPlainJSON || !req.Stream:
		writeJSON(w, http.StatusOK, whole(t, req))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &stream{w: w, r: r, turn: t, model: req.Model}
	if t.Fault == FaultEmpty {
		return
	}
	_ = s.run() // errCut: what had to happen has happened
}

// stream writes one answer and makes its faults happen.
type stream struct {
	w      http.ResponseWriter
	r      *http.Request
	turn   Turn
	model  string
	deltas int // content deltas written
	bytes  int
}

func (s *stream) run() error {
	if err := s.choice(map[string]any{"role": "assistant", "content": ""}, nil); err != nil {
		return err
	}
	for _, part := range []func() error{s.reasoning, s.text, s.calls} {
		if err := part(); err != nil {
			return err
		}
	}
	return s.end()
}

func (s *stream) reasoning() error {
	field := s.turn.ReasoningField
	if field == "" {
		field = "reasoning_content"
	}
	return s.pieces(s.turn.Reasoning, field)
}

func (s *stream) text() error {
	text := s.turn.Text
	if text == "" && len(s.turn.Calls) == 0 && s.turn.Reasoning == "" {
		text = "Hello."
	}
	return s.pieces(text, "content")
}

func (s *stream) pieces(text, field string) error {
	n := s.turn.Chunk
	if n <= 0 {
		n = 8
	}
	for runes := []rune(text); len(runes) > 0; {
		k := min(n, len(runes))
		if err := s.delta(map[string]any{field: string(runes[:k])}); err != nil {
			return err
		}
		runes = runes[k:]
	}
	return nil
}

func (s *stream) calls() error {
	n := s.turn.ArgChunk
	if n <= 0 {
		n = 12
	}
	for i, c := range s.turn.Calls {
		first := map[string]any{"type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}
		if !s.turn.NoID {
			first["id"] = c.id(i)
		}
		if err := s.call(i, first); err != nil {
			return err
		}
		for args := []rune(c.Args); len(args) > 0; {
			k := min(n, len(args))
			if err := s.call(i, map[string]any{"function": map[string]any{"arguments": string(args[:k])}}); err != nil {
				return err
			}
			args = args[k:]
		}
	}
	return nil
}

func (s *stream) call(i int, c map[string]any) error {
	if !s.turn.NoIndex {
		c["index"] = i
	}
	return s.delta(map[string]any{"tool_calls": []any{c}})
}

func (c Call) id(i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_%d", i+1)
}

func (s *stream) end() error {
	f := s.turn.Fault
	if f == FaultNoEnd {
		return nil
	}
	if f != FaultNoFinish {
		if err := s.choice(map[string]any{}, finish(s.turn)); err != nil {
			return err
		}
		if err := s.event(s.frame([]any{}, usage(s.turn))); err != nil {
			return err
		}
	}
	if f == FaultNoDone {
		return nil
	}
	return s.write([]byte("data: [DONE]\n\n"))
}

// delta writes a content delta, before it the turn's delay, after it the turn's fault if this is the place.
func (s *stream) delta(d map[string]any) error {
	if s.turn.Delay > 0 && !s.sleep(s.turn.Delay) {
		return errCut
	}
	if err := s.fault(); err != nil {
		return err
	}
	s.deltas++
	return s.choice(d, nil)
}

func (s *stream) fault() error {
	if s.deltas != s.turn.After {
		return nil
	}
	if s.turn.Hold != nil {
		select {
		case <-s.turn.Hold:
		case <-s.r.Context().Done():
			return errCut
		}
	}
	switch s.turn.Fault {
	case FaultCutFIN, FaultCutRST:
		if s.turn.CutAt == 0 {
			return s.cut()
		}
	case FaultMalformed:
		return s.write([]byte("data: {\"choices\":[{\"delta\":{\"content\": oops\n\n"))
	case FaultErrorEvent:
		message := s.turn.Message
		if message == "" {
			message = "The server had an error in the middle of the answer."
		}
		_ = s.event(errorObject(message, "server_error"))
		return errCut
	case FaultStall:
		if !s.sleep(s.turn.Wait) {
			return errCut
		}
	case FaultPings:
		return s.pings()
	default:
	}
	return nil
}

// pings keeps the connection alive and says nothing, until the client leaves.
func (s *stream) pings() error {
	for s.sleep(20 * time.Millisecond) {
		if err := s.write([]byte(": ping\n\n")); err != nil {
			return err
		}
	}
	return errCut
}

// sleep waits for d, 0 meaning for ever, and reports whether the client is still there.
func (s *stream) sleep(d time.Duration) bool {
	var after <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return true
	case <-s.r.Context().Done():
		return false
	}
}

func (s *stream) choice(delta map[string]any, finish any) error {
	return s.event(s.frame([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}, nil))
}

func (s *stream) frame(choices []any, usage any) map[string]any {
	f := map[string]any{
		"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1700000000, "model": s.model, "choices": choices,
	}
	if usage != nil {
		f["usage"] = usage
	}
	return f
}

func (s *stream) event(v any) error {
	var b bytes.Buffer
	if s.turn.Heartbeat {
		b.WriteString(": keep-alive\n\n")
	}
	b.WriteString("data: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.WriteByte('\n')
	return s.write(b.Bytes())
}

func (s *stream) write(b []byte) error {
	if s.turn.CRLF {
		b = bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))
	}
	for len(b) > 0 {
		n := len(b)
		if s.turn.WireSplit > 0 {
			n = min(n, s.turn.WireSplit)
		}
		if s.turn.CutAt > 0 {
			n = min(n, s.turn.CutAt-s.bytes)
		}
		if _, err := s.w.Write(b[:n]); err != nil {
			return errCut
		}
		if err := http.NewResponseController(s.w).Flush(); err != nil {
			return errCut
		}
		b = b[n:]
		if s.bytes += n; s.turn.CutAt > 0 && s.bytes >= s.turn.CutAt {
			return s.cut()
		}
	}
	return nil
}

// cut closes the connection under the answer: no last chunk, so the client can tell.
func (s *stream) cut() error {
	_ = http.NewResponseController(s.w).Flush()
	conn, _, err := http.NewResponseController(s.w).Hijack()
	if err != nil {
		return errCut
	}
	if tcp, ok := conn.(*net.TCPConn); ok && s.turn.Fault == FaultCutRST {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	return errCut
}

func finish(t Turn) string {
	switch {
	case t.Finish != "":
		return t.Finish
	case len(t.Calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func usage(t Turn) map[string]any {
	u := t.Usage
	if u == nil {
		u = &Usage{Input: 10, Output: 1 + (len(t.Text)+len(t.Reasoning))/4}
	}
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.Cached},
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
	}
}

// whole is the answer of a server that does not stream.
func whole(t Turn, req Request) map[string]any {
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
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish(t)}},
		"usage":   usage(t),
	}
}
