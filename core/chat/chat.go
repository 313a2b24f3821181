// Package chat holds the plain data of a conversation: messages, tool calls,
// tool results and token usage. It has no behaviour beyond small accessors,
// knows no provider, no store and no screen, and imports the standard library only.
package chat

import (
	"encoding/json"
	"time"
)

// Role says who speaks in a Message.
type Role string

// The roles of a conversation. A RoleTool message carries exactly one ToolResult.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Status says how complete a Message is.
type Status string

// A message starts as StatusPartial while it streams and is sealed as one of the others.
const (
	StatusPartial   Status = "partial"
	StatusFinal     Status = "final"
	StatusCancelled Status = "cancelled"
	StatusError     Status = "error"
)

// Message is one entry of a conversation. Order within a session is by Seq, never by At.
type Message struct {
	ID      int64     `json:"id"`      // row id in the store, unique over all sessions; 0 until persisted
	Session string    `json:"session"` // uid of the session
	Seq     int       `json:"seq"`     // 1, 2, 3 ... within the session
	At      time.Time `json:"at"`
	Role    Role      `json:"role"`
	From    Author    `json:"from,omitzero"` // of the assistant only where the person ran the calls
	Status  Status    `json:"status"`

	Text      string      `json:"text,omitempty"`
	Reasoning string      `json:"reasoning,omitempty"`
	Parts     []Part      `json:"parts,omitempty"`  // what comes beside Text
	Calls     []ToolCall  `json:"calls,omitempty"`  // assistant only
	Result    *ToolResult `json:"result,omitempty"` // tool only

	Model  string `json:"model,omitempty"`
	Finish Finish `json:"finish,omitempty"`
	Usage  Usage  `json:"usage,omitzero"`
	// Of an answer: how long the model thought, and how long its turn took up to its end.
	Thought time.Duration `json:"thought,omitempty"`
	Took    time.Duration `json:"took,omitempty"`

	// Opaque is provider state that must go back unchanged with this message
	// (for example a reasoning signature). Only the provider that wrote it may send it.
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// Finish is the reason a model stopped.
type Finish string

// Finish reasons, provider-neutral.
const (
	FinishStop          Finish = "stop"
	FinishToolCalls     Finish = "tool_calls"
	FinishLength        Finish = "length"
	FinishContentFilter Finish = "content_filter"
	FinishInterrupted   Finish = "interrupted"
	FinishError         Finish = "error"
)

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Args is what the model sent. It is kept even when it is not valid JSON
	// (Invalid is then set), so that nothing is lost and the model can be told.
	Args    json.RawMessage `json:"args,omitempty"`
	Invalid string          `json:"invalid,omitempty"` // the raw text when Args could not be parsed
}

// ToolResult answers one ToolCall.
type ToolResult struct {
	CallID  string `json:"call_id"`
	Name    string `json:"name"`
	Text    string `json:"text"` // what the model sees, after the result budget
	Parts   []Part `json:"parts,omitempty"`
	IsError bool   `json:"is_error,omitempty"`
	// Interrupted marks a result made up because the call never finished.
	Interrupted bool `json:"interrupted,omitempty"`
	// Denied marks a call that did not run: a person, a hook or a rule said no.
	Denied bool `json:"denied,omitempty"`

	// Ran are the arguments that ran, where a person changed those of the call.
	Ran json.RawMessage `json:"ran,omitempty"`

	Backend  string        `json:"backend,omitempty"`   // where it really ran
	ExitCode *int          `json:"exit_code,omitempty"` // for commands
	Took     time.Duration `json:"took,omitempty"`
	Diffs    []FileDiff    `json:"diffs,omitempty"`
	Spill    string        `json:"spill,omitempty"`     // file with the full text when Text was cut
	SpillCut bool          `json:"spill_cut,omitempty"` // the file holds the beginning only
	Warnings []string      `json:"warnings,omitempty"`
}

// FileDiff is one file changed by a tool.
type FileDiff struct {
	Path    string   `json:"path"`
	OldPath string   `json:"old_path,omitempty"` // set for a move
	Op      FileOp   `json:"op"`
	Unified string   `json:"unified"` // unified diff text, no ANSI
	Added   int      `json:"added"`
	Removed int      `json:"removed"`
	Notes   []string `json:"notes,omitempty"`
}

// FileOp says what happened to a file.
type FileOp string

// File operations.
const (
	FileCreated  FileOp = "created"
	FileModified FileOp = "modified"
	FileDeleted  FileOp = "deleted"
	FileMoved    FileOp = "moved"
)

// Usage counts tokens of one model call or the sum of several.
// Cost is in millionths of a US dollar; CostKnown is false when the model's price is unknown.
type Usage struct {
	Input     int   `json:"input"` // prompt tokens, those of the cache included
	Output    int   `json:"output"`
	Cached    int   `json:"cached,omitempty"`        // of Input: read from the provider's cache
	Written   int   `json:"cache_written,omitempty"` // of Input: written to the provider's cache
	Reasoning int   `json:"reasoning,omitempty"`     // of Output
	Cost      int64 `json:"cost_micro,omitempty"`
	CostKnown bool  `json:"cost_known,omitempty"`
}

// Add sums u and v. The cost is known only if it is known for every non-empty part.
func (u Usage) Add(v Usage) Usage {
	known := u.CostKnown && v.CostKnown
	switch {
	case u.Empty():
		known = v.CostKnown
	case v.Empty():
		known = u.CostKnown
	}
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached,
		Written: u.Written + v.Written, Reasoning: u.Reasoning + v.Reasoning, Cost: u.Cost + v.Cost, CostKnown: known,
	}
}

// Empty reports whether nothing was counted.
func (u Usage) Empty() bool {
	return u.Input == 0 && u.Output == 0 && u.Cached == 0 && u.Written == 0 && u.Reasoning == 0 && u.Cost == 0
}
