package stream

import (
	"bytes"
	"reflect"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/history"
)

// Tally is what the reader of every format counts of an answer. It is pure: nothing here waits.
type Tally struct {
	Model  string // that answers, as far as the server told
	writer string // who gets the state of this answer back
	state  State
	size   int // bytes of content
	calls  int
	ids    map[string]bool // of calls
}

// NewTally counts an answer of a model. Writer gets the state of the answer back.
func NewTally(model, writer string) Tally {
	return Tally{Model: model, writer: writer}
}

// State implements Reader.
func (t *Tally) State() State { return t.state }

// Reach moves the state on, never back.
func (t *Tally) Reach(s State) { t.state = max(t.state, s) }

// Calls is how many calls began.
func (t *Tally) Calls() int { return t.calls }

// Grow counts bytes of content, and stops a flood.
func (t *Tally) Grow(n int) error {
	if t.size += n; t.size > MaxAnswer {
		return &TooLarge{What: "content", Most: MaxAnswer}
	}
	return nil
}

// Chunk is a list of one chunk, of the model that answers.
func (t *Tally) Chunk(c provider.Chunk) []provider.Chunk {
	c.Model = t.Model
	return []provider.Chunk{c}
}

// Begin is the start of the call with a number. One without an id, or with one that another call
// has, gets one of ours.
func (t *Tally) Begin(n int, id, name string) ([]provider.Chunk, error) {
	if name == "" {
		return nil, ErrNoName
	}
	if id == "" || t.ids[id] {
		id = NewID()
	}
	if t.ids == nil {
		t.ids = map[string]bool{}
	}
	t.ids[id] = true
	t.calls++
	return t.Chunk(provider.Chunk{Kind: provider.ChunkToolStart, Index: n, CallID: id, Name: name}), nil
}

// ErrNoName is a call that nobody could run.
var ErrNoName = Malformed("a tool call has no name")

// Last is the last chunk of an answer. Finish is "" where the server says no more than that the
// answer is whole. Kept is what its writer gets back while its calls are answered.
func (t *Tally) Last(u chat.Usage, f chat.Finish, kept any) provider.Chunk {
	if f == "" {
		f = chat.FinishStop
		if t.calls > 0 { // whatever the server calls it
			f = chat.FinishToolCalls
		}
	}
	end := provider.Chunk{Kind: provider.ChunkEnd, Finish: f, Usage: u, Model: t.Model}
	if v := reflect.ValueOf(kept); t.calls > 0 && v.IsValid() && !v.IsZero() {
		end.Opaque = history.Seal(t.writer, kept)
	}
	return end
}

// EndMark reports whether the data of an event is the mark that ends chat completions. Other
// formats get it too, from some servers.
func EndMark(data []byte) bool { return bytes.Equal(data, []byte("[DONE]")) }
