package responses

import "hermes/core/provider/stream"

// NewReader is what reads an answer.
func NewReader() stream.Reader { return newAssembler("m", "w") }
