package openai

import (
	"encoding/json"

	"hermes/core/chat"
	"hermes/core/provider/history"
)

// thoughts is the provider state of an answer with tool calls. Vendors of models that think want
// what they sent back with the message until the turn is over, and refuse the next request without
// it. Each has a place of its own for it.
type thoughts struct {
	Model   string            `json:"model,omitempty"`             // that alone gets Details and Calls back
	Back    bool              `json:"reasoning_content,omitempty"` // the reasoning itself, under that name
	Details []json.RawMessage `json:"details,omitempty"`           // OpenRouter: reasoning_details
	Calls   []json.RawMessage `json:"calls,omitempty"`             // Gemini: extra_content of each call, null for none
}

// thoughtsOf are what goes back with m to a model: only to the server that it came from, and what
// is signed only to the model that wrote it.
func (f *format) thoughtsOf(m chat.Message, model string) (t thoughts) {
	if !history.Open(f.Writer(), m.Opaque, &t) {
		return thoughts{}
	}
	if t.Model != model {
		t.Details, t.Calls = nil, nil
	}
	if f.Refuses(noThoughts + model) {
		t.Back, t.Details = false, nil
	}
	return t
}

// fields are those of a message beside the standard ones.
func (t thoughts) fields(m chat.Message) map[string]any {
	out := map[string]any{}
	if t.Back && m.Reasoning != "" {
		out["reasoning_content"] = m.Reasoning
	}
	if len(t.Details) > 0 {
		out["reasoning_details"] = t.Details
	}
	return out
}

// ofCall is what goes back with a call of m, nil for nothing.
func (t thoughts) ofCall(m chat.Message, call int) json.RawMessage {
	if len(t.Calls) != len(m.Calls) || string(t.Calls[call]) == "null" {
		return nil
	}
	return t.Calls[call]
}

// unsigned stands in the place of a signature that no call of another vendor's model has. Google
// names it for histories that its models did not write.
var unsigned = json.RawMessage(`{"google":{"thought_signature":"skip_thought_signature_validator"}}`)
