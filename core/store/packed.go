package store

import (
	"encoding/json"
	"slices"

	"hermes/core/chat"
)

// Packed is a message as JSON that loses nothing: what a model sent as arguments may be no JSON at
// all, and provider state must come back byte for byte, while encoding/json refuses the one and
// reformats the other.
type Packed struct {
	chat.Message
	CallArgs   []string `json:"call_args,omitempty"` // of Calls, in order
	OpaqueText string   `json:"opaque_text,omitempty"`

	Old []chat.Part `json:"attachments,omitempty"` // Parts, in files of the first versions
}

// Pack returns m as it is written to a file.
func Pack(m *chat.Message) Packed {
	p := Packed{Message: *m, OpaqueText: string(m.Opaque)}
	p.Opaque, p.Calls = nil, nil
	for _, c := range m.Calls {
		p.CallArgs = append(p.CallArgs, string(c.Args))
		c.Args = nil
		p.Calls = append(p.Calls, c)
	}
	return p
}

// Unpack is the inverse of Pack. Arguments that are in their usual place stay.
func (p *Packed) Unpack() *chat.Message {
	m := p.Message
	m.Parts = slices.Concat(m.Parts, p.Old)
	m.Calls = append([]chat.ToolCall(nil), p.Calls...)
	for i := range m.Calls {
		if i < len(p.CallArgs) && p.CallArgs[i] != "" {
			m.Calls[i].Args = json.RawMessage(p.CallArgs[i])
		}
	}
	if p.OpaqueText != "" {
		m.Opaque = json.RawMessage(p.OpaqueText)
	}
	makeSound(&m)
	return &m
}
