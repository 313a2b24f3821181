package openai

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"hermes/core/chat"
	"hermes/core/provider/stream"
)

// frame is an event of the stream, or a whole answer: they differ in one name. Fields are those
// that we use; the forms are as wide as what servers send.
type frame struct {
	Object  string             `json:"object"`
	Model   string             `json:"model"`
	Choices stream.Few[choice] `json:"choices"`
	Usage   *usage             `json:"usage"`
	Error   json.RawMessage    `json:"error"`
}

// Fault implements stream.Frame.
func (f frame) Fault(event []byte) []byte {
	if f.Object == "error" || stream.Given(f.Error) {
		return event
	}
	return nil
}

type choice struct {
	Index   int    `json:"index"`
	Delta   *delta `json:"delta"`
	Message *delta `json:"message"`
	Finish  string `json:"finish_reason"`
}

type delta struct {
	Content          prose                 `json:"content"`
	Reasoning        prose                 `json:"reasoning"`
	ReasoningContent prose                 `json:"reasoning_content"`
	Refusal          prose                 `json:"refusal"`
	ToolCalls        stream.Few[callDelta] `json:"tool_calls"`
	FunctionCall     *function             `json:"function_call"`
	Details          details               `json:"reasoning_details"`
	Extra            extra                 `json:"extra_content"`
}

// details are entries of reasoning_details.
type details []entry

// UnmarshalJSON never fails: an unknown form is none.
func (d *details) UnmarshalJSON(b []byte) error {
	var list stream.Few[entry]
	if json.Unmarshal(b, &list) == nil {
		*d = details(list)
	}
	return nil
}

// size is how much content it brings beside details, in bytes.
func (d *delta) size() int {
	n := len(d.Content.text) + len(d.Content.thought) + len(d.Refusal.text) +
		len(d.Reasoning.thinking()) + len(d.ReasoningContent.thinking())
	for _, c := range d.ToolCalls {
		n += len(c.ID) + len(c.Function.Name) + len(c.Function.Arguments) + len(c.Extra)
	}
	if d.FunctionCall != nil {
		n += len(d.FunctionCall.Name) + len(d.FunctionCall.Arguments)
	}
	return n
}

type callDelta struct {
	Index    *int     `json:"index"`
	ID       string   `json:"id"`
	Function function `json:"function"`
	// Extra is what the vendor wants back with the call.
	Extra json.RawMessage `json:"extra_content"`
}

type function struct {
	Name      string  `json:"name"`
	Arguments argText `json:"arguments"`
}

// argText is JSON text of arguments. Some servers send the object itself instead of a string that
// holds it.
type argText string

// UnmarshalJSON never fails: what cannot be read is passed on as it came.
func (a *argText) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case bytes.Equal(b, []byte("null")):
	case json.Unmarshal(b, &s) == nil:
		*a = argText(s)
	default:
		*a = argText(b)
	}
	return nil
}

// prose is a text: a string, null, or a list of parts, of which some may be thoughts.
type prose struct{ text, thought string }

func (p prose) thinking() string { return p.text + p.thought }

// UnmarshalJSON never fails: an unknown form is no text.
func (p *prose) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &p.text)
	}
	var parts stream.Few[struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking prose  `json:"thinking"`
	}]
	if json.Unmarshal(b, &parts) != nil {
		return nil
	}
	var text, thought strings.Builder
	for _, part := range parts {
		if part.Type == "thinking" || part.Type == "reasoning" {
			thought.WriteString(part.Thinking.text + part.Text)
			continue
		}
		text.WriteString(part.Text)
	}
	p.text, p.thought = text.String(), thought.String()
	return nil
}

// usage counts tokens under the names that vendors use.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	In         struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit     int      `json:"prompt_cache_hit_tokens"`     // DeepSeek
	CacheCreated int      `json:"cache_creation_input_tokens"` // LiteLLM and gateways to Anthropic
	Cost         *float64 `json:"cost"`                        // OpenRouter: dollars
}

func (u usage) usage() chat.Usage {
	out := chat.Usage{
		Input: max(0, u.Prompt), Output: max(0, u.Completion),
		Cached:  max(0, u.In.Cached, u.CacheHit),
		Written: max(0, u.In.Written, u.CacheCreated), Reasoning: max(0, u.Out.Reasoning),
	}
	// Gemini and xAI count thoughts in the total only, and bill them as what was written.
	if thought := u.Total - out.Input - out.Output; thought > 0 {
		out.Output, out.Reasoning = out.Output+thought, max(out.Reasoning, thought)
	}
	const micro = 1e6
	if u.Cost != nil && *u.Cost >= 0 && *u.Cost < 1e6 {
		out.Cost, out.CostKnown = int64(math.Round(*u.Cost*micro)), true
	}
	return out
}
