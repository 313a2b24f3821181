package agent

import (
	"fmt"
	"strings"

	"hermes/core/chat"
	"hermes/core/crash"
	"hermes/core/event"
)

const (
	maxParallel = 8
	maxDenials  = 3 // in a row: then the person has more to say than no
)

// runCalls runs the calls of one answer and stores a result for every one of them, in call order,
// whatever happens.
func (t *turn) runCalls(calls []chat.ToolCall) error {
	left := make([]numbered, len(calls))
	for i, c := range calls {
		left[i] = t.a.numberCall(c)
	}
	for len(left) > 0 {
		err := t.ctx.Err()
		if err == nil {
			group := t.takeOverlapping(left)
			err = t.runGroup(group)
			left = left[len(group):]
		}
		if t.ctx.Err() != nil {
			err = errInterrupted
		}
		if err != nil {
			if unstored := t.closeCalls(calls[len(calls)-len(left):], "[not run: the turn ended before]"); unstored != nil {
				return unstored
			}
			return err
		}
	}
	return nil
}

// runGroup asks for approval of one call after the other; what is allowed runs at once, beside
// those that are asked about.
func (t *turn) runGroup(group []*toolJob) error {
	for _, j := range group {
		j.history = t.history
		t.publish(event.ToolStarted{Call: j.call, Gist: j.gist, Backend: j.backend, Beside: len(group) - 1})
	}
	slots := make(chan struct{}, maxParallel)
	for i, j := range group {
		if j.result == nil && t.denials.Load() >= maxDenials {
			j.failWith("Not run: the person denied several calls in a row, and the turn is paused.")
		}
		if j.result == nil {
			t.askGate(j)
		}
		if j.result != nil {
			close(j.done)
			continue
		}
		if j.hooked != "" { // what it is now was not held against the others: it runs alone
			awaitJobs(group[:i])
		}
		t.publishPhase(event.TurnPhase{Kind: event.PhaseRunning, Tool: j.call.Name})
		crash.Go("tool "+j.call.Name, func() {
			defer close(j.done)
			slots <- struct{}{}
			defer func() { <-slots }()
			j.result = t.runOne(j)
			if len(group) > 1 {
				t.tellFinished(j)
			}
		})
		if j.hooked != "" {
			<-j.done
		}
	}
	var end error
	for _, j := range group {
		<-j.done
		if err := t.recordResult(j); err != nil && end == nil {
			end = err
		}
	}
	return end
}

// awaitJobs waits until calls are over.
func awaitJobs(calls []*toolJob) {
	for _, j := range calls {
		<-j.done
	}
}

// tellFinished says that a call is over whose result waits for those before it.
func (t *turn) tellFinished(j *toolJob) {
	r := j.result
	failed := r.IsError || r.ExitCode != nil && *r.ExitCode != 0
	t.publish(event.ToolFinished{CallID: j.call.ID, Took: r.Took, Failed: failed})
}

// recordResult stores and publishes the result of one call. It returns a stop when the turn should
// not go on.
func (t *turn) recordResult(j *toolJob) error {
	n := t.repeats.countRepeat(j.call, *j.result)
	if n >= noticeRepeats {
		j.result.Text += fmt.Sprintf("\n[Notice: this is the %s time that this same call gives this same result. "+
			"It will not change; do something else, or say what is missing.]", ordinal(n))
	}
	if err := t.storeResult(*j.result); err != nil {
		return err
	}
	if n >= maxRepeats {
		return stop{outcome{
			reason: event.TurnFailed, err: fmt.Sprintf("stopped: %s was called %d times with the same arguments and the same result", j.call.Name, n),
			hint: "say what should be different", do: []event.Remedy{event.RemedyContinue},
		}}
	}
	if t.denials.Load() >= maxDenials {
		return stop{outcome{
			reason: event.TurnInterrupted, err: plural(maxDenials, "call") + " in a row were denied, so the turn is paused",
			hint: "say what you want instead",
		}}
	}
	return nil
}

// storeResult appends a result as a message, then publishes it.
func (t *turn) storeResult(r chat.ToolResult) error {
	ctx, cancel := t.storingContext()
	defer cancel()
	m := chat.Message{Role: chat.RoleTool, Status: chat.StatusFinal, Result: &r}
	if r.Interrupted {
		m.Status = chat.StatusCancelled
	}
	err := t.a.d.Sessions.Append(ctx, t.w.uid, &m)
	if err != nil && !keptInSpillFile(err) {
		return fmt.Errorf("the result of %s could not be saved: %w", r.Name, err)
	}
	t.history = append(t.history, m)
	t.publish(event.ToolEnded{Result: *m.Result})
	if err != nil { // not MessageAdded: it has no place in the conversation yet
		return diskFull("the result of "+r.Name+" is safe", err)
	}
	t.publish(event.MessageAdded{Message: m})
	return nil
}

// closeCalls gives calls that will never run a result that says so.
func (t *turn) closeCalls(calls []chat.ToolCall, text string) error {
	for _, c := range calls {
		if err := t.storeResult(chat.ToolResult{CallID: c.ID, Name: c.Name, Text: text, IsError: true, Interrupted: true}); err != nil {
			return err
		}
	}
	return nil
}

const (
	noticeRepeats = 3
	maxRepeats    = 5
)

// repeats counts calls that bring nothing new: same tool, same arguments, same result.
type repeats map[string]int

func (r *repeats) countRepeat(c chat.ToolCall, res chat.ToolResult) int {
	if *r == nil {
		*r = repeats{}
	}
	parts := []string{c.Name, string(c.Args), c.Invalid, res.Text}
	for _, p := range res.Parts {
		parts = append(parts, p.Blob)
	}
	key := strings.Join(parts, "\x00")
	(*r)[key]++
	return (*r)[key]
}

func ordinal(n int) string {
	if n == 3 {
		return "3rd"
	}
	return fmt.Sprintf("%dth", n)
}
