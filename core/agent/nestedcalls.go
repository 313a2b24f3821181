package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/secret"
	"hermes/core/tool"
)

// nest is the agent as a running call sees it: it calls other tools, under that call. They pass
// validation, the toolset and the gate like calls of the model, and are told as events; the model
// gets what the call around them makes of their results, so they are no messages.
type nest struct {
	t     *turn
	up    *toolJob
	slots chan struct{}
	made  atomic.Int64
}

func (t *turn) newNest(up *toolJob) tool.Nest {
	return &nest{t: t, up: up, slots: make(chan struct{}, maxParallel)}
}

// Tools are the tools of the session.
func (n *nest) Tools() []tool.Spec { return n.t.toolSpecs() }

// Call runs one call. A tool that does not stop in time after ctx has ended is left behind, as one
// that the model called is.
func (n *nest) Call(ctx context.Context, c tool.NestedCall) tool.NestedResult {
	call := chat.ToolCall{ID: fmt.Sprintf("%s.%d", n.up.call.ID, n.made.Add(1)), Name: c.Name, Args: c.Args}
	select {
	case n.slots <- struct{}{}:
		defer func() { <-n.slots }()
	case <-ctx.Done():
		return interruptedCall(call)
	}
	t := n.t
	j := t.newToolJob(t.a.numberCall(call))
	j.ctx, j.up, j.outer, j.history, j.waiting = ctx, n.up.call.ID, n.up, n.up.history, c.Waiting
	t.publishUnder(j, event.ToolStarted{Call: call, Gist: j.gist, Backend: j.backend})
	switch {
	case j.result != nil:
	case t.denials.Load() >= maxDenials:
		j.denied = true
		j.failWith("Not run: the person denied several calls in a row, and the turn is paused.")
	default:
		t.askGate(j)
	}
	if j.result == nil {
		j.result = t.runOne(j)
	}
	t.scanNested(j)
	t.publishUnder(j, event.ToolEnded{Result: *j.result})
	res := tool.NestedResult{ToolResult: *j.result, Refused: j.denied}
	if res.Interrupted || j.data == nil { // in this order: who was left behind may still write data
		return res
	}
	data, err := json.Marshal(j.data)
	if err != nil {
		t.a.d.Log.Error("a tool gave data that is no JSON", "tool", c.Name, "err", err)
		return res
	}
	if secret.Enabled() {
		data = secret.JSON(data)
	}
	res.Data = data
	return res
}

func interruptedCall(c chat.ToolCall) tool.NestedResult {
	return tool.NestedResult{ToolResult: chat.ToolResult{
		CallID: c.ID, Name: c.Name, Text: "[interrupted before it ran]", IsError: true, Interrupted: true,
	}}
}

// publishUnder publishes an event of a call under the call that it is inside of.
func (t *turn) publishUnder(j *toolJob, e event.Event) {
	t.a.d.Bus.Publish(event.Header{Session: t.w.uid, Turn: t.id, Parent: j.up}, e)
}

// publishAsking publishes what the gate says about a call, and tells whoever made the call while a
// person is asked.
func (t *turn) publishAsking(j *toolJob) func(event.Event) {
	asked := false
	wait := func(waits bool) {
		if j.waiting == nil || waits == asked {
			return
		}
		asked = waits
		j.waiting(waits)
		if waits {
			t.publishPhase(event.TurnPhase{Kind: event.PhaseApproval, Tool: j.call.Name})
		} else {
			t.publishPhase(event.TurnPhase{Kind: event.PhaseRunning, Tool: j.call.Name})
		}
	}
	return func(e event.Event) {
		switch e.(type) {
		case event.ApprovalAsked:
			wait(true)
		case event.ApprovalSettled:
			wait(false)
		default:
		}
		t.publishUnder(j, e)
	}
}
