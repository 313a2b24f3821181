package agent

import (
	"cmp"
	"context"

	"hermes/core/event"
	"hermes/core/intent"
)

// Checkpoints keeps files as they were before a call changes them.
type Checkpoints interface {
	// Before returns once what c may change is safe. An error says what is not; the call runs all
	// the same.
	Before(ctx context.Context, c FileChange) error
	// After hears that the call has ended.
	After(c FileChange)
	// End hears that the turn has: nothing of it changes files any more.
	End(ctx context.Context, session, turn string) error
}

// FileChange is a call that is not known to read only.
type FileChange struct {
	Session, Turn string
	Prompt        string // what was said last
	Tool          string
	Intent        intent.Intent // its paths are absolute
	Named         []string      // the paths as the arguments name them
	Dir           string        // where it starts, in its back end
	Cwd           string        // the session's directory
	Backend       string        // "" for tools that run in the agent
}

func (t *turn) fileChange(j *toolJob) FileChange {
	return FileChange{
		Session: t.w.uid, Turn: t.id, Prompt: cmp.Or(t.said, t.asked), Tool: j.call.Name, Intent: j.intent, Named: j.named,
		Dir: j.dir, Cwd: t.info.Cwd, Backend: j.backend,
	}
}

// keepFiles has what a call may change kept, and returns what to do when it has ended.
func (t *turn) keepFiles(j *toolJob) (after func()) {
	if t.a.d.Checkpoints == nil || j.intent.Reads || j.ctx.Err() != nil {
		return func() {}
	}
	c := t.fileChange(j)
	if err := t.a.d.Checkpoints.Before(j.ctx, c); err != nil {
		t.warnOnce(err.Error())
	}
	return func() { t.a.d.Checkpoints.After(c) }
}

// warnOnce tells a person something once a session: a project that is too large is so in every
// turn.
func (t *turn) warnOnce(text string) {
	if _, told := t.w.warned.LoadOrStore(text, true); !told {
		t.publish(event.Notice{Level: event.Warn, Text: text, Hint: "the change goes on; it cannot be taken back"})
	}
}

// endFiles completes what was kept.
func (t *turn) endFiles() {
	if t.a.d.Checkpoints == nil {
		return
	}
	ctx, cancel := t.storingContext()
	defer cancel()
	if err := t.a.d.Checkpoints.End(ctx, t.w.uid, t.id); err != nil {
		t.warnOnce(err.Error())
	}
}
