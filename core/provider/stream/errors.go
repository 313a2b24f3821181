package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hermes/core/provider"
)

// maxErrorBody bounds what is read of an error, in bytes.
const maxErrorBody = 64 << 10

// Refusal is an answer that is not a success.
type Refusal struct {
	Status int // 0 inside of a stream
	Body   []byte
	header http.Header
}

// Error says the status only: the body may hold what should not be logged.
func (r *Refusal) Error() string { return fmt.Sprintf("HTTP %d", r.Status) }

// Says reports whether the server's words contain one of the words, which are lower case.
func (r *Refusal) Says(words ...string) bool {
	body := strings.ToLower(string(r.Body))
	for _, w := range words {
		if strings.Contains(body, w) {
			return true
		}
	}
	return false
}

// Invalid reports whether the server calls the request wrong.
func (r *Refusal) Invalid() bool {
	return r.Status == http.StatusBadRequest || r.Status == http.StatusUnprocessableEntity
}

// BadAnswer is an answer that is not what the format says.
type BadAnswer struct {
	What  string
	Hint  string
	event []byte // an error object that the server sent instead
}

func (b *BadAnswer) Error() string { return b.What }

// Malformed is an answer that breaks the rules of its format.
func Malformed(what string) *BadAnswer { return &BadAnswer{What: what, Hint: "try again"} }

// ErrorEvent is an error object that came instead of content.
func ErrorEvent(data []byte) *BadAnswer {
	return &BadAnswer{What: "the server sent an error", event: append([]byte(nil), data[:min(len(data), maxErrorBody)]...)}
}

// Frame is one event of a stream as its format reads it.
type Frame interface {
	// Fault is the error object that came in place of content; nil when none did.
	Fault(event []byte) []byte
}

// Given reports whether there is a value.
func Given(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }

// Decode reads an event. What is a flood, an error of the server's, or no JSON is an error.
func Decode(kind string, event []byte, f Frame) error {
	err := json.Unmarshal(event, f)
	var flood *TooLarge
	if errors.As(err, &flood) {
		return flood
	}
	if kind == "error" {
		return ErrorEvent(event)
	}
	if err != nil {
		return Malformed("an event of the stream is not valid JSON")
	}
	if fault := f.Fault(event); fault != nil {
		return ErrorEvent(fault)
	}
	return nil
}

// explain turns whatever ended a call into the one kind of error that leaves a provider.
func (c *Client) explain(parent, ctx context.Context, model string, err error) error {
	var (
		bad     *BadAnswer
		refused *Refusal
		ours    *provider.Error
		quiet   *silence
		flood   *TooLarge
	)
	out := &provider.Error{Provider: c.Name(), Model: model, Err: err}
	switch {
	case errors.As(err, &ours):
		return ours
	case parent.Err() != nil:
		return provider.Transport(c.Name(), model, parent.Err())
	case errors.As(err, &refused):
		return c.classify(refused, model)
	case errors.As(err, &flood):
		out.Class, out.Message, out.Hint = provider.ClassTooLarge, flood.Error(), "another model may be shorter"
	case errors.As(context.Cause(ctx), &quiet):
		out.Class, out.Message, out.Hint = provider.ClassTimeout, quiet.Error(), quiet.hint
	case errors.As(err, &bad):
		if bad.event != nil {
			return c.classify(&Refusal{Body: bad.event}, model)
		}
		out.Class, out.Message, out.Hint = provider.ClassMalformed, bad.Error(), bad.Hint
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		out.Class, out.Message, out.Hint = provider.ClassNetwork, "the connection closed in the middle of the answer", "try again"
	default:
		c.http.CloseIdleConnections() // whoever tries again gets a new connection
		return provider.Transport(c.Name(), model, err)
	}
	return out
}

func (c *Client) classify(r *Refusal, model string) *provider.Error {
	e := provider.Classify(provider.Answer{
		Provider: c.Name(), Model: model, Status: r.Status, Header: r.header, Body: r.Body, Key: c.Endpoint.Key,
	}, time.Now())
	e.Err = r
	return e
}

// BadSchema is a tool that no server would take.
func BadSchema(name, model, tool string, err error) *provider.Error {
	return &provider.Error{
		Class: provider.ClassFormat, Provider: name, Model: model, Err: err, Hint: "switch its toolset off",
		Message: fmt.Sprintf("the schema of the tool %q is not a JSON object", tool),
	}
}
