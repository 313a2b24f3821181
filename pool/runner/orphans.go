package runner

import "sync"

// children are the processes that Runners of this process have started and not yet collected, so
// that whoever collects orphans leaves them alone.
type children struct {
	mu   sync.Mutex
	pids map[int]struct{}
}

var kids = children{pids: map[int]struct{}{}}

// forkLocked forks. Nobody can look meanwhile.
func (c *children) forkLocked(fork func() (int, error)) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := fork()
	if err == nil {
		c.pids[pid] = struct{}{}
	}
	return pid, err
}

func (c *children) forgetChild(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pids, pid)
}
