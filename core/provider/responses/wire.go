package responses

import (
	"encoding/json"

	"hermes/core/chat"
	"hermes/core/provider/stream"
)

// frame is an event of the stream. Fields are those that we use.
type frame struct {
	Type     string          `json:"type"`
	Object   string          `json:"object"` // of a whole answer
	Index    int             `json:"output_index"`
	Part     int             `json:"summary_index"`
	Delta    string          `json:"delta"`
	Item     *item           `json:"item"`
	Response *response       `json:"response"`
	Error    json.RawMessage `json:"error"`
}

// Fault implements stream.Frame.
func (f frame) Fault(event []byte) []byte {
	switch {
	case f.Response != nil && stream.Given(f.Response.Error):
		return f.Response.Error
	case f.Type == "error" || f.Type == "response.failed" || stream.Given(f.Error):
		return event
	default:
		return nil
	}
}

// response is a whole answer, or the begin of one.
type response struct {
	Model   string            `json:"model"`
	Status  string            `json:"status"`
	Output  stream.Few[*item] `json:"output"`
	Usage   *usage            `json:"usage"`
	Error   json.RawMessage   `json:"error"`
	Details struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// item is a part of an answer.
type item struct {
	Type      string            `json:"type"`
	ID        string            `json:"id"`
	CallID    string            `json:"call_id"`
	Name      string            `json:"name"`
	Arguments string            `json:"arguments"`
	Encrypted string            `json:"encrypted_content"`
	Content   stream.Few[words] `json:"content"`
	Summary   stream.Few[words] `json:"summary"`

	call int    // its index among the calls
	said []byte // what came of it in pieces: text, or arguments
	mind []byte // reasoning that came in pieces
	part int    // of the summary that came last
}

type words struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

func (i *item) text() string {
	var out string
	for _, w := range i.Content {
		out += w.Text + w.Refusal
	}
	return out
}

func (i *item) summary() string {
	var out string
	for n, w := range i.Summary {
		if n > 0 {
			out += "\n\n"
		}
		out += w.Text
	}
	return out
}

type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	In     struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Out struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u usage) usage() chat.Usage {
	return chat.Usage{
		Input: max(0, u.Input), Output: max(0, u.Output),
		Cached: max(0, u.In.Cached), Written: max(0, u.In.Written), Reasoning: max(0, u.Out.Reasoning),
	}
}
