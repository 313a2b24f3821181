package runner

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

var self = os.Getpid()

// listProcesses lists all processes of the system. What vanishes meanwhile is left out.
func listProcesses() []proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	list := make([]proc, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if p, ok := parseStat(pid, stat); err == nil && ok {
			list = append(list, p)
		}
	}
	return list
}

// parentOf is the process above one, 0 when that is gone. Hermes asks at every start, so it reads
// of those above it alone.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	p, ok := parseStat(pid, stat)
	if err != nil || !ok {
		return 0
	}
	return p.parent
}

// parseStat reads a line of /proc/PID/stat. The program's name, in parentheses, may itself hold
// parentheses and blanks.
func parseStat(pid int, stat []byte) (proc, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return proc{}, false
	}
	f := bytes.Fields(stat[end+1:]) // state, parent, group, session, ..., start time as the 20th
	if len(f) < 20 {
		return proc{}, false
	}
	p := proc{pid: pid, dead: f[0][0] == 'Z' || f[0][0] == 'X'}
	p.parent, _ = strconv.Atoi(string(f[1]))
	p.group, _ = strconv.Atoi(string(f[2]))
	p.session, _ = strconv.Atoi(string(f[3]))
	p.begun, _ = strconv.ParseUint(string(f[19]), 10, 64)
	return p, true
}

// markProcess makes the number of a call the limit of file locks of the process that was just
// started. Linux pays no attention to that limit since 2.4.25, and inherits it like the
// environment, and programs leave it alone: `env -i` and a daemon that was forked twice keep it.
// Where somebody set a lower limit there is no number, only the tag.
func markProcess(pid int, tag string) {
	n, err := strconv.ParseUint(markOf(tag), 10, 64)
	if err == nil {
		_ = unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: n, Max: n}, nil)
	}
}

// hasTag says whether the process carries the call's tag in its environment, or its number.
func (p proc) hasTag(tag string) bool {
	at := "/proc/" + strconv.Itoa(p.pid)
	limits, err := os.ReadFile(at + "/limits")
	if err == nil && bytes.Contains(limits, []byte(" "+markOf(tag)+" ")) {
		return true
	}
	env, err := os.ReadFile(at + "/environ")
	if err != nil {
		return false
	}
	want := []byte(tagName + "=" + tag)
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(kv, want) {
			return true
		}
	}
	return false
}

// readMark reads what the process carries. A program can lower the number: where the first process
// of the machine has no limit of file locks, a lower one counts as a number.
func (p proc) readMark() (m mark) {
	if n, limited := locksLimit(p.pid); limited {
		_, usual := locksLimit(1)
		if !usual || n >= leastMark && n < endOfMarks {
			m.number = strconv.FormatUint(n, 10)
		}
	}
	// There is none of one that has ended, or hides.
	env, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	m.tags = tagsIn(env)
	return m
}

// locksLimit is how many files a process may lock, and whether that is limited at all.
func locksLimit(pid int) (n uint64, limited bool) {
	limits, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits") // as above
	for line := range bytes.Lines(limits) {
		if rest, ok := bytes.CutPrefix(line, []byte("Max file locks")); ok {
			f := bytes.Fields(rest) // soft, hard, unit
			n, err := strconv.ParseUint(string(f[0]), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// signal signals this very process: a handle is taken first, and the start time compared after, so
// that a number that was used again meanwhile is not hit.
func (p proc) signal(s unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if errors.Is(err, unix.ENOSYS) {
		_ = unix.Kill(p.pid, s)
		return
	}
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/stat")
	if now, ok := parseStat(p.pid, stat); err == nil && ok && now.begun == p.begun {
		_ = unix.PidfdSendSignal(fd, s, nil, 0)
	}
}
