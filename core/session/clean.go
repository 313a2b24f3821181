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

// What is stored, shown and exported is without secrets: messages on their way in, and those that an earlier version stored on their way out.

// cleanMessage hides secrets in m. It changes no slice that somebody else may hold.
func cleanMessage(m *chat.Message) {
	if !secret.Enabled() {
		return
	}
	m.Text, m.Reasoning = secret.Text(m.Text), secret.Clean(m.Reasoning)
	m.Attachments = cleanAttachments(m.Attachments)
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

func cleanAttachments(in []chat.Attachment) []chat.Attachment {
	out := slices.Clone(in)
	for i := range out {
		out[i].Text = secret.Clean(out[i].Text)
	}
	return out
}

func cleanResult(r chat.ToolResult) chat.ToolResult {
	r.Text = secret.Text(r.Text)
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
		out[i].Text, out[i].Attachments = secret.Clean(out[i].Text), cleanAttachments(out[i].Attachments)
	}
	return out
}

func cleanImport(in *store.Import) {
	in.Session.Title, in.Session.Preview, in.Prompt = secret.Clean(in.Session.Title), secret.Clean(in.Session.Preview), secret.Clean(in.Prompt)
	for k, v := range in.Meta {
		in.Meta[k] = secret.Text(v)
	}
	for i := range in.Messages {
		cleanMessage(&in.Messages[i].Message)
	}
}
