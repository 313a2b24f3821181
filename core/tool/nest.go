package tool

import (
	"context"
	"encoding/json"

	"hermes/core/chat"
)

// Nest is how a tool that is a program itself (execute_code) calls other tools: through everything
// that a call of the model goes through, with its events under the call that it belongs to. It ends
// with that call.
type Nest interface {
	// Tools are the tools of the session, in alphabetical order.
	Tools() []Spec
	// Call runs one call and always returns a result. Calls may run at the same time.
	Call(ctx context.Context, c NestedCall) NestedResult
}

// NestedCall is one call from inside of another.
type NestedCall struct {
	Name string
	Args json.RawMessage
	// Waiting is told when the call begins to wait for a person, and when it stops. May be nil.
	Waiting func(waits bool)
}

// NestedResult is what came of a NestedCall.
type NestedResult struct {
	chat.ToolResult
	Data json.RawMessage // the result as data, when the tool has it; else nil
	// Refused says that the call did not run because the person or a rule said no.
	Refused bool
}
