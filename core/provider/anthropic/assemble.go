package anthropic

import (
	"cmp"
	"encoding/json"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// assembler turns the events of one answer into chunks. It is pure: bytes in, chunks out.
type assembler struct {
	stream.Tally
	blocks map[int]*block // by their index on the wire
	order  []*block
	usage  usage
	stop   string // the reason, as the server named it
}

func newAssembler(model, writer string) *assembler {
	return &assembler{Tally: stream.NewTally(model, writer), blocks: map[int]*block{}}
}

// Feed takes one event, or a whole answer.
func (a *assembler) Feed(kind string, data []byte) ([]provider.Chunk, error) {
	if len(data) == 0 || stream.EndMark(data) { // some servers end like chat completions
		return nil, nil
	}
	var f frame
	if err := stream.Decode(kind, data, &f); err != nil {
		return nil, err
	}
	return a.event(f, data)
}

func (a *assembler) event(f frame, data []byte) ([]provider.Chunk, error) {
	switch f.Type {
	case "message":
		return a.whole(data)
	case "message_start":
		if f.Message != nil {
			a.begin(*f.Message)
		}
		a.Reach(stream.Begun)
	case "content_block_start":
		return a.start(f.Index, f.Block)
	case "content_block_delta":
		return a.extend(f.Index, f.Delta)
	case "content_block_stop":
		return a.close(a.blocks[f.Index])
	case "message_delta":
		if f.Usage != nil {
			a.usage.merge(*f.Usage)
		}
		a.ended(f.Delta.Stop)
	case "message_stop":
		a.Reach(stream.Done)
	}
	return nil, nil // ping, and what later versions of the format add
}

func (a *assembler) begin(m message) {
	a.Model = cmp.Or(m.Model, a.Model)
	a.usage.merge(m.Usage)
}

func (a *assembler) ended(stop string) {
	if a.stop = cmp.Or(stop, a.stop); a.stop != "" {
		a.Reach(stream.Finished)
	}
}

// whole reads an answer in one piece.
func (a *assembler) whole(data []byte) ([]provider.Chunk, error) {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, stream.Malformed("the answer is not valid JSON")
	}
	a.begin(m)
	var out []provider.Chunk
	for i, b := range m.Content {
		chunks, err := a.start(i, b)
		out = append(out, chunks...)
		if err != nil {
			return out, err
		}
		chunks, err = a.close(b)
		out = append(out, chunks...)
		if err != nil {
			return out, err
		}
	}
	a.ended(cmp.Or(m.Stop, "end_turn"))
	return out, nil
}

func (a *assembler) start(index int, b *block) ([]provider.Chunk, error) {
	a.Reach(stream.Begun)
	switch {
	case b == nil:
		return nil, nil
	case len(a.order) == stream.MaxCalls:
		return nil, &stream.TooLarge{What: "blocks", Most: stream.MaxCalls}
	}
	if err := a.Grow(b.size()); err != nil {
		return nil, err
	}
	a.blocks[index], a.order = b, append(a.order, b)
	switch {
	case b.Type == "tool_use":
		b.call = a.Calls()
		return a.Begin(b.call, b.ID, b.Name)
	case b.Type == "text" && b.Text != "":
		return a.Chunk(provider.Chunk{Kind: provider.ChunkText, Text: b.Text}), nil
	case b.Type == "thinking" && b.Thinking != "":
		return a.Chunk(provider.Chunk{Kind: provider.ChunkReasoning, Text: b.Thinking}), nil
	}
	return nil, nil
}

func (a *assembler) extend(index int, d delta) ([]provider.Chunk, error) {
	b := a.blocks[index]
	if b == nil {
		return nil, stream.Malformed("the stream goes on with a block that did not begin")
	}
	if err := a.Grow(d.size()); err != nil {
		return nil, err
	}
	switch d.Type {
	case "text_delta":
		b.came += len(d.Text)
		return a.Chunk(provider.Chunk{Kind: provider.ChunkText, Text: d.Text}), nil
	case "thinking_delta":
		b.thought = append(b.thought, d.Thinking...)
		return a.Chunk(provider.Chunk{Kind: provider.ChunkReasoning, Text: d.Thinking}), nil
	case "signature_delta":
		b.signed = append(b.signed, d.Signature...)
	case "input_json_delta":
		if b.Type != "tool_use" || d.JSON == "" {
			return nil, nil
		}
		b.typed = true
		return a.Chunk(provider.Chunk{Kind: provider.ChunkToolArgs, Index: b.call, Text: d.JSON}), nil
	}
	return nil, nil
}

// close gives the arguments of a call that came with its begin.
func (a *assembler) close(b *block) ([]provider.Chunk, error) {
	if b == nil || b.Type != "tool_use" || b.typed || len(b.Input) == 0 {
		return nil, nil
	}
	b.typed = true
	return a.Chunk(provider.Chunk{Kind: provider.ChunkToolArgs, Index: b.call, Text: string(b.Input)}), nil
}

// End is the last chunk of an answer that is complete.
func (a *assembler) End() (provider.Chunk, error) {
	return a.Last(a.usage.usage(), a.reason(), keep(a.order)), nil
}

// reason is the finish that only the server can tell.
func (a *assembler) reason() chat.Finish {
	switch a.stop {
	case "max_tokens", "model_context_window_exceeded":
		return chat.FinishLength
	case "refusal":
		return chat.FinishContentFilter
	default:
		return ""
	}
}
