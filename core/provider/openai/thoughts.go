package openai

import (
	"hermes/core/chat"
	"hermes/core/provider/history"
)

// thoughts is the provider state of an answer that came with reasoning_content and tool calls.
// Vendors of such models want the reasoning back under that name until the turn is over, and refuse
// the next request without it.
type thoughts struct {
	Back bool `json:"reasoning_content"`
}

// wantsThoughts reports whether the reasoning of m goes back: only to the server that it came from.
func (f *format) wantsThoughts(m chat.Message) bool {
	var t thoughts
	return m.Reasoning != "" && history.Open(f.Writer(), m.Opaque, &t) && t.Back
}
