package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/history"
	"hermes/core/provider/stream"
)

// assembler turns the events of one answer into chunks. It is pure: bytes in, chunks out.
type assembler struct {
	model  string
	writer string
	blocks map[int]*block // by their index on the wire
	order  []*block
	calls  int
	size   int
	usage  usage
	state  stream.State
	stop   string // the reason, as the server named it
}

func newAssembler(model, writer string) *assembler {
	return &assembler{model: model, writer: writer, blocks: map[int]*block{}}
}

// State implements stream.Reader.
func (a *assembler) State() stream.State { return a.state }

// Feed takes one event, or a whole answer.
func (a *assembler) Feed(kind string, data []byte) ([]provider.Chunk, error) {
	if len(data) == 0 || bytes.Equal(data, []byte("[DONE]")) { // some servers end like chat completions
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
		a.reach(stream.Begun)
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
		a.reach(stream.Done)
	}
	return nil, nil // ping, and what later versions of the format add
}

// reach moves the state on, never back.
func (a *assembler) reach(s stream.State) { a.state = max(a.state, s) }

func (a *assembler) begin(m message) {
	a.model = cmp.Or(m.Model, a.model)
	a.usage.merge(m.Usage)
}

func (a *assembler) ended(stop string) {
	if a.stop = cmp.Or(stop, a.stop); a.stop != "" {
		a.reach(stream.Finished)
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

func (a *assembler) grow(n int) error {
	if a.size += n; a.size > stream.MaxAnswer {
		return &stream.TooLarge{What: "content", Most: stream.MaxAnswer}
	}
	return nil
}

func (a *assembler) start(index int, b *block) ([]provider.Chunk, error) {
	a.reach(stream.Begun)
	switch {
	case b == nil:
		return nil, nil
	case len(a.order) == stream.MaxCalls:
		return nil, &stream.TooLarge{What: "blocks", Most: stream.MaxCalls}
	}
	if err := a.grow(b.size()); err != nil {
		return nil, err
	}
	if b.Type == "tool_use" {
		if b.Name == "" {
			return nil, stream.Malformed("a tool call has no name")
		}
		if b.ID == "" || slices.ContainsFunc(a.order, func(o *block) bool { return o.ID == b.ID }) {
			b.ID = stream.NewID()
		}
		b.call = a.calls
		a.calls++
	}
	a.blocks[index], a.order = b, append(a.order, b)
	switch {
	case b.Type == "tool_use":
		return a.chunk(provider.Chunk{Kind: provider.ChunkToolStart, Index: b.call, CallID: b.ID, Name: b.Name}), nil
	case b.Type == "text" && b.Text != "":
		return a.chunk(provider.Chunk{Kind: provider.ChunkText, Text: b.Text}), nil
	case b.Type == "thinking" && b.Thinking != "":
		return a.chunk(provider.Chunk{Kind: provider.ChunkReasoning, Text: b.Thinking}), nil
	}
	return nil, nil
}

func (a *assembler) chunk(c provider.Chunk) []provider.Chunk {
	c.Model = a.model
	return []provider.Chunk{c}
}

func (a *assembler) extend(index int, d delta) ([]provider.Chunk, error) {
	b := a.blocks[index]
	if b == nil {
		return nil, stream.Malformed("the stream goes on with a block that did not begin")
	}
	if err := a.grow(d.size()); err != nil {
		return nil, err
	}
	switch d.Type {
	case "text_delta":
		b.came += len(d.Text)
		return a.chunk(provider.Chunk{Kind: provider.ChunkText, Text: d.Text}), nil
	case "thinking_delta":
		b.thought = append(b.thought, d.Thinking...)
		return a.chunk(provider.Chunk{Kind: provider.ChunkReasoning, Text: d.Thinking}), nil
	case "signature_delta":
		b.signed = append(b.signed, d.Signature...)
	case "input_json_delta":
		if b.Type != "tool_use" || d.JSON == "" {
			return nil, nil
		}
		b.typed = true
		return a.chunk(provider.Chunk{Kind: provider.ChunkToolArgs, Index: b.call, Text: d.JSON}), nil
	}
	return nil, nil
}

// close gives the arguments of a call that came with its begin.
func (a *assembler) close(b *block) ([]provider.Chunk, error) {
	if b == nil || b.Type != "tool_use" || b.typed || len(b.Input) == 0 {
		return nil, nil
	}
	b.typed = true
	return a.chunk(provider.Chunk{Kind: provider.ChunkToolArgs, Index: b.call, Text: string(b.Input)}), nil
}

// End is the last chunk of an answer that is complete.
func (a *assembler) End() (provider.Chunk, error) {
	end := provider.Chunk{Kind: provider.ChunkEnd, Finish: a.reason(), Usage: a.usage.usage(), Model: a.model}
	if a.calls > 0 {
		if kept := keep(a.order); kept != nil {
			end.Opaque = history.Seal(a.writer, kept)
		}
	}
	return end, nil
}

func (a *assembler) reason() chat.Finish {
	switch {
	case a.stop == "max_tokens" || a.stop == "model_context_window_exceeded":
		return chat.FinishLength
	case a.stop == "refusal":
		return chat.FinishContentFilter
	case a.calls > 0:
		return chat.FinishToolCalls
	default:
		return chat.FinishStop
	}
}
