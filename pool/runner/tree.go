package runner

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// proc is one process of the system, as much as is needed to say whose it is.
type proc struct {
	pid, parent, group, session int
	begun                       uint64 // with pid it names a process for ever
	dead                        bool   // a zombie
}

type procID struct {
	pid   int
	begun uint64
}

// tree is everything that a command started, as far as it can be told: its group and session, the
// descendants of all that was once seen to belong to it, and on Linux whoever carries its tag in
// the environment.
type tree struct {
	c    *child
	seen map[procID]bool
}

const retell = 100 * time.Millisecond

// endTree ends a command and all that belongs to it: TERM, a grace, KILL until nothing is left. It
// returns warnings.
func (r *Runner) endTree(c *child) []string {
	t, grace := &tree{c: c, seen: map[procID]bool{}}, r.killGrace()
	// Twice: bash loses a TERM that comes between its fork and its exec, while the child still has
	// bash's handler.
	for _, wait := range []time.Duration{min(retell, grace), max(0, grace-retell)} {
		t.signal(unix.SIGTERM)
		t.signal(unix.SIGCONT) // what is stopped cannot hear TERM
		if t.waitGone(wait) {
			return nil
		}
	}
	stubborn := len(t.livingMembers())
	for range 40 {
		t.signal(unix.SIGKILL)
		if t.waitGone(50 * time.Millisecond) {
			break
		}
	}
	var warnings []string
	if stubborn > 0 {
		warnings = append(warnings, fmt.Sprintf("%d processes of the command did not end within %v of being asked, and were killed", stubborn, grace))
	}
	if left := len(t.livingMembers()); left > 0 {
		warnings = append(warnings, fmt.Sprintf("%d processes of the command could not be killed (they run as another user, or wait inside the kernel)", left))
	}
	return warnings
}

// signal sends s to the group at once, and to what left it one by one.
func (t *tree) signal(s unix.Signal) {
	outside := t.livingMembers()
	_ = unix.Kill(-t.c.pid, s)
	for _, p := range outside {
		if p.group != t.c.pid {
			p.signal(s)
		}
	}
}

// waitGone waits up to d until the leader has exited and nothing else of the tree lives.
func (t *tree) waitGone(d time.Duration) bool {
	deadline := time.Now().Add(d)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left := time.Until(deadline)
		if closesWithin(max(0, min(pause, left)), t.c.exited) {
			if t.isEmpty() {
				return true
			}
			time.Sleep(max(0, min(pause, left)))
		}
		if left <= 0 {
			return false
		}
	}
}

// isEmpty looks twice: a process that is just replacing itself shows no environment for a moment.
func (t *tree) isEmpty() bool {
	for range 2 {
		if len(t.livingMembers()) > 0 {
			return false
		}
	}
	return true
}

// livingMembers returns the living processes of the tree, including the leader while it has not
// exited.
func (t *tree) livingMembers() []proc {
	all := listProcesses()
	byPid := make(map[int]proc, len(all))
	for _, p := range all {
		byPid[p.pid] = p
	}
	for _, p := range all {
		if t.belongsTo(p, byPid, 0) {
			t.seen[procID{p.pid, p.begun}] = true
		}
	}
	var out []proc
	for _, p := range all {
		if !p.dead && t.seen[procID{p.pid, p.begun}] {
			out = append(out, p)
		}
	}
	return out
}

func (t *tree) belongsTo(p proc, byPid map[int]proc, depth int) bool {
	if p.pid == t.c.pid || p.group == t.c.pid || p.session == t.c.pid || t.seen[procID{p.pid, p.begun}] {
		return true
	}
	if p.pid <= 1 || depth > 1000 {
		return false
	}
	if parent, ok := byPid[p.parent]; ok && parent.pid > 1 && parent.pid != self && t.belongsTo(parent, byPid, depth+1) {
		return true
	}
	return depth == 0 && !p.dead && p.hasTag(t.c.tag)
}
