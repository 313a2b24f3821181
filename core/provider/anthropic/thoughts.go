package anthropic

import (
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// piece is what is kept of one block of an answer. Of text and calls it is the length and the
// number only: the message itself has them.
type piece struct {
	Kind      string `json:"kind"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
	Text      int    `json:"text,omitempty"` // bytes
}

const (
	thinking = "thinking"
	redacted = "redacted_thinking"
)

func (p piece) thought() bool { return p.Kind == thinking || p.Kind == redacted }

func (p piece) block() sdk.ContentBlockParamUnion {
	if p.Kind == redacted {
		return sdk.NewRedactedThinkingBlock(p.Data)
	}
	return sdk.NewThinkingBlock(p.Signature, p.Thinking)
}

// keep is the order of an answer's blocks with its thinking; nil when it has none.
func keep(order []*block) []piece {
	var out []piece
	for _, b := range order {
		switch b.Type {
		case thinking:
			out = append(out, piece{Kind: thinking, Thinking: b.Thinking + string(b.thought), Signature: b.Signature + string(b.signed)})
		case redacted:
			out = append(out, piece{Kind: redacted, Data: b.Data})
		case "text":
			out = append(out, piece{Kind: "text", Text: len(b.Text) + b.came})
		case "tool_use":
			out = append(out, piece{Kind: "tool_use"})
		}
	}
	if !slices.ContainsFunc(out, piece.thought) {
		return nil
	}
	return out
}

// weave puts the thinking back to where it was. A message that was changed since has its thinking
// first.
func weave(pieces []piece, text string, calls []sdk.ContentBlockParamUnion) []sdk.ContentBlockParamUnion {
	texts, uses := 0, 0
	for _, p := range pieces {
		texts += p.Text
		if p.Kind == "tool_use" {
			uses++
		}
	}
	same := texts == len(text) && uses == len(calls)
	var out []sdk.ContentBlockParamUnion
	for _, p := range pieces {
		switch {
		case p.thought():
			out = append(out, p.block())
		case !same:
		case p.Kind == "tool_use":
			out, calls = append(out, calls[0]), calls[1:]
		default:
			out = appendText(out, text[:p.Text])
			text = text[p.Text:]
		}
	}
	if !same {
		out = append(appendText(out, text), calls...)
	}
	return out
}
