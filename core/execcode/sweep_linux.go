package execcode

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// rounds bounds a sweep: what forks faster than it is stopped is stopped first, so a few are
// enough.
const rounds = 40

// endLeftovers ends what a script left behind. With a process namespace there is nothing: it ended
// with its first process.
func endLeftovers(pid int, tag string, iso Isolation) {
	if iso.PIDs {
		return
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
	// One look that finds nothing proves nothing: what was forked after the list was read, by a
	// process that had ended before it was looked at, is in neither. Three looks in a row leave no
	// room for it.
	for round, empty := 0, 0; round < rounds && empty < 3; round++ {
		left := taggedProcesses(tag)
		if empty++; len(left) > 0 {
			empty = 0
		}
		for _, s := range []unix.Signal{unix.SIGSTOP, unix.SIGKILL} { // stopped first: a bomb must not refill while it is cleared
			for _, p := range left {
				_ = unix.Kill(p, s)
			}
		}
	}
}

// taggedProcesses lists the processes that carry a script's tag in the environment that they were
// started with.
func taggedProcesses(tag string) []int {
	want := []byte(tagName + "=" + tag)
	var out []int
	for _, pid := range listPIDs() {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil {
			continue
		}
		for kv := range bytes.SplitSeq(env, []byte{0}) {
			if bytes.Equal(kv, want) {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}

func listPIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// countProcesses is how many processes and threads the machine has.
func countProcesses() int {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0
	}
	return int(s.Procs)
}

// hasTooMany reports whether a script has more than most processes. Root's are not bound by
// RLIMIT_NPROC, so somebody has to count. That takes a while, so it is done only when the machine
// as a whole has many more than before.
func hasTooMany(pid int, iso Isolation, most, before int) bool {
	if !iso.PIDs || countProcesses()-before <= most/2 {
		return false
	}
	own, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/pid")
	if err != nil {
		return false
	}
	n := 0
	for _, p := range listPIDs() {
		if ns, err := os.Readlink("/proc/" + strconv.Itoa(p) + "/ns/pid"); err == nil && ns == own {
			n++
		}
	}
	return n > most
}
