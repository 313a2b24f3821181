package runner

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

var self = os.Getpid()

const zombie = 5 // SZOMB of sys/proc.h

// listProcesses lists all processes of the system. macOS has no session number here.
func listProcesses() []proc {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	list := make([]proc, len(all))
	for i, k := range all {
		list[i] = proc{
			pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
			begun: startTime(k.Proc.P_starttime), dead: k.Proc.P_stat == zombie,
		}
	}
	return list
}

// parentOf is the process above one, 0 when that is gone.
func parentOf(pid int) int {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(k.Eproc.Ppid)
}

func startTime(t unix.Timeval) uint64 { return uint64(t.Sec)*1_000_000 + uint64(t.Usec) }

// markProcess has nothing to put a number on here.
func markProcess(int, string) {}

// hasTag says whether the process carries the call's tag in its environment. macOS hides that of
// other users and of the programs that it protects: those are found by their parents, or not at
// all.
func (p proc) hasTag(tag string) bool {
	raw, err := unix.SysctlRaw("kern.procargs2", p.pid)
	return err == nil && bytes.Contains(raw, []byte("\x00"+tagName+"="+tag+"\x00"))
}

// readMark reads what the process carries: tags only.
func (p proc) readMark() (m mark) {
	if raw, err := unix.SysctlRaw("kern.procargs2", p.pid); err == nil {
		m.tags = tagsIn(raw)
	}
	return m
}

func (p proc) signal(s unix.Signal) { _ = unix.Kill(p.pid, s) }
