package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/clip"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/realpath"
	"hermes/core/tool"
)

// toolJob is one call on its way.
type toolJob struct {
	call             chat.ToolCall
	spec             tool.Spec
	definition       string          // of a foreign tool: what is approved is what runs
	args             json.RawMessage // validated
	intent           intent.Intent   // what it means; its paths are absolute, with links followed
	gist             string
	backend          string   // resolved: where it will run
	named            []string // its paths, as the arguments name them
	local, sandboxed bool     // where it will run, as Place says
	sandbox          string   // the same
	dir              string   // where it starts
	reads            bool     // it changes nothing where it runs
	ends             string   // where its command ends; "" when that is not known
	order            int64    // among the calls of the program
	result           *chat.ToolResult
	denied           bool // the person, a hook or a rule said no
	done             chan struct{}

	ctx     context.Context // ends with the interrupt, or with the call that it is inside of
	up      string          // the call that it is inside of; "" for what the model called
	outer   *toolJob        // the same
	history []chat.Message  // what the turn had read before the model's call
	hooked  string          // the hooks that changed the arguments; "" for none
	edited  string          // the command that a person wrote in place of the call's; "" for none
	lasting bool            // it was allowed to leave something that runs later
	watched Watched         // what it leaves behind is looked for; nil: not
	waiting func(bool)      // told while a person is asked; may be nil
	data    any             // the result as data, of a call inside of another
}

// numbered is a call with its place among those of the program.
type numbered struct {
	chat.ToolCall
	order int64
}

func (a *Agent) numberCall(c chat.ToolCall) numbered { return numbered{c, a.calls.Add(1)} }

// newToolJob looks a call up and validates it. What cannot run has its result already.
func (t *turn) newToolJob(n numbered) *toolJob {
	c := n.ToolCall
	j := &toolJob{call: c, gist: c.Name, dir: t.info.Cwd, order: n.order, done: make(chan struct{}), ctx: t.ctx}
	if c.Invalid != "" {
		var v any
		err := json.Unmarshal([]byte(c.Invalid), &v)
		j.failWith(fmt.Sprintf("The arguments of %s are not valid JSON: %v. They were: %s\nSend the call again with valid JSON.", c.Name, err, clip.Runes(c.Invalid, 500, "…")))
		return j
	}
	var err error
	if j.spec, err = t.callableTool(c.Name); err == nil {
		j.args, err = t.a.d.Tools.Validate(c.Name, c.Args)
	}
	if err != nil {
		j.failWith(err.Error())
		return j
	}
	if j.spec.Owner != "" {
		j.definition = j.spec.Definition()
	}
	t.describeCall(j)
	return j
}

// describeCall asks the tool what its call is about.
func (t *turn) describeCall(j *toolJob) {
	defer t.recoverPanic(j)
	in := j.spec.Means(j.args)
	j.gist = cmp.Or(in.Gist, j.call.Name)
	j.local = len(in.Paths) > 0
	if in.InBackend {
		t.placeCall(j, in)
	}
	j.named = in.Paths
	in.Paths = j.absolutePaths(in.Paths)
	j.intent = in
	t.analyseCommand(j)
}

// placeCall says where a call runs. What only touches files of this machine means the same in each
// back end that is this machine, and starts where the session does.
func (t *turn) placeCall(j *toolJob, in intent.Intent) {
	at := t.a.d.Backend(t.w.uid, in.Backend)
	if at.Local && in.OnlyPaths && in.Shell == nil {
		return
	}
	j.backend, j.dir = at.Name, cmp.Or(at.Dir, t.info.Cwd)
	j.local, j.sandboxed, j.sandbox = at.Local, at.Sandboxed, at.Sandbox
}

// absolutePaths returns the files that are meant where the call runs; links can be followed on this
// machine only.
func (j *toolJob) absolutePaths(paths []string) []string {
	home, _ := os.UserHomeDir() // without one, ~ stays as it is written
	out := make([]string, len(paths))
	for i, p := range paths {
		switch {
		case j.local:
			out[i] = realpath.Of(home, j.dir, p)
		case j.backend != "" && strings.HasPrefix(p, j.backend+":/"): // as results name it
			out[i] = path.Clean(p[len(j.backend)+1:])
		case path.IsAbs(p):
			out[i] = path.Clean(p)
		default:
			out[i] = path.Join(j.dir, p)
		}
	}
	return out
}

// recoverPanic, deferred, turns a panic of a tool's description of a call into the end of that
// call.
func (t *turn) recoverPanic(j *toolJob) {
	if p := recover(); p != nil {
		t.a.d.Log.Error("a tool panicked", "tool", j.call.Name, "panic", p, "stack", string(debug.Stack()))
		j.failWith(fmt.Sprintf("%s failed inside (a fault of the program, not of your call): %v", j.call.Name, p))
	}
}

func (j *toolJob) failWith(text string) {
	j.result = &chat.ToolResult{CallID: j.call.ID, Name: j.call.Name, Text: text, IsError: true}
}

