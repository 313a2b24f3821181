package agent

import (
	"slices"
	"strings"

	"hermes/core/approval"
	"hermes/core/approval/command"
	"hermes/core/chat"
	"hermes/core/event"
)

// Autorun watches files that other programs run by themselves: hooks of git, tasks of editors. What
// a command or a script does cannot be read from its text, so what it left there is found
// afterwards.
type Autorun interface {
	// Watch notes how they are where c starts; nil when there is nothing to watch.
	Watch(c FileChange) Watched
}

// Watched is a call that runs.
type Watched interface {
	// Allow takes for wanted what changed while a call inside of this one ran.
	Allow(inside Watched)
	// End compares, and puts back what changed when undo is set.
	End(undo bool) []LeftBehind
}

// LeftBehind is one file that a call left for another program to run.
type LeftBehind struct {
	Text string // a sentence: which file, what became of it
	Hint string // for the person: what to do
	Do   []event.Remedy
	Diff chat.FileDiff // what the call wrote, without secrets
}

// noteAllowed notes what the gate said about a call that may run.
func (j *toolJob) noteAllowed(v approval.Verdict) {
	lasting := slices.ContainsFunc(v.Analysis.Effects, func(e approval.Effect) bool { return e.Class == command.Persist })
	j.lasting = lasting || j.up != "" && v.Asked
}

// watchAutorun looks for what a call leaves behind that runs later, and returns what to do when it
// has ended. A call that was allowed to is not watched, and what it does inside of a script counts
// as wanted there too.
func (t *turn) watchAutorun(j *toolJob) (settle func(*chat.ToolResult)) {
	nothing := func(*chat.ToolResult) {}
	if t.a.d.Autorun == nil || j.intent.Reads || j.ctx.Err() != nil {
		return nothing
	}
	if j.up != "" {
		if !j.lasting || j.outer == nil || j.outer.watched == nil {
			return nothing
		}
		inside := t.a.d.Autorun.Watch(t.fileChange(j))
		return func(*chat.ToolResult) {
			if inside != nil {
				j.outer.watched.Allow(inside)
			}
		}
	}
	if j.lasting {
		return nothing
	}
	if j.watched = t.a.d.Autorun.Watch(t.fileChange(j)); j.watched == nil {
		return nothing
	}
	return func(res *chat.ToolResult) {
		for _, left := range j.watched.End(j.intent.Unread) {
			res.Text = strings.TrimRight(res.Text, "\n") + "\n[warning: " + left.Text + "]"
			res.Diffs = append(res.Diffs, left.Diff)
			t.publish(event.Notice{Level: event.Warn, Text: left.Text, Hint: left.Hint, Do: left.Do})
		}
	}
}
