package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// assembler turns the events of one answer into chunks. It is pure: bytes in, chunks out.
type assembler struct {
	stream.Tally
	asked  string // the model that was asked for
	calls  []*call
	finish string // the reason, as the server named it
	usage  chat.Usage
	mused  bool // reasoning_content came
	marked bool // the content before was marked as a thought
	// details are the reasoning_details that came.
	details entries
}

// call is a tool call that is being sent.
type call struct {
	wire    int // the index on the wire, -1 without one
	id      string
	name    string
	started bool
	waiting strings.Builder // arguments that came before the name
	extra   json.RawMessage // what the vendor wants back
}

func newAssembler(model, writer string) *assembler {
	return &assembler{asked: model, Tally: stream.NewTally(model, writer)}
}

// Feed takes one event. Chunks that it returns together with an error came before the error.
func (a *assembler) Feed(kind string, data []byte) ([]provider.Chunk, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if stream.EndMark(data) {
		a.Reach(stream.Done)
		return nil, nil
	}
	var f frame
	if err := stream.Decode(kind, data, &f); err != nil {
		return nil, err
	}
	a.Model = cmp.Or(f.Model, a.Model)
	if f.Usage != nil {
		a.Reach(stream.Begun)
		a.usage = f.Usage.usage()
	}
	return a.choices(f.Choices)
}

func (a *assembler) choices(list []choice) ([]provider.Chunk, error) {
	var out []provider.Chunk
	for _, c := range list {
		if c.Index != 0 {
			continue // we ask for one answer
		}
		a.Reach(stream.Begun)
		for _, d := range []*delta{c.Delta, c.Message} {
			if d == nil {
				continue
			}
			chunks, err := a.delta(d)
			out = append(out, chunks...)
			if err != nil {
				return out, err
			}
		}
		if a.finish = cmp.Or(c.Finish, a.finish); a.finish != "" {
			a.Reach(stream.Finished)
		}
	}
	return out, nil
}

func (a *assembler) delta(d *delta) ([]provider.Chunk, error) {
	if err := a.Grow(d.size() + a.details.add(d.Details)); err != nil {
		return nil, err
	}
	a.unwrapThought(d)
	var out []provider.Chunk
	a.mused = a.mused || d.ReasoningContent.text != ""
	if t := cmp.Or(d.ReasoningContent.thinking(), d.Reasoning.thinking(), d.Content.thought); t != "" {
		out = append(out, a.Chunk(provider.Chunk{Kind: provider.ChunkReasoning, Text: t})...)
	}
	if t := cmp.Or(d.Content.text, d.Refusal.text); t != "" {
		out = append(out, a.Chunk(provider.Chunk{Kind: provider.ChunkText, Text: t})...)
	}
	calls := d.ToolCalls
	if d.FunctionCall != nil { // the name it had before parallel calls existed
		zero := 0
		calls = append(calls, callDelta{Index: &zero, Function: *d.FunctionCall})
	}
	for _, c := range calls {
		i, err := a.find(c)
		if err != nil {
			return out, err
		}
		chunks, err := a.extend(i, c)
		out = append(out, chunks...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// find is the place of the call that a delta belongs to. Servers leave out the index, or the id, or
// both, or give every call the index 0.
func (a *assembler) find(d callDelta) (int, error) {
	at := -1
	switch {
	case d.Index != nil:
		at = a.last(func(c *call) bool { return c.wire == *d.Index })
		if at >= 0 && d.ID != "" && d.Function.Name != "" && a.calls[at].id != "" && d.ID != a.calls[at].id {
			at = -1
		}
	case d.ID != "":
		at = a.last(func(c *call) bool { return c.id == d.ID })
	case d.Function.Name == "" || (len(a.calls) > 0 && a.calls[len(a.calls)-1].name == ""):
		at = len(a.calls) - 1
	}
	if at >= 0 {
		return at, nil
	}
	if len(a.calls) == stream.MaxCalls {
		return 0, &stream.TooLarge{What: "tool calls", Most: stream.MaxCalls}
	}
	wire := -1
	if d.Index != nil {
		wire = *d.Index
	}
	a.calls = append(a.calls, &call{wire: wire})
	return len(a.calls) - 1, nil
}

func (a *assembler) last(ok func(*call) bool) int {
	for i, c := range slices.Backward(a.calls) {
		if ok(c) {
			return i
		}
	}
	return -1
}

// extend adds a delta to a call. A call starts when its name is known.
func (a *assembler) extend(i int, d callDelta) (out []provider.Chunk, err error) {
	c := a.calls[i]
	if stream.Given(d.Extra) {
		c.extra = d.Extra
	}
	if !c.started {
		c.id = cmp.Or(c.id, d.ID)
		c.name = cmp.Or(c.name, d.Function.Name)
		if c.name == "" {
			c.waiting.WriteString(string(d.Function.Arguments))
			return nil, nil
		}
		c.started = true
		if out, err = a.Begin(i, c.id, c.name); err != nil {
			return nil, err
		}
		c.id = out[0].CallID
	}
	if args := c.waiting.String() + string(d.Function.Arguments); args != "" {
		c.waiting.Reset()
		out = append(out, a.Chunk(provider.Chunk{Kind: provider.ChunkToolArgs, Index: i, Text: args})...)
	}
	return out, nil
}

// End is the last chunk of an answer that is complete.
func (a *assembler) End() (provider.Chunk, error) {
	if slices.ContainsFunc(a.calls, func(c *call) bool { return !c.started }) {
		return provider.Chunk{}, stream.ErrNoName
	}
	if a.finish == "error" {
		return provider.Chunk{}, stream.Malformed("the server ended the answer with the finish reason \"error\"")
	}
	return a.Last(a.usage, a.reason(), a.thoughts()), nil
}

// thoughts are what goes back with the message.
func (a *assembler) thoughts() thoughts {
	a.details.endLast()
	t := thoughts{Back: a.mused, Details: a.details.whole}
	if slices.ContainsFunc(a.calls, func(c *call) bool { return c.extra != nil }) {
		for _, c := range a.calls {
			t.Calls = append(t.Calls, c.extra)
		}
	}
	if t.Details != nil || t.Calls != nil {
		t.Model = a.asked
	}
	return t
}

// reason is the finish that only the server can tell; some say "stop" with calls, too.
func (a *assembler) reason() chat.Finish {
	switch a.finish {
	case "length", "max_tokens":
		return chat.FinishLength
	case "content_filter":
		return chat.FinishContentFilter
	}
	return ""
}
