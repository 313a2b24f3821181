package tool

import (
	"context"
	"encoding/json"

	"hermes/core/chat"
	"hermes/core/event"
)

// Call is one accepted call.
type Call struct {
	ID      string
	Session string // uid
	Turn    string
	Args    json.RawMessage
	Cwd     string // the session's directory: relative paths start here
	// Definition is that of the tool which was approved; another one does not run. "" takes any.
	Definition string
	Lasting    bool // it was allowed to change what other programs run by themselves (hooks)
	// Tainted is set on a call that changes what later sessions are told: the conversation has read
	// what strangers wrote.
	Tainted bool
	// Order grows from call to call of a session. Of two commands that run at the same time the
	// later one says where the next begins. 0: the call stands alone.
	Order int64
	// Output shows live output to people; it never blocks for long. Never nil.
	Output func(stream event.Stream, data []byte)
	// Later is Output for what outlives the call on purpose: a process in the background. It stays
	// open after Run has returned. Never nil.
	Later func(stream event.Stream, data []byte)
	// Publish emits an event under the call's header (todo lists, questions). Never nil.
	Publish func(e event.Event)
	// Data takes the result as data as well, something for encoding/json: it is set when a program
	// called, to which text for a model is of no use. A failure needs none. May be nil.
	Data func(v any)
	// Has reports whether whoever called can call that tool as well: see Advise. nil: any.
	Has func(tool string) bool
	// Nest calls other tools. nil outside of an agent, and inside of a nested call.
	Nest Nest
}

// Passed returns the variables that a command or script of a call gets beside the clean environment
// of its back end ("" is the session's), and what there is to say about others. It may ask the
// person.
type Passed func(ctx context.Context, c Call, backend string) (env map[string]string, notes []string)

// Result is what a call produced. Text may be long: the registry cuts it to the budget and spills
// the rest. It also makes images among Parts fit for models: a tool gives their bytes as they are,
// in Data.
type Result struct {
	Text     string
	Parts    []chat.Part
	IsError  bool
	Backend  string
	ExitCode *int
	Diffs    []chat.FileDiff
	Spill    string // set when the tool kept the full output itself
	SpillCut bool   // the file holds the beginning only
	Warnings []string
	// Interrupted says that ctx ended the call, for a tool that has said so in Text already.
	Interrupted bool
}
