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
	addKnown[SessionOpened](all)
	addKnown[SessionChanged](all)
	addKnown[SessionConfigured](all)
	addKnown[SessionDeleted](all)
	addKnown[HistoryChanged](all)
	addKnown[QueueChanged](all)
	addKnown[TurnStarted](all)
	addKnown[TurnPhase](all)
	addKnown[TurnEnded](all)
	addKnown[AttemptFailed](all)
	addKnown[ModelMoved](all)
	addKnown[MessageAdded](all)
	addKnown[MessageStarted](all)
	addKnown[MessageSealed](all)
	addKnown[MessageDiscarded](all)
	addKnown[TextDelta](all)
	addKnown[ReasoningDelta](all)
	addKnown[UsageTick](all)
	addKnown[Compressed](all)
	addKnown[ToolStarted](all)
	addKnown[ToolOutput](all)
	addKnown[ToolFinished](all)
	addKnown[ToolEnded](all)
	addKnown[TodoChanged](all)
	addKnown[MemoryChanged](all)
	addKnown[ToolsChanged](all)
	addKnown[HookRan](all)
	addKnown[ProcessEnded](all)
	addKnown[ApprovalAsked](all)
	addKnown[ApprovalSettled](all)
	addKnown[QuestionAsked](all)
	addKnown[QuestionAnswered](all)
	addKnown[BackendChanged](all)
	addKnown[BackendActivity](all)
	addKnown[BackendStats](all)
	addKnown[Progress](all)
	addKnown[TerminalChanged](all)
	addKnown[BackendSelected](all)
	addKnown[Notice](all)
	addKnown[ConfigReloaded](all)
	addKnown[SkillsChanged](all)
	addKnown[SkillVersioned](all)
	addKnown[SkillLoaded](all)
	addKnown[ProcedureRan](all)
	addKnown[TurnJudged](all)
	addKnown[LearnProposed](all)
	addKnown[LearnSettled](all)
	addKnown[LearnReviewed](all)
	addKnown[ServerChanged](all)
	addKnown[ModelChanged](all)
	addKnown[Resync](all)
	return all
})

func addKnown[E Event](all map[string]decoder) {
	all[reflect.TypeFor[E]().Name()] = func(data json.RawMessage) (Event, error) {
		var e E
		err := json.Unmarshal(data, &e)
		return e, err
	}
}
