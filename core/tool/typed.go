package tool

import (
	"context"
	"encoding/json"
	"fmt"
)

// Typed makes a Tool of a function over decoded arguments. A's JSON tags must agree with the
// schema.
func Typed[A any](s Spec, run func(ctx context.Context, c Call, a A) (Result, error)) Tool {
	return typed[A]{spec: s, run: run}
}

type typed[A any] struct {
	spec Spec
	run  func(ctx context.Context, c Call, a A) (Result, error)
}

func (t typed[A]) Spec() Spec { return t.spec }

func (t typed[A]) Run(ctx context.Context, c Call) (Result, error) {
	var a A
	if err := json.Unmarshal(c.Args, &a); err != nil {
		return Result{}, fmt.Errorf("%s: the arguments do not decode: %w", t.spec.Name, err)
	}
	return t.run(ctx, c, a)
}

// Arg adapts a function over decoded arguments to the callbacks of Spec. Arguments that do not
// decode give the zero T.
func Arg[A, T any](f func(A) T) func(json.RawMessage) T {
	return func(raw json.RawMessage) T {
		var a A
		if err := json.Unmarshal(raw, &a); err != nil {
			var zero T
			return zero
		}
		return f(a)
	}
}

// Fail is a result that tells the model what went wrong and what to do.
func Fail(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsError: true}
}
