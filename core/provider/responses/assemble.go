package responses

import (
	"cmp"
	"encoding/json"
	"strings"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// assembler turns the events of one answer into chunks. It is pure: bytes in, chunks out.
type assembler struct {
	stream.Tally
	items  map[int]*item // by their index on the wire
	order  []*item
	bytes  int // of all that came
	usage  chat.Usage
	reason string // why the answer is incomplete
	denied bool   // a refusal came
}

func newAssembler(model, writer string) *assembler {
	return &assembler{Tally: stream.NewTally(model, writer), items: map[int]*item{}}
}

// Feed takes one event, or a whole answer.
func (a *assembler) Feed(kind string, data []byte) ([]provider.Chunk, error) {
	if len(data) == 0 || stream.EndMark(data) { // some servers end like chat completions
		return nil, nil
	}
	if a.bytes += len(data); a.bytes > stream.MaxStream {
		return nil, &stream.TooLarge{What: "content", Most: stream.MaxStream}
	}
	var f frame
	if err := stream.Decode(kind, data, &f); err != nil {
		return nil, err
	}
	if f.Type == "" && f.Object == "response" {
		var r response
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, stream.Malformed("the answer is not valid JSON")
		}
		return a.end(&r)
	}
	return a.event(f)
}

func (a *assembler) event(f frame) ([]provider.Chunk, error) {
	switch f.Type {
	case "response.created", "response.in_progress", "response.queued":
		if f.Response != nil {
			a.Model = cmp.Or(f.Response.Model, a.Model)
		}
		a.Reach(stream.Begun)
	case "response.output_item.added":
		return a.start(f.Index, f.Item)
	case "response.output_item.done":
		return a.finish(f.Index, f.Item)
	case "response.output_text.delta", "response.refusal.delta":
		a.denied = a.denied || f.Type == "response.refusal.delta"
		return a.say(f, provider.ChunkText)
	case "response.function_call_arguments.delta":
		return a.say(f, provider.ChunkToolArgs)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return a.say(f, provider.ChunkReasoning)
	case "response.completed", "response.incomplete":
		return a.end(f.Response)
	}
	return nil, nil // pings, what repeats the deltas, and what later versions of the format add
}

func (a *assembler) start(index int, i *item) ([]provider.Chunk, error) {
	a.Reach(stream.Begun)
	switch {
	case i == nil || a.items[index] != nil:
		return nil, nil
	case len(a.order) == stream.MaxCalls:
		return nil, &stream.TooLarge{What: "items", Most: stream.MaxCalls}
	}
	a.items[index], a.order = i, append(a.order, i)
	if i.Type != "function_call" {
		return nil, nil
	}
	i.call = a.Calls()
	return a.Begin(i.call, i.CallID, i.Name)
}

// say passes a piece on and remembers it, because the whole comes again at the end of its item.
func (a *assembler) say(f frame, kind provider.ChunkKind) ([]provider.Chunk, error) {
	i := a.items[f.Index]
	if i == nil {
		return nil, stream.Malformed("the stream goes on with an item that did not begin")
	}
	if f.Delta == "" || kind == provider.ChunkToolArgs && i.Type != "function_call" {
		return nil, nil
	}
	text := f.Delta
	if kind == provider.ChunkReasoning {
		if f.Part > i.part {
			text, i.part = "\n\n"+text, f.Part
		}
		i.mind = append(i.mind, text...)
	} else {
		i.said = append(i.said, text...)
	}
	if len(i.said)+len(i.mind) > stream.MaxAnswer {
		return nil, &stream.TooLarge{What: "content", Most: stream.MaxAnswer}
	}
	return a.Chunk(provider.Chunk{Kind: kind, Index: i.call, Text: text}), nil
}

// finish gives what an item has and what did not come in pieces.
func (a *assembler) finish(index int, done *item) ([]provider.Chunk, error) {
	if done == nil {
		return nil, nil
	}
	out, err := a.start(index, done)
	if err != nil {
		return out, err
	}
	i := a.items[index]
	i.Encrypted, i.ID = cmp.Or(done.Encrypted, i.Encrypted), cmp.Or(done.ID, i.ID)
	i.Summary = done.Summary
	rest := func(kind provider.ChunkKind, whole string, came *[]byte) {
		if text, ok := strings.CutPrefix(whole, string(*came)); ok && text != "" {
			*came = append(*came, text...)
			out = append(out, a.Chunk(provider.Chunk{Kind: kind, Index: i.call, Text: text})...)
		}
	}
	switch i.Type {
	case "reasoning":
		if len(i.mind) == 0 {
			rest(provider.ChunkReasoning, cmp.Or(done.summary(), done.text()), &i.mind)
		}
	case "message":
		for _, w := range done.Content {
			a.denied = a.denied || w.Refusal != ""
		}
		rest(provider.ChunkText, done.text(), &i.said)
	case "function_call":
		rest(provider.ChunkToolArgs, done.Arguments, &i.said)
	}
	return out, nil
}

// end takes a whole answer: all of it, or what the stream had not told yet.
func (a *assembler) end(r *response) ([]provider.Chunk, error) {
	a.Reach(stream.Done)
	if r == nil {
		return nil, nil
	}
	a.Model = cmp.Or(r.Model, a.Model)
	if r.Usage != nil {
		a.usage = r.Usage.usage()
	}
	if r.Status == "incomplete" {
		a.reason = cmp.Or(r.Details.Reason, "max_output_tokens")
	}
	var out []provider.Chunk
	for n, i := range r.Output {
		chunks, err := a.finish(n, i)
		out = append(out, chunks...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// End is the last chunk of an answer that is complete.
func (a *assembler) End() (provider.Chunk, error) {
	return a.Last(a.usage, a.finished(), keep(a.order)), nil
}

// finished is the finish that only the server can tell.
func (a *assembler) finished() chat.Finish {
	switch {
	case a.reason == "content_filter" || a.denied && a.Calls() == 0:
		return chat.FinishContentFilter
	case a.reason != "":
		return chat.FinishLength
	default:
		return ""
	}
}
