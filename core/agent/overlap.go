package agent

import (
	"path"

	"hermes/core/approval"
	"hermes/core/realpath"
)

// Calls of one answer run at the same time where they do not touch each other: where both only
// read, where they change other files, or where one is in a sandbox that the other is not in. What
// a call touches is what its tool says (package intent); of a shell command, what the analyser
// reads from its text: fetching a page (curl) touches nothing here, and stands beside what reads.
// What is not known stands alone, and so does what runs code of the project (make, pytest, go
// test): it may write anywhere in it.

// takeOverlapping takes the next calls of an answer that may run at the same time, at least one.
// They are looked at now, and not before the calls before them have ended: those may have changed
// the folder that the next ones begin in.
func (t *turn) takeOverlapping(calls []numbered) []*toolJob {
	group := []*toolJob{t.newToolJob(calls[0])}
	for _, c := range calls[1:] {
		j := t.newToolJob(c)
		for _, other := range group {
			if !mayOverlap(other, j) {
				return group
			}
		}
		group = append(group, j)
	}
	return group
}

// mayOverlap reports whether two calls may run at the same time.
func mayOverlap(a, b *toolJob) bool {
	switch {
	case a.result != nil || b.result != nil: // nothing runs
		return !a.spec.Serial && !b.spec.Serial
	case a.runsAlone() || b.runsAlone():
		return false
	case separatePlaces(a, b):
		return true
	case a.backend == b.backend && (mayChangeFolder(a, b) || mayChangeFolder(b, a)):
		return false
	case a.reads && b.reads:
		return true
	case a.backend != b.backend, len(a.intent.Paths) == 0, len(b.intent.Paths) == 0:
		return false
	}
	for _, p := range a.intent.Paths {
		for _, q := range b.intent.Paths {
			if realpath.Within(p, q) || realpath.Within(q, p) {
				return false
			}
		}
	}
	return true
}

// runsAlone reports whether a call runs beside no other, whatever that does.
func (j *toolJob) runsAlone() bool {
	in := j.intent
	return j.spec.Serial || in.Outlives || in.Unread || in.Stdin != nil || in.Lasting != nil
}

// isPlaced reports whether all that a call touches is where it runs.
func (j *toolJob) isPlaced() bool {
	return j.intent.InBackend && (j.intent.Shell != nil || j.intent.OnlyPaths) || j.intent.OnlyPaths && len(j.intent.Paths) > 0
}

// separatePlaces reports whether one of two calls runs where nothing of the other one's place can
// be reached.
func separatePlaces(a, b *toolJob) bool {
	return a.backend != b.backend && (a.sandboxed || b.sandboxed) && a.isPlaced() && b.isPlaced()
}

// mayChangeFolder reports whether a may change the folder that b begins in.
func mayChangeFolder(a, b *toolJob) bool {
	sh := b.intent.Shell
	if a.intent.Shell == nil || sh == nil || path.IsAbs(sh.Dir) {
		return false
	}
	return a.ends == "" || a.ends != b.dir
}

// analyseCommand has the analyser say what the command of a call does.
func (t *turn) analyseCommand(j *toolJob) {
	j.reads = j.intent.Reads
	sh := j.intent.Shell
	if sh == nil {
		return
	}
	c := approval.ContextIn(j.dir)
	c.Dir, c.Local, c.Sandboxed, c.Backend = j.dir, j.local, j.sandboxed, j.backend
	switch {
	case path.IsAbs(sh.Dir):
		c.Dir = path.Clean(sh.Dir)
	case sh.Dir != "":
		c.Dir = path.Join(j.dir, sh.Dir)
	}
	a := approval.Analyse(sh.Command, c)
	j.reads, j.ends = a.ChangesNothing(), a.Dir
}
