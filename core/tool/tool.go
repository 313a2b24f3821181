// Package tool is what the agent can do: the Tool interface, the registry, toolsets, argument validation and the
// result budget. A package below it holds a family of tools; one file is one tool, with its description in a .md beside it.
//
// The contract: a tool never panics out of Run, returns promptly when ctx is cancelled (its partial output becomes the
// result), reports failures that the model can act on as a Result with IsError, and returns an error only for what the
// model cannot mend. Everything in Args came from a model and is hostile; it was validated against the schema.
package tool

import (
	"context"
	"encoding/json"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
)

// Tool is one thing the agent can do.
type Tool interface {
	Spec() Spec
	Run(ctx context.Context, c Call) (Result, error)
}

// Spec describes a tool. It must not change after registration.
type Spec struct {
	Name        string
	Toolset     string
	Description string          // Markdown, for the model
	Schema      json.RawMessage // JSON schema of the arguments: an object, additionalProperties false

	// ReadOnly tools change nothing: they may run in parallel and need no approval.
	ReadOnly bool
	// Reads reports whether a call of a tool that is not ReadOnly only reads (process list); see OnlyReads. May be nil.
	Reads func(args json.RawMessage) bool
	// Describe replaces Description when what a tool is good for depends on the other tools of a session, whose names it is
	// given. The same names must give the same text. May be nil.
	Describe func(names []string) string
	// Unread tools run code that nobody has judged: what it leaves for other programs to run is put back.
	Unread bool
	// Serial tools never run beside another (clarify).
	Serial bool
	// Paths returns the files a call touches, so that calls on different files may run in parallel. nil means unknown.
	Paths func(args json.RawMessage) []string
	// Gist is one line that tells what the call does: the command, the path, the query.
	Gist func(args json.RawMessage) string
	// Backend returns the back end that the call asks for; nil for tools that run in the agent.
	Backend func(args json.RawMessage) string
	// Lasting describes a call that changes what later sessions are told; nil means that no call does.
	Lasting func(args json.RawMessage) Lasting
	// Strange says that results hold the words of strangers: web pages.
	Strange bool
	// Available hides the tool when it returns an error; the error says why. nil means always available.
	Available func() error
	// Preview returns what an approval shows: detail (the command or a summary) and, for file changes, a unified diff
	// made without changing anything. nil means Gist and the arguments.
	Preview func(ctx context.Context, c Call) (detail, diff string)
	// Refuse says for the model why a call cannot be carried out at all, "" when it can: nobody is asked about what would fail. nil
	// means that only Run knows.
	Refuse func(ctx context.Context, c Call) string
	// MaxResult is the number of characters that the model may see; 0 means the registry's: see Registry.Limit.
	MaxResult int
}

// Lasting is a call that changes what later sessions are told, as memory and skills do. It is asked about when the turn has read what strangers
// wrote, unless the person said what is to be kept.
type Lasting struct {
	Title  string   // the question: "Change what is remembered?"
	Effect string   // what it does, for people
	Always string   // why it is asked about in any case; "" when it is not
	Texts  []string // what is to be kept
	Unfit  bool     // it is refused for its content by the tool itself: nobody need be asked
}

// DefaultMaxResult is how many characters of a result reach the model: 40 % head, 60 % tail, the rest is spilled to a file.
const DefaultMaxResult = 50_000

// Call is one accepted call.
type Call struct {
	ID      string
	Session string // uid
	Turn    string
	Args    json.RawMessage
	Cwd     string // the session's directory: relative paths start here
	Lasting bool   // it was allowed to change what other programs run by themselves (hooks)
	// Output shows live output to people; it never blocks for long. Never nil.
	Output func(stream event.Stream, data []byte)
	// Later is Output for what outlives the call on purpose: a process in the background. It stays open after Run has
	// returned. Never nil.
	Later func(stream event.Stream, data []byte)
	// Publish emits an event under the call's header (todo lists, questions). Never nil.
	Publish func(e event.Event)
	// Data takes the result as data as well, something for encoding/json: it is set when a program called, to which text for
	// a model is of no use. A failure needs none. May be nil.
	Data func(v any)
	// Nest calls other tools. nil outside of an agent, and inside of a nested call.
	Nest Nest
}

// Result is what a call produced. Text may be long: the registry cuts it to the budget and spills the rest.
type Result struct {
	Text     string
	IsError  bool
	Backend  string
	ExitCode *int
	Diffs    []chat.FileDiff
	Spill    string // set when the tool kept the full output itself
	Warnings []string
	// Interrupted says that ctx ended the call, for a tool that has said so in Text already.
	Interrupted bool
}

// OnlyReads reports whether a call with these validated arguments changes nothing, so that nobody need be asked.
func (s Spec) OnlyReads(args json.RawMessage) bool {
	return s.ReadOnly || s.Reads != nil && s.Reads(args)
}

// ProviderSpec returns the tool as a model sees it.
func (s Spec) ProviderSpec() provider.ToolSpec {
	return provider.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema}
}
