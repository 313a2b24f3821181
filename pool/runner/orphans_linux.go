package runner

import "golang.org/x/sys/unix"

// Reap collects the dead children of this process that no Runner started: the orphans that the
// first process of a container inherits. It returns how many. A wait for any child would take the
// commands' own ends as well.
func Reap() int {
	kids.mu.Lock()
	defer kids.mu.Unlock()
	n := 0
	for _, p := range listProcesses() {
		if _, ours := kids.pids[p.pid]; ours || !p.dead || p.parent != self {
			continue
		}
		if pid, err := unix.Wait4(p.pid, nil, unix.WNOHANG, nil); err == nil && pid == p.pid {
			n++
		}
	}
	return n
}