// askGate asks the gate. A call that may not run gets its result.
func (t *turn) askGate(j *toolJob) {
	if j.ctx.Err() != nil {
		return // runOne says that it was interrupted
	}
	if t.hookCall(j); j.result != nil {
		j.denied, j.result.Denied = true, true
		return
	}
	r := approval.Request{
		Session: t.w.uid, Turn: t.id, Call: chat.ToolCall{ID: j.call.ID, Name: j.call.Name, Args: j.args},
		Owner: j.spec.Owner, Definition: j.definition, Intent: j.intent, Dir: j.dir, Detail: cmp.Or(j.intent.Detail, j.gist), Backend: j.backend,
		Publish: t.publishAsking(j), Prompt: t.said, Project: t.info.Project, Local: j.local, Sandboxed: j.sandboxed, Sandbox: j.sandbox,
		Edits: j.spec.Replace != nil, Foreign: func() string { return t.strangersBehind(j) },
	}
	if j.spec.Owner != "" && j.spec.Title != "" {
		r.Title = "Use " + j.spec.Title + "?"
	}
	if t.addPreview(j, &r); j.result != nil {
		return
	}
	t.describeLasting(j, &r)
	if j.up == "" { // else the gate's question says it
		t.publishPhase(event.TurnPhase{Kind: event.PhaseApproval, Tool: j.call.Name})
	}
	if j.backend != "" {
		defer t.a.d.Keep(t.w.uid, j.backend)()
	}
	v, err := t.a.d.Gate.Check(j.ctx, r)
	if v.Allowed && v.Command != "" {
		v, err = t.runInstead(j, r, v.Command)
	}
	if err != nil {
		t.publish(event.Notice{Level: event.Warn, Text: err.Error()})
	}
	switch {
	case v.Allowed:
		j.noteAllowed(v)
		t.noteFetched(v.Analysis)
		if v.Asked {
			t.denials.Store(0)
		}
		return
	case v.By == event.ByUser:
		t.denials.Add(1)
	}
	j.denied = v.By != event.ByInterrupt
	j.failWith(v.Text)
	j.result.Backend, j.result.Denied, j.result.Interrupted = j.backend, j.denied, !j.denied
}

// addPreview adds what the person sees of a change before it is made.
func (t *turn) addPreview(j *toolJob, r *approval.Request) {
	defer t.recoverPanic(j)
	if j.intent.Reads {
		return
	}
	if j.spec.Refuse != nil {
		if why := j.spec.Refuse(j.ctx, t.toolCall(j, nil)); why != "" {
			j.failWith(why)
			return
		}
	}
	if j.spec.Preview != nil {
		r.Detail, r.Diff = j.spec.Preview(j.ctx, t.toolCall(j, nil))
	}
}

// toolCall is the call as the tool gets it. A nil out drops live output and events.
func (t *turn) toolCall(j *toolJob, out *liveOutput) tool.Call {
	drop := func(event.Stream, []byte) {}
	c := tool.Call{
		ID: j.call.ID, Session: t.w.uid, Turn: t.id, Args: j.args, Cwd: t.info.Cwd, Lasting: j.lasting,
		Definition: j.definition, Order: j.order, Has: t.hasTool,
		Output: drop, Later: drop, Publish: func(event.Event) {},
	}
	switch {
	case out == nil:
		return c
	case j.up != "":
		c.Data = func(v any) { j.data = v }
	default:
		c.Nest = t.newNest(j)
	}
	c.Tainted = j.intent.Lasting != nil && t.otherAuthors(j) != ""
	c.Output, c.Later, c.Publish = out.writeOpen, out.writeLate, out.publishEvent
	return c
}

// runOne runs an approved call. A tool that does not stop within the grace after an interrupt is
// left behind: what it still says is dropped, and a notice tells when it has ended.
func (t *turn) runOne(j *toolJob) *chat.ToolResult {
	live := newLiveOutput(t, j)
	if j.spec.BringsForeignText() {
		t.notePageRead(j.call.Name)
	}
	began := time.Now()
	got := make(chan chat.ToolResult, 1)
	crash.Go("tool "+j.call.Name+" "+j.call.ID, func() {
		kept, settle := t.keepFiles(j), t.watchAutorun(j)
		res := t.a.d.Tools.Run(j.ctx, j.call.Name, t.toolCall(j, live))
		res.Parts = t.keepParts(res.Parts)
		j.tellEdited(&res)
		t.hookResult(j, &res)
		settle(&res)
		kept()
		inTime := live.close()
		got <- res
		if inTime {
			return
		}
		t.a.d.Bus.Publish(event.Header{Session: t.w.uid}, event.Notice{
			Level: event.Warn, Text: fmt.Sprintf("%s ended %s after it was started and left behind; its result was dropped", j.call.Name, time.Since(began).Round(time.Second)),
		})
	})
	select {
	case res := <-got:
		return &res
	case <-j.ctx.Done():
	}
	select {
	case res := <-got:
		return &res
	case <-time.After(grace):
		live.close()
		return &chat.ToolResult{
			CallID: j.call.ID, Name: j.call.Name, Took: time.Since(began), Backend: j.backend, IsError: true, Interrupted: true,
			Text: "[interrupted: the tool did not stop in time and was left behind; its result is not known]",
		}
	}
}
