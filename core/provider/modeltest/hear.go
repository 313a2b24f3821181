package modeltest

import (
	"context"
	"errors"
	"io"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider"
)

// Heard is what a stream yielded, as the message that it becomes.
type Heard struct {
	chat.Message
	End *provider.Chunk
	Err *provider.Error
}

// Client is a provider that is closed when the test ends.
func Client(t testing.TB, make provider.Maker, e provider.Endpoint) provider.Provider {
	t.Helper()
	p, err := make(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.(io.Closer).Close() })
	return p
}

// Hear reads an answer to its end. A stream that breaks the contract of a provider ends the test.
func Hear(ctx context.Context, t testing.TB, p provider.Provider, r provider.Request) Heard {
	t.Helper()
	h := Heard{Message: chat.Message{Role: chat.RoleAssistant}}
	for c, err := range p.Stream(ctx, r) {
		if h.End != nil || h.Err != nil {
			t.Fatal("a chunk came after the end")
		}
		if err == nil {
			h.take(t, c)
		} else if !errors.As(err, &h.Err) {
			t.Fatalf("not a *provider.Error: %v", err)
		}
	}
	if (h.End == nil) == (h.Err == nil) {
		t.Fatalf("a stream must end with one end or one error: %+v %v", h.End, h.Err)
	}
	return h
}

// Answer is the message that an answer becomes, and the *provider.Error that ended it.
func Answer(t testing.TB, p provider.Provider, r provider.Request) (chat.Message, error) {
	t.Helper()
	h := Hear(t.Context(), t, p, r)
	if h.Err != nil {
		return h.Message, h.Err
	}
	return h.Message, nil
}

func (h *Heard) take(t testing.TB, c provider.Chunk) {
	t.Helper()
	switch c.Kind {
	case provider.ChunkText:
		h.Text += c.Text
	case provider.ChunkReasoning:
		h.Reasoning += c.Text
	case provider.ChunkToolStart:
		if c.Index != len(h.Calls) {
			t.Fatalf("call %d starts as number %d", len(h.Calls), c.Index)
		}
		h.Calls = append(h.Calls, chat.ToolCall{ID: c.CallID, Name: c.Name})
	case provider.ChunkToolArgs:
		h.Calls[c.Index].Args = append(h.Calls[c.Index].Args, c.Text...)
	case provider.ChunkEnd:
		h.End = &c
		h.Finish, h.Usage, h.Opaque, h.Model = c.Finish, c.Usage, c.Opaque, c.Model
	}
}
