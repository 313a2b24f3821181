package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"sync"
)

// Kind returns the name of an event's type, "TurnStarted" for example. It is the "type" of the JSON
// form.
func Kind(e Event) string {
	switch x := e.(type) {
	case nil:
		return ""
	case Unknown:
		return x.Type
	default:
		return reflect.TypeOf(e).Name()
	}
}

// Unknown is an event that was read from JSON and that this version does not know. It is written as
// it was read.
type Unknown struct {
	fact
	Type string
	Data json.RawMessage
}

// MarshalJSON writes what was read.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Data, nil }

// MarshalJSON writes the header's fields, then "type" and "data": the JSONL form of `hermes run
// --output jsonl`.
func (e Envelope) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Header
		Type string `json:"type"`
		Data Event  `json:"data"`
	}{e.Header, Kind(e.Event), e.Event})
}

// UnmarshalJSON reads what MarshalJSON writes. An event of another version becomes an Unknown.
func (e *Envelope) UnmarshalJSON(line []byte) error {
	var in struct {
		Header
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return err
	}
	if in.Type == "" {
		return errors.New(`this is no event: it has no "type"`)
	}
	*e = Envelope{Header: in.Header}
	decode, ok := decoders()[in.Type]
	if in.Data == nil {
		in.Data = json.RawMessage("null")
	}
	if !ok || string(in.Data) == "null" {
		e.Event = Unknown{Type: in.Type, Data: in.Data}
		return nil
	}
	var err error
	if e.Event, err = decode(in.Data); err != nil {
		return fmt.Errorf("%s: %w", in.Type, err)
	}
	return nil
}

// maxLine bounds one line of JSONL: a result is shorter by far.
const maxLine = 64 << 20

// ReadLines reads the lines of `hermes run --output jsonl`. A line that is no event is an error
// with its number, and ends the reading; empty lines are left out.
func ReadLines(r io.Reader) iter.Seq2[Envelope, error] {
	return func(yield func(Envelope, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		n := 0
		for n++; lines.Scan(); n++ {
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 {
				continue
			}
			var e Envelope
			if err := json.Unmarshal(line, &e); err != nil {
				yield(Envelope{}, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Envelope{}, fmt.Errorf("line %d: %w", n, err))
		}
	}
}

type decoder func(json.RawMessage) (Event, error)

// decoders has a line for each type of event; a test fails when one is missing.
var decoders = sync.OnceValue(func() map[string]decoder {
	all := map[string]decoder{}
	known[SessionOpened](all)
	known[SessionChanged](all)
	known[SessionConfigured](all)
	known[SessionDeleted](all)
	known[HistoryChanged](all)
	known[QueueChanged](all)
	known[TurnStarted](all)
	known[TurnPhase](all)
	known[TurnEnded](all)
	known[AttemptFailed](all)
	known[ModelMoved](all)
	known[MessageAdded](all)
	known[MessageStarted](all)
	known[MessageSealed](all)
	known[MessageDiscarded](all)
	known[TextDelta](all)
	known[ReasoningDelta](all)
	known[UsageTick](all)
	known[Compressed](all)
	known[ToolStarted](all)
	known[ToolOutput](all)
	known[ToolFinished](all)
	known[ToolEnded](all)
	known[TodoChanged](all)
	known[MemoryChanged](all)
	known[ToolsChanged](all)
	known[HookRan](all)
	known[ProcessEnded](all)
	known[ApprovalAsked](all)
	known[ApprovalSettled](all)
	known[QuestionAsked](all)
	known[QuestionAnswered](all)
	known[BackendChanged](all)
	known[BackendActivity](all)
	known[BackendStats](all)
	known[Progress](all)
	known[TerminalChanged](all)
	known[BackendSelected](all)
	known[Notice](all)
	known[ConfigReloaded](all)
	known[SkillsChanged](all)
	known[SkillVersioned](all)
	known[SkillLoaded](all)
	known[TurnJudged](all)
	known[LearnProposed](all)
	known[LearnSettled](all)
	known[LearnReviewed](all)
	known[ServerChanged](all)
	known[ModelChanged](all)
	known[Resync](all)
	return all
})

func known[E Event](all map[string]decoder) {
	all[reflect.TypeFor[E]().Name()] = func(data json.RawMessage) (Event, error) {
		var e E
		err := json.Unmarshal(data, &e)
		return e, err
	}
}
