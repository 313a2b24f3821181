package agent

import (
	"fmt"

	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/clip"
	"hermes/core/event"
)

// runInstead puts the command of a person in place of the one that was asked about. It runs as that
// call, and is not asked about again: only what never runs, or what the settings forbid, stops it.
func (t *turn) runInstead(j *toolJob, r approval.Request, command string) (approval.Verdict, error) {
	args, err := j.spec.Replace(j.args, command)
	if err == nil {
		args, err = t.a.d.Tools.Validate(j.call.Name, args)
	}
	if err != nil {
		return approval.Verdict{Decision: event.DecisionDeny, By: event.ByUser, Text: fmt.Sprintf("Not run: the command that the person wrote instead does not fit: %v", err)}, nil
	}
	j.args, j.edited = args, command
	if t.describeCall(j); j.result != nil {
		return approval.Verdict{Decision: event.DecisionDeny, By: event.ByPolicy, Text: j.result.Text}, nil
	}
	if v, may := t.hookInstead(j); !may {
		return v, nil
	}
	r.Call.Args, r.Intent, r.Dir, r.Backend, r.Detail, r.Typed = j.args, j.intent, j.dir, j.backend, command, true
	r.Local, r.Sandboxed, r.Sandbox = j.local, j.sandboxed, j.sandbox
	t.describeLasting(j, &r)
	t.publishUnder(j, event.ToolStarted{Call: chat.ToolCall{ID: j.call.ID, Name: j.call.Name, Args: j.args}, Gist: j.gist, Backend: j.backend})
	return t.a.d.Gate.Check(j.ctx, r)
}

// tellEdited says in the result what ran: the model's own call stands before it.
func (j *toolJob) tellEdited(r *chat.ToolResult) {
	switch {
	case j.edited == "" && j.hooked != "":
		r.Ran = j.args
		r.Text = "[the hook " + j.hooked + " changed the arguments; this ran instead: " + clip.Runes(string(j.args), 500, "…") + "]\n" + r.Text
	case j.edited != "":
		r.Ran = j.args
		r.Text = "[the person changed the command; this ran instead: " + j.edited + "]\n" + r.Text
	}
}
