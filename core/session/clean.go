package session

import (
	"bytes"
	"encoding/json"
	"slices"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/secret"
	"hermes/core/store"
)

// What is stored, shown and exported is without secrets: messages on their way in, and those that
// an earlier version stored on their way out.

// cleanMessage hides secrets in m. It changes no slice that somebody else may hold.
func cleanMessage(m *chat.Message) {
	if !secret.Enabled() {
		return
	}
	m.Text, m.Reasoning = secret.Text(m.Text), secret.Clean(m.Reasoning)
	m.Parts = cleanParts(m.Parts)
	m.Calls = slices.Clone(m.Calls)
	for i := range m.Calls {
		m.Calls[i] = cleanCall(m.Calls[i])
	}
	if m.Result != nil {
		r := cleanResult(*m.Result)
		m.Result = &r
	}
	// What is signed cannot be changed: a provider goes on without it.
	if len(m.Opaque) > 0 && !bytes.Equal(secret.JSON(m.Opaque), m.Opaque) {
		m.Opaque = nil
	}
}

// cleanCall is a call as it is stored and shown. The tool gets the one that the model made.
func cleanCall(c chat.ToolCall) chat.ToolCall {
	if secret.Enabled() {
		c.Args, c.Invalid = json.RawMessage(secret.JSON(c.Args)), secret.Clean(c.Invalid)
	}
	return c
}

func cleanParts(in []chat.Part) []chat.Part {
	out := slices.Clone(in)
	for i := range out {
		out[i].Text, out[i].URI = secret.Clean(out[i].Text), secret.Clean(out[i].URI)
	}
	return out
}

func cleanResult(r chat.ToolResult) chat.ToolResult {
	r.Text, r.Parts = secret.Text(r.Text), cleanParts(r.Parts)
	if len(r.Ran) > 0 {
		r.Ran = json.RawMessage(secret.JSON(r.Ran))
	}
	r.Warnings = slices.Clone(r.Warnings)
	for i := range r.Warnings {
		r.Warnings[i] = secret.Clean(r.Warnings[i])
	}
	r.Diffs = slices.Clone(r.Diffs)
	for i := range r.Diffs {
		r.Diffs[i].Unified = secret.Clean(r.Diffs[i].Unified)
	}
	return r
}

// cleanQueue is input as it is kept.
func cleanQueue(q []event.QueuedInput) []event.QueuedInput {
	out := slices.Clone(q)
	for i := range out {
		out[i].Text, out[i].Parts = secret.Clean(out[i].Text), cleanParts(out[i].Parts)
	}
	return out
}

// unsignedQueue is a stored queue of which nothing counts as said by the person; "" when it is
// none.
func unsignedQueue(queue string) string {
	var items []map[string]json.RawMessage
	if json.Unmarshal([]byte(queue), &items) != nil {
		return ""
	}
	for _, item := range items {
		delete(item, "from")
	}
	out, err := json.Marshal(items)
	if err != nil {
		return ""
	}
	return string(out)
}

func cleanImport(in *store.Import) {
	in.Session.Title, in.Session.Preview, in.Prompt = secret.Clean(in.Session.Title), secret.Clean(in.Session.Preview), secret.Clean(in.Prompt)
	for k, v := range in.Meta {
		in.Meta[k] = secret.Text(v)
	}
	if queue, ok := in.Meta[queueKey]; ok {
		in.Meta[queueKey] = unsignedQueue(queue)
	}
	for i := range in.Messages {
		if in.Messages[i].From.IsPerson() { // a file cannot speak for the person who reads it
			in.Messages[i].From = chat.Author{}
		}
		cleanMessage(&in.Messages[i].Message)
	}
}
