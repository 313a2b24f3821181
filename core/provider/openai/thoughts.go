package openai

import (
	"encoding/json"

	"hermes/core/chat"
)

// thoughts is the provider state of an answer that came with reasoning_content and tool calls. Vendors of such models
// want the reasoning back under that name until the turn is over, and refuse the next request without it.
type thoughts struct {
	From string `json:"from"` // the endpoint's name: no other one gets the reasoning
	Back bool   `json:"reasoning_content"`
}

func keepThoughts(from string) json.RawMessage {
	b, err := json.Marshal(thoughts{From: from, Back: true})
	if err != nil { // a name and a bool always marshal
		return nil
	}
	return b
}

// wantsThoughts reports whether the reasoning of m goes back to the endpoint called name.
func wantsThoughts(m chat.Message, name string) bool {
	var t thoughts
	return m.Reasoning != "" && json.Unmarshal(m.Opaque, &t) == nil && t.Back && t.From == name
}

// turnStart is the index after the last user message.
func turnStart(in []chat.Message) int {
	for i := len(in) - 1; i >= 0; i-- {
		if in[i].Role == chat.RoleUser {
			return i + 1
		}
	}
	return 0
}
