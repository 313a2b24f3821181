// Package tool is what the agent can do: the Tool interface, the registry, toolsets, argument
// validation and the result budget. A package below it holds a family of tools; one file is one
// tool, with its description in a .md beside it.
//
// The contract: a tool never panics out of Run, returns promptly when ctx is cancelled (its partial
// output becomes the result), reports failures that the model can act on as a Result with IsError,
// and returns an error only for what the model cannot mend. Everything in Args came from a model
// and is hostile; it was validated against the schema.
package tool

import "context"

// Tool is one thing the agent can do.
type Tool interface {
	Spec() Spec
	Run(ctx context.Context, c Call) (Result, error)
}
