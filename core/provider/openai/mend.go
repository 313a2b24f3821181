package openai

import (
	"strings"

	"hermes/core/chat"
)

// mend makes a history valid for the wire without changing what it says:
//
//   - each call is followed by exactly one result, in the order of the calls; a missing one is made up as interrupted
//   - a result without a call is dropped
//   - a message that says nothing is dropped; neighbours of the same speaker are joined (some chat templates reject them)
func mend(in []chat.Message) []chat.Message {
	var out []chat.Message
	for i := 0; i < len(in); i++ {
		m := in[i]
		switch m.Role {
		case chat.RoleTool: // a result that no call waits for: those that belong are taken below
			continue
		case chat.RoleAssistant:
			m.Calls = named(m.Calls)
			if strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
				continue
			}
		default:
		}
		out = join(out, m)
		if len(m.Calls) > 0 {
			n := i + 1
			for n < len(in) && in[n].Role == chat.RoleTool {
				n++
			}
			out = append(out, results(m.Calls, in[i+1:n])...)
			i = n - 1
		}
	}
	return out
}

// named drops what cannot be sent as a call: no id, no name, or an id twice in a message.
func named(calls []chat.ToolCall) []chat.ToolCall {
	var out []chat.ToolCall
	seen := map[string]bool{}
	for _, c := range calls {
		if c.ID != "" && c.Name != "" && !seen[c.ID] {
			seen[c.ID] = true
			out = append(out, c)
		}
	}
	return out
}

// results orders what came by the calls and fills the gaps.
func results(calls []chat.ToolCall, came []chat.Message) []chat.Message {
	byID := map[string]chat.Message{}
	for _, m := range came {
		if m.Result != nil {
			if _, twice := byID[m.Result.CallID]; !twice {
				byID[m.Result.CallID] = m
			}
		}
	}
	out := make([]chat.Message, 0, len(calls))
	for _, c := range calls {
		m, ok := byID[c.ID]
		if !ok {
			m = chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: c.ID, Name: c.Name, IsError: true, Interrupted: true}}
		}
		out = append(out, m)
	}
	return out
}

// join appends m, into the last message when the same side speaks again.
func join(out []chat.Message, m chat.Message) []chat.Message {
	if len(out) == 0 {
		return append(out, m)
	}
	last := &out[len(out)-1]
	same := last.Role == m.Role && (m.Role == chat.RoleUser || (m.Role == chat.RoleAssistant && len(last.Calls) == 0))
	if !same {
		return append(out, m)
	}
	if m.Role == chat.RoleUser {
		last.Text = userText(textOnly(*last))
		m.Text = userText(textOnly(m))
		last.Attachments = append(images(last.Attachments), images(m.Attachments)...)
	}
	last.Text = strings.TrimSpace(last.Text + "\n\n" + m.Text)
	last.Calls, last.Reasoning, last.Opaque = m.Calls, m.Reasoning, m.Opaque
	return out
}

// textOnly is the message without its images.
func textOnly(m chat.Message) chat.Message {
	var rest []chat.Attachment
	for _, a := range m.Attachments {
		if a.Kind != chat.AttachImage {
			rest = append(rest, a)
		}
	}
	m.Attachments = rest
	return m
}

func images(in []chat.Attachment) []chat.Attachment {
	var out []chat.Attachment
	for _, a := range in {
		if a.Kind == chat.AttachImage {
			out = append(out, a)
		}
	}
	return out
}
