package runner

import (
	"encoding/json"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// emptyFor is how long the first process of a namespace may take to see that it is alone and to end.
const emptyFor = 50 * time.Millisecond

// endNamespace ends what a command of bubblewrap left running in its namespace. Nobody could end it later: the numbers of its processes mean
// nothing to the next command, which has a namespace of its own.
func (j *job) endNamespace() []string {
	pid := j.io.firstInside()
	if pid <= 1 {
		return nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil // it has ended
	}
	defer func() { _ = unix.Close(fd) }()
	if !(proc{pid: pid}).tagged(j.child.tag) { // the number is another process's by now, or nobody's
		return nil
	}
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(emptyFor/time.Millisecond)); n > 0 || err != nil {
		return nil
	}
	if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
		return nil
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1000)
	return []string{"what the command left running ended with it: in a sandbox of bubblewrap nothing outlives its command. " +
		"Start it as a background process of its own"}
}

// firstInside is the first process of the namespace, 0 when bubblewrap did not say.
func (p *plumbing) firstInside() int {
	if p.info == nil {
		return 0
	}
	var said struct {
		Pid int `json:"child-pid"`
	}
	_ = p.info.SetReadDeadline(time.Now().Add(time.Second)) // it was written before the command began
	if json.NewDecoder(io.LimitReader(p.info, 4<<10)).Decode(&said) != nil {
		return 0
	}
	return said.Pid
}
