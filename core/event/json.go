package event

import (
	"encoding/json"
	"reflect"
)

// Kind returns the name of an event's type, "TurnStarted" for example. It is the "type" of the JSON form.
func Kind(e Event) string {
	if e == nil {
		return ""
	}
	return reflect.TypeOf(e).Name()
}

// MarshalJSON writes the header's fields, then "type" and "data": the JSONL form of `hermes run --output jsonl`.
func (e Envelope) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Header
		Type string `json:"type"`
		Data Event  `json:"data"`
	}{e.Header, Kind(e.Event), e.Event})
}
