package agent

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/hook"
	"hermes/core/provider"
)

// Hooks are programs that take part in turns; hook.Set implements it.
type Hooks interface {
	Run(ctx context.Context, in hook.Input, told func(event.HookRan)) hook.Verdict
}

// maxHookText is how much of a result or a message a hook is given, in bytes.
const maxHookText = 64 << 10

// runHooks has the hooks of an event take part in it.
func (t *turn) runHooks(ctx context.Context, in hook.Input) hook.Verdict {
	if t.a.d.Hooks == nil {
		return hook.Verdict{}
	}
	in.Session, in.Turn, in.Cwd, in.Model = t.w.uid, t.id, t.info.Cwd, cmp.Or(in.Model, t.model.ID)
	return t.a.d.Hooks.Run(ctx, in, func(e event.HookRan) { t.publish(e) })
}

// refusedBy ends a turn that a hook refused.
func refusedBy(v hook.Verdict, what string) error {
	if !v.Refused {
		return nil
	}
	return stop{outcome{
		reason: event.TurnFailed, err: what + " was not sent: " + v.Reason,
		hint: "`hermes hooks list` shows the hooks and where they stand",
	}}
}

// hookBegins tells hooks of a session's first turn and of what was said.
func (t *turn) hookBegins() error {
	if !t.w.told {
		t.w.told = true
		t.addContext(t.runHooks(t.ctx, hook.Input{Event: hook.SessionStart}).Context)
	}
	if t.prompt == 0 {
		return nil
	}
	return t.hookSaid(t.asked, t.author)
}

// hookSaid tells hooks of a message that came in.
func (t *turn) hookSaid(text string, from chat.Author) error {
	in := hook.Input{Event: hook.MessageIn, Prompt: text}
	if from.Other() {
		in.From = from.Words()
	}
	v := t.runHooks(t.ctx, in)
	t.addContext(v.Context)
	return refusedBy(v, "the message")
}

// addContext keeps what hooks say until the next model call, which is shown it once.
func (t *turn) addContext(text string) { t.added = joinTexts(t.added, text) }

// askHooked is ask with the hooks around a model call.
func (t *turn) askHooked(specs []provider.ToolSpec, instruction string) (chat.Message, error) {
	if t.own {
		return t.askModel(specs, instruction)
	}
	v := t.runHooks(t.ctx, hook.Input{Event: hook.PreModelCall})
	if err := refusedBy(v, "the request to the model"); err != nil {
		return chat.Message{}, err
	}
	t.addContext(v.Context)
	instruction, t.added = joinTexts(t.added, instruction), ""
	m, err := t.askModel(specs, instruction)
	if err == nil {
		text, _ := cutToHead(m.Text)
		t.runHooks(t.ctx, hook.Input{Event: hook.PostModelCall, Message: text})
	}
	return m, err
}

// hookEnded tells hooks of the answer that a turn ended with.
func (t *turn) hookEnded() {
	if n := len(t.history); n > 0 && !t.own && t.history[n-1].Role == chat.RoleAssistant {
		text, _ := cutToHead(t.history[n-1].Text)
		t.runHooks(t.ctx, hook.Input{Event: hook.MessageOut, Message: text})
	}
}

// hookCall asks hooks about a call before the gate is asked: what they make of it is what the gate
// judges.
func (t *turn) hookCall(j *toolJob) {
	v := t.runHooks(j.ctx, hook.Input{Event: hook.PreToolCall, Tool: j.call.Name, CallID: j.call.ID, Args: j.args, Backend: j.backend})
	switch {
	case j.ctx.Err() != nil && t.a.d.Hooks != nil: // they may not have been asked
		j.failWith("[interrupted before it ran]")
		j.result.Interrupted = true
		return
	case v.Refused:
		j.failWith("Not run: " + v.Reason)
		j.result.Backend = j.backend
		return
	case v.Args == nil:
		return
	}
	args, err := t.a.d.Tools.Validate(j.call.Name, v.Args)
	if err != nil {
		j.failWith(fmt.Sprintf("Not run: the hook %s changed the arguments to what does not fit: %v", v.By, err))
		return
	}
	j.args, j.hooked = args, v.By
	if t.describeCall(j); j.result == nil {
		t.publishUnder(j, event.ToolStarted{Call: chat.ToolCall{ID: j.call.ID, Name: j.call.Name, Args: j.args}, Gist: j.gist, Backend: j.backend})
	}
}

// hookInstead asks hooks about the command that a person put in the place of a call's. They may
// refuse it; what the person wrote is not changed.
func (t *turn) hookInstead(j *toolJob) (approval.Verdict, bool) {
	v := t.runHooks(j.ctx, hook.Input{Event: hook.PreToolCall, Tool: j.call.Name, CallID: j.call.ID, Args: j.args, Backend: j.backend})
	if !v.Refused && v.Args == nil {
		return approval.Verdict{}, true
	}
	why := cmp.Or(v.Reason, "the hook "+v.By+" wants other arguments than the person wrote")
	return approval.Verdict{Decision: event.DecisionDeny, By: event.ByPolicy, Text: "Not run: " + why}, false
}

// hookResult tells hooks of a result, and adds what they say to it.
func (t *turn) hookResult(j *toolJob, r *chat.ToolResult) {
	if j.ctx.Err() != nil || t.a.d.Hooks == nil {
		return
	}
	text, cut := cutToHead(r.Text)
	v := t.runHooks(j.ctx, hook.Input{
		Event: hook.PostToolCall, Tool: j.call.Name, CallID: j.call.ID, Args: j.args, Backend: j.backend,
		Result: &hook.Result{Text: text, Cut: cut, IsError: r.IsError, ExitCode: r.ExitCode, Milliseconds: r.Took.Milliseconds()},
	})
	if v.Context != "" {
		r.Text = strings.TrimRight(r.Text, "\n") + "\n" + v.Context
	}
}

// cutToHead is the beginning of a text, and whether there is more.
func cutToHead(text string) (string, bool) {
	if len(text) <= maxHookText {
		return text, false
	}
	return strings.ToValidUTF8(text[:maxHookText], ""), true
}
