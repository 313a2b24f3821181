package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Bounds on what a server can make us hold. They count what came after it was decompressed.
const (
	MaxAnswer = 4 << 20   // bytes of text, reasoning and arguments of one answer
	MaxEvent  = 8 << 20   // bytes of one event of a stream, and of an answer in one piece
	MaxStream = 256 << 20 // bytes of a stream with all that is around its content
	MaxCalls  = 256       // tool calls of one answer, and parts of one list
)

// TooLarge is an answer over a limit. Whoever asks again would get the same flood again.
type TooLarge struct {
	What string
	Most int
}

func (e *TooLarge) Error() string {
	if e.Most >= 1<<20 {
		return fmt.Sprintf("the answer is larger than any model writes: %s of more than %d MB",
			e.What, e.Most>>20)
	}
	return fmt.Sprintf("the answer is larger than any model writes: more than %d %s", e.Most, e.What)
}

// eventMeter ends a stream whose event, or whose whole, goes over its limit: the decoder behind it
// keeps an event until its end.
type eventMeter struct {
	r     io.Reader
	total int
	event int  // bytes since the last blank line
	blank bool // the line so far is empty
}

func (m *eventMeter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.total += n
	for rest := p[:n]; len(rest) > 0; {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line = rest[:end+1]
		}
		rest = rest[len(line):]
		m.event += len(line)
		ended := line[len(line)-1] == '\n'
		if m.blank = m.blank && len(bytes.TrimRight(line, "\r\n")) == 0; m.blank && ended {
			m.event = 0
		}
		m.blank = m.blank || ended
	}
	switch {
	case m.event > MaxEvent:
		return 0, &TooLarge{"an event", MaxEvent}
	case m.total > MaxStream:
		return 0, &TooLarge{"a stream", MaxStream}
	}
	return n, err
}

// Few is a list that a server sends. Each empty part of it would take twenty times as much here.
type Few[T any] []T

// UnmarshalJSON stops a list with more than MaxCalls parts.
func (f *Few[T]) UnmarshalJSON(b []byte) error {
	const small = 64 << 10 // cannot grow to much, whatever is in it
	if len(b) <= small {
		return json.Unmarshal(b, (*[]T)(f))
	}
	var parts []json.RawMessage
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		if len(parts) == MaxCalls {
			return &TooLarge{"parts in a list", MaxCalls}
		}
		var part json.RawMessage
		if err := d.Decode(&part); err != nil {
			return err
		}
		parts = append(parts, part)
	}
	*f = make([]T, len(parts))
	for i, part := range parts {
		if err := json.Unmarshal(part, &(*f)[i]); err != nil {
			return err
		}
	}
	return nil
}
