package runner

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// emptyFor is how long the first process of a namespace may take to see that it is alone and to
// end.
const emptyFor = 50 * time.Millisecond

// endNamespace ends what a command of bubblewrap left running in its namespace. Nobody could end it
// later: the numbers of its processes mean nothing to the next command, which has a namespace of
// its own.
func (j *job) endNamespace() []string {
	j.inside = j.io.readInside()
	pid := j.inside.Pid
	if pid <= 1 {
		return nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil // it has ended
	}
	defer func() { _ = unix.Close(fd) }()
	if !(proc{pid: pid}).hasTag(j.child.tag) { // the number is another process's by now, or nobody's
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

// inside is what bubblewrap says about a namespace.
type inside struct {
	Pid  int  `json:"child-pid"` // its first process; 0: it did not say
	Code *int `json:"exit-code"` // nil: the command did not begin
}

// readInside reads what was said. The namespace's first process may hold the other end for longer.
func (p *plumbing) readInside() inside {
	var said inside
	if p.info == nil {
		return said
	}
	_ = p.info.SetReadDeadline(time.Now().Add(time.Second)) // it was written before bubblewrap ended
	d := json.NewDecoder(io.LimitReader(p.info, 4<<10))
	for said.Code == nil && d.Decode(&said) == nil {
		continue
	}
	return said
}

// whyNotMade says why the sandbox could not be made, and so nothing of the command ran; "" when it
// may have run. A mount that goes away at that moment is enough for bubblewrap to give up.
func (j *job) whyNotMade(e exit) string {
	if j.io.info == nil || e.code != 1 || e.signal != "" || j.inside.Pid == 0 || j.inside.Code != nil {
		return ""
	}
	text, ok := strings.CutPrefix(j.out.textSoFar(), "bwrap: ")
	if !ok {
		return ""
	}
	return strings.TrimSpace(text)
}
