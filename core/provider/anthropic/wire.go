package anthropic

import (
	"encoding/json"

	"hermes/core/chat"
	"hermes/core/provider/stream"
)

// frame is an event of the stream. Fields are those that we use.
type frame struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message *message        `json:"message"`
	Block   *block          `json:"content_block"`
	Delta   delta           `json:"delta"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// Fault implements stream.Frame.
func (f frame) Fault(event []byte) []byte {
	if f.Type == "error" || stream.Given(f.Error) {
		return event
	}
	return nil
}

// message is a whole answer, or the begin of one.
type message struct {
	Model   string             `json:"model"`
	Content stream.Few[*block] `json:"content"`
	Stop    string             `json:"stop_reason"`
	Usage   usage              `json:"usage"`
}

// block is a part of an answer, as it came and as it goes back.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"` // of redacted_thinking
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`

	call  int  // its index among the calls
	typed bool // input_json_delta came

	// What came in pieces: bytes of text, thoughts, their signature.
	came            int
	thought, signed []byte
}

func (b *block) size() int {
	return len(b.Text) + len(b.Thinking) + len(b.Signature) + len(b.Data) + len(b.ID) + len(b.Name) + len(b.Input)
}

type delta struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
	JSON      string `json:"partial_json"`
	Stop      string `json:"stop_reason"`
}

func (d delta) size() int { return len(d.Text) + len(d.Thinking) + len(d.Signature) + len(d.JSON) }

// usage counts tokens. What was read from the cache or written to it does not count as input here.
type usage struct {
	Input   int `json:"input_tokens"`
	Created int `json:"cache_creation_input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
	Output  int `json:"output_tokens"`
	Details struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// merge takes what a later event says: counts are of the whole answer, and a zero says nothing.
func (u *usage) merge(v usage) {
	for _, n := range []struct {
		to   *int
		from int
	}{
		{&u.Input, v.Input},
		{&u.Created, v.Created},
		{&u.Read, v.Read},
		{&u.Output, v.Output},
		{&u.Details.Thinking, v.Details.Thinking},
	} {
		if n.from > 0 {
			*n.to = n.from
		}
	}
}

func (u usage) usage() chat.Usage {
	return chat.Usage{
		Input: u.Input + u.Created + u.Read, Output: u.Output, Cached: u.Read, Written: u.Created,
		Reasoning: u.Details.Thinking,
	}
}
