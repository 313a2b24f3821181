// Package provider talks to language models. Provider is the one interface; a folder below is one
// wire format.
//
// The contract: Stream yields chunks in order and ends either with a nil-error ChunkEnd as the last
// chunk, or with exactly one error, which is an *Error (use errors.As). What was yielded before an
// error stays valid: the agent keeps it as a partial message. A provider never retries after it has
// yielded a chunk; whoever calls it decides. Text is passed on as it came; it is hostile until
// sanitised.
package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"hermes/core/chat"
)

// Provider streams answers of models that share a wire format, an address and a credential.
type Provider interface {
	// Name identifies the provider in configuration, events and errors: "openai", "ollama",
	// "offline".
	Name() string
	// Stream sends the request and yields the answer. Cancelling ctx ends it within a second with
	// ClassCancelled.
	Stream(ctx context.Context, r Request) iter.Seq2[Chunk, error]
	// Models lists what the provider offers, for pickers. It may use the network.
	Models(ctx context.Context) ([]Model, error)
}

// Request is one call of a model. Messages are in order; a dangling tool call is the caller's
// mistake. Their parts are what the model can be shown: images with Data, texts with Text.
type Request struct {
	Model     string
	System    string
	Messages  []chat.Message
	Tools     []ToolSpec
	MaxTokens int    // 0: the provider's default
	Effort    string // reasoning effort: "", none, minimal, low, medium, high, xhigh
	Session   string // for request ids and logs only
	// Refused is what stands for an image that the server refuses; nil: a line that says so.
	Refused  func(p chat.Part) string
	NoStream bool // ask for the answer in one piece: the way out when a server's streams are broken
}

// ToolSpec is a tool as the model sees it.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"parameters"` // JSON schema of an object
}

// Model is one model of a provider. Zero means unknown. Prices are US dollars per million tokens.
type Model struct {
	ID                string
	Provider          string
	Name              string
	Window            int
	MaxOutput         int
	PriceIn, PriceOut float64
	PriceCachedIn     float64 // read from the provider's cache; 0: as PriceIn
	PriceWrite        float64 // read, and written to the provider's cache; 0: as PriceIn
	Over              []Tier  // prices of longer prompts
	Priced            bool    // prices are known (they may be 0 for local models)

	Reasoning, Tools, Images, Cache bool
	Files                           bool // it reads PDF documents as they are

	Efforts []string // that it knows, the least first; none: unknown
	Effort  string   // that the person wants of it; "": as for all models
	Mode    string   // the wire format in which it is called
	Key     bool     // there is a key for it, or it needs none
}

// ChunkKind says what a Chunk carries.
type ChunkKind int

// Kinds of chunk.
const (
	ChunkText      ChunkKind = iota // Text
	ChunkReasoning                  // Text
	ChunkToolStart                  // Index, CallID, Name: a call begins
	ChunkToolArgs                   // Index, Text: more of its arguments (JSON text)
	ChunkEnd                        // Finish, Usage (with a cost only when the server told it: see Model.Charge), Opaque
)

// Chunk is a piece of a streamed answer.
type Chunk struct {
	Kind   ChunkKind
	Text   string
	Index  int // of the tool call within the answer
	CallID string
	Name   string
	Finish chat.Finish
	Usage  chat.Usage
	Opaque json.RawMessage
	Model  string // what really answered, when the provider says so
}

// Class groups errors by what to do about them.
type Class string

// Error classes.
const (
	ClassRateLimit       Class = "rate_limit"
	ClassOverloaded      Class = "overloaded"
	ClassServer          Class = "server_error"
	ClassNetwork         Class = "network"
	ClassTimeout         Class = "timeout"
	ClassMalformed       Class = "malformed_stream"
	ClassTooLarge        Class = "answer_too_large"
	ClassAuth            Class = "auth"
	ClassBilling         Class = "billing"
	ClassContextOverflow Class = "context_overflow"
	ClassContentFilter   Class = "content_filter"
	ClassModelNotFound   Class = "model_not_found"
	ClassFormat          Class = "format"
	ClassCancelled       Class = "cancelled"
	ClassUnknown         Class = "unknown"
)

// Retryable reports whether the same request may succeed later at the same provider.
func (c Class) Retryable() bool {
	switch c {
	case ClassRateLimit, ClassOverloaded, ClassServer, ClassNetwork, ClassTimeout, ClassMalformed, ClassUnknown:
		return true
	case ClassTooLarge, ClassAuth, ClassBilling, ClassContextOverflow, ClassContentFilter, ClassModelNotFound, ClassFormat, ClassCancelled:
		return false
	default:
		return false
	}
}

// Error is what went wrong, for people and for the retry rules.
type Error struct {
	Class      Class
	Provider   string
	Model      string
	HTTP       int           // status code; 0 when there was no response
	RetryAfter time.Duration // what the server asked for; 0 when it did not
	Message    string        // what happened, in the vendor's words where there are any; never a secret
	Hint       string        // what to do next
	Window     int           // the context window in tokens, when an overflow error told it; else 0
	Key        string        // where the key stands that was used, when that is known
	Err        error

	unreachable bool // no way to the host: this machine may be offline
}

// Error says what happened and where, in words: the class is for programs.
func (e *Error) Error() string {
	where := e.Provider
	if e.Model != "" {
		where += " " + e.Model
	}
	if where == "" { // it is about none being there
		return e.Message
	}
	if e.HTTP != 0 {
		return fmt.Sprintf("%s (HTTP %d): %s", where, e.HTTP, e.Message)
	}
	return where + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
