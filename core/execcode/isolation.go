package execcode

import (
	"slices"
	"strings"
)

// Isolation is what keeps a script in, besides its limits, environment and process group, which it
// always has.
type Isolation struct {
	PIDs     bool // a process namespace: what the script started ends with it, whatever it did to get away
	Users    bool // a user namespace around it (not needed by root)
	Landlock int  // version of the kernel's interface; 0: none. Files, and signals to others where the version has that
	Seccomp  bool // no Unix sockets, tracing, other processes' memory, mounts, kernel interfaces that only exploits need
}

// String names what there is, in the words of a result.
func (i Isolation) String() string {
	parts := []string{"pgid"}
	if i.PIDs {
		parts[0] = "pidns"
	}
	if i.Users {
		parts = append(parts, "userns")
	}
	if i.Landlock > 0 {
		parts = append(parts, "landlock")
	}
	if i.Seccomp {
		parts = append(parts, "seccomp")
	}
	return strings.Join(parts, "+")
}

// Missing says in words what the script could do for want of a mechanism.
func (i Isolation) Missing() []string {
	var out []string
	if !i.PIDs {
		out = append(out, "no process namespace: a script that hides its children well could leave one behind")
	}
	if i.Landlock == 0 {
		out = append(out, "no Landlock: a script can read and write what you can")
	}
	if !i.Seccomp {
		out = append(out, "no seccomp: a script can talk to Unix sockets, a container engine's among them")
	}
	return out
}

// isolationSteps are the combinations that are tried, the best first.
func isolationSteps(best Isolation) []Isolation {
	out := []Isolation{best}
	add := func(change func(*Isolation)) {
		next := best
		change(&next)
		if slices.Contains(out, next) {
			return
		}
		out = append(out, next)
	}
	add(func(i *Isolation) { i.PIDs, i.Users = false, false })
	add(func(i *Isolation) { i.Landlock = 0 })
	add(func(i *Isolation) { i.PIDs, i.Users, i.Landlock = false, false, 0 })
	add(func(i *Isolation) { *i = Isolation{} })
	return out
}
