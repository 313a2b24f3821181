package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"hermes/core/provider/stream"
)

// entry is one of reasoning_details. Servers send anything under its names.
type entry map[string]json.RawMessage

// entries are the reasoning_details that came, in their order.
type entries struct {
	whole []json.RawMessage
	last  entry                       // the one that may go on
	texts map[string]*strings.Builder // fields of last that came in pieces
}

// inPieces are the fields of an entry whose texts are joined when it comes in several events; any
// other field is as it came last.
var inPieces = map[string]bool{"text": true, "summary": true, "data": true}

// add takes those of an event, and returns how many bytes more are kept now.
func (e *entries) add(more []entry) (grown int) {
	for _, d := range more {
		if len(d) == 0 {
			continue
		}
		if !d.continues(e.last) {
			e.endLast()
			e.last, e.texts = entry{}, map[string]*strings.Builder{}
		}
		for k, v := range d {
			grown += e.put(k, v)
		}
	}
	return grown
}

// continues reports whether d is a piece of the entry last.
func (d entry) continues(last entry) bool {
	kind, isKind := textIn(d["type"])
	before, wasKind := textIn(last["type"])
	if !isKind || !wasKind || kind != before {
		return false
	}
	if !stream.Given(d["index"]) && !stream.Given(last["index"]) {
		return d.follows(last)
	}
	var index json.Number
	isIndex := json.Unmarshal(d["index"], &index) == nil && index != ""
	return isIndex && bytes.Equal(d["index"], last["index"])
}

// follows reports whether d, of the same type, goes on with last where the server numbers none: by
// its id, until a signature closed that. What is encrypted comes whole.
func (d entry) follows(last entry) bool {
	if stream.Given(d["data"]) || stream.Given(last["data"]) || stream.Given(last["signature"]) {
		return false
	}
	return !stream.Given(d["id"]) || bytes.Equal(d["id"], last["id"])
}

// put takes a field of the last entry, and returns how many bytes more are kept now.
func (e *entries) put(k string, v json.RawMessage) int {
	before, known := e.last[k]
	if !known {
		e.last[k] = v
		return len(k) + len(v)
	}
	piece, isText := textIn(v)
	begun, goesOn := e.texts[k]
	switch {
	case string(v) == "null":
		return 0
	case goesOn && isText:
		begun.WriteString(piece)
		return len(piece)
	case goesOn:
		delete(e.texts, k)
		e.last[k] = v
		return len(v) - begun.Len()
	}
	if first, wasText := textIn(before); inPieces[k] && isText && wasText {
		b := &strings.Builder{}
		b.WriteString(first)
		b.WriteString(piece)
		e.texts[k] = b
		return b.Len() - len(before)
	}
	e.last[k] = v
	return len(v) - len(before)
}

// endLast puts the last entry to those that are whole.
func (e *entries) endLast() {
	for k, b := range e.texts {
		e.last[k], _ = json.Marshal(b.String()) // a string never fails
	}
	if raw, err := json.Marshal(e.last); err == nil && e.last != nil {
		e.whole = append(e.whole, raw)
	}
	e.last, e.texts = nil, nil
}

// textIn is the text that a value holds, if it is one.
func textIn(v json.RawMessage) (text string, is bool) {
	is = bytes.HasPrefix(v, []byte{'"'}) && json.Unmarshal(v, &text) == nil
	return text, is
}
