package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/secret"
)

type entry struct {
	tool   Tool
	spec   Spec
	schema func() (*schema, error) // compiled at first use: start-up pays nothing
}

func newEntry(t Tool, s Spec) *entry {
	return &entry{tool: t, spec: s, schema: sync.OnceValues(func() (*schema, error) { return compileSchema(s.Schema) })}
}

// Validate checks args against the tool's schema and returns them as Run will use them: harmless
// mistakes (a number in quotes) mended. What RefuseBy refuses is an error too. The error is written
// for the model. Call it before Spec.Means and Preview.
func (r *Registry) Validate(name string, args json.RawMessage) (json.RawMessage, error) {
	_, args, err := r.acceptCall(name, args)
	return args, err
}

// acceptCall is Validate. It returns the tool as well, so that what was judged is what runs,
// whatever is replaced meanwhile.
func (r *Registry) acceptCall(name string, args json.RawMessage) (*entry, json.RawMessage, error) {
	e, ok := r.currentTools()[name]
	if !ok {
		return nil, nil, ExplainUnknown(name, nil)
	}
	s, err := e.schema()
	if err != nil {
		return nil, nil, fmt.Errorf("tool %s has a broken schema, this is a fault of %s: %w", name, cmp.Or(e.spec.Owner, "the program"), err)
	}
	if args, err = s.checkArguments(name, args); err != nil || r.refuse == nil {
		return e, args, err
	}
	in, err := e.askIntent(args)
	if err != nil {
		return nil, nil, err
	}
	if err := r.refuse(e.spec, in); err != nil {
		return nil, nil, fmt.Errorf("%s is refused: %w", name, err)
	}
	return e, args, nil
}

// askIntent asks a tool what a call means; its panic is an error for the model.
func (e *entry) askIntent(args json.RawMessage) (in intent.Intent, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s failed inside (a fault of the program, not of your call): %v", e.spec.Name, p)
		}
	}()
	return e.spec.Means(args), nil
}

// Run validates and runs one call and always returns a result that can be shown to the model:
// unknown tools, bad arguments, panics and cancellation included. The text is valid UTF-8 without
// NUL and within the result budget.
func (r *Registry) Run(ctx context.Context, name string, c Call) chat.ToolResult {
	start := time.Now()
	res, interrupted := r.runCall(ctx, name, &c)
	out := chat.ToolResult{
		CallID: c.ID, Name: name, Text: secret.Text(cleanText(res.Text)), IsError: res.IsError, Interrupted: interrupted,
		Backend: res.Backend, ExitCode: res.ExitCode, Diffs: res.Diffs, Spill: res.Spill, SpillCut: res.SpillCut, Warnings: res.Warnings,
		Parts: cleanParts(res.Parts),
	}
	r.fitBudget(&out, c)
	out.Took = time.Since(start)
	return out
}

func (r *Registry) runCall(ctx context.Context, name string, c *Call) (res Result, interrupted bool) {
	e, args, err := r.acceptCall(name, c.Args)
	if err != nil {
		return Result{Text: err.Error(), IsError: true}, false
	}
	c.Args = args
	if c.Definition != "" && c.Definition != e.spec.Definition() {
		return Result{Text: name + " was changed while this call waited, so it did not run. Call it again.", IsError: true}, false
	}
	if why := e.spec.hiddenReason(); why != nil {
		return Result{Text: fmt.Sprintf("%s is not available here: %v", name, why), IsError: true}, false
	}
	if ctx.Err() != nil {
		return Result{Text: "Interrupted before it started.", IsError: true}, true
	}
	completeCall(c)
	res, err = runGuarded(ctx, e.tool, *c)
	if err == nil {
		return res, res.Interrupted
	}
	res.IsError = true
	if ctx.Err() != nil {
		res.Text = strings.TrimSpace(res.Text + "\n[interrupted]")
		return res, true
	}
	res.Text = strings.TrimSpace(res.Text + "\n" + err.Error())
	return res, false
}

// completeCall gives a call the callbacks that the contract promises.
func completeCall(c *Call) {
	if c.Output == nil {
		c.Output = func(event.Stream, []byte) {}
	}
	if c.Later == nil {
		c.Later = func(event.Stream, []byte) {}
	}
	if c.Publish == nil {
		c.Publish = func(event.Event) {}
	}
}

// runGuarded turns a panic of a tool into a result: one bad call must not end the program.
func runGuarded(ctx context.Context, t Tool, c Call) (res Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			// The stack is for the person who reports it, not for the model.
			c.Output(event.Note, fmt.Appendf(nil, "%s panicked: %v\n%s", t.Spec().Name, p, debug.Stack()))
			res = Result{}
			err = fmt.Errorf("%s failed inside (a fault of the program, not of your call): %v", t.Spec().Name, p)
		}
	}()
	return t.Run(ctx, c)
}

// cleanText makes text fit for JSON, SQLite and a model: valid UTF-8, no NUL.
func cleanText(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}
