package execcode

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"hermes/core/confine"
	"hermes/core/crash"
)

// bestIsolation is what this kernel may give; only a start tells.
func bestIsolation() Isolation {
	return Isolation{PIDs: true, Users: os.Geteuid() != 0, Landlock: confine.Landlock(), Seccomp: confine.Arch() != 0}
}

// namespaceFlags are the namespaces of a script.
func (i Isolation) namespaceFlags(network bool) uintptr {
	var f uintptr
	if i.PIDs {
		f = unix.CLONE_NEWPID | unix.CLONE_NEWIPC
		if i.Users {
			f |= unix.CLONE_NEWUSER
		}
		if !network {
			f |= unix.CLONE_NEWNET
		}
	}
	return f
}

// startRestricted starts the command from a thread of its own that was restricted before: a child
// inherits what its thread may do. The thread is never used again, and stays until ended is closed,
// because the child dies with it.
func startRestricted(cmd *exec.Cmd, l launch, ended <-chan struct{}) error {
	var rules *confine.Rules
	if l.iso.Landlock > 0 {
		set, err := l.rules.takeRules(l.policy, l.iso.Landlock)
		if err != nil {
			return err
		}
		defer l.rules.giveBack(set)
		rules = set.Rules
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: l.iso.namespaceFlags(l.policy.network)}
	started := make(chan error, 1)
	crash.Go("script thread", func() {
		confine.OnThread(func() {
			guard, err := restrictThread(l, rules)
			if err == nil {
				err = cmd.Start()
			}
			started <- err
			if err == nil {
				<-ended
			}
			guard.Close()
		})
	})
	return <-started
}

// restrictThread takes from the calling thread what the script is not to have.
func restrictThread(l launch, rules *confine.Rules) (*confine.Guard, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no-new-privileges: %w", err)
	}
	if os.Geteuid() == 0 {
		if err := confine.DropCaps(); err != nil {
			return nil, err
		}
	}
	if rules != nil {
		if err := rules.Apply(); err != nil {
			return nil, err
		}
	}
	if !l.iso.Seccomp {
		return nil, nil
	}
	keep, families := uint32(l.iso.namespaceFlags(l.policy.network)), l.policy.socketFamilies()
	if rules == nil { // every file is open to it
		return nil, seccompError(confine.ApplyFilter(confine.Filter(confine.AsTheyAre, keep, families...)))
	}
	guard, err := confine.ApplyGuarded(l.policy.attributeArea(), keep, families...)
	return guard, seccompError(err)
}

func seccompError(err error) error {
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

// limitChild sets limits on a child that waits for its job, and names its user inside of its
// namespace.
func limitChild(pid int, l launch) error {
	if l.iso.Users && l.iso.PIDs {
		if err := mapUser(pid); err != nil {
			return err
		}
	}
	set := func(what int, n uint64) error {
		lim := unix.Rlimit{Cur: n, Max: n}
		var old unix.Rlimit
		if err := unix.Prlimit(pid, what, nil, &old); err == nil && old.Max < n {
			return nil // stricter already
		}
		if err := unix.Prlimit(pid, what, &lim, nil); err != nil {
			return fmt.Errorf("resource limit %d: %w", what, err)
		}
		return nil
	}
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 1 << 30, unix.RLIMIT_NOFILE: 1024}
	if l.limits.Memory > 0 {
		limits[unix.RLIMIT_DATA] = uint64(l.limits.Memory)
	}
	if l.iso.Users && l.iso.PIDs { // counted in the namespace; outside of it the person's other programs count too
		limits[unix.RLIMIT_NPROC] = uint64(l.limits.Procs)
	}
	for what, n := range limits {
		if err := set(what, n); err != nil {
			return err
		}
	}
	return nil
}

// mapUser lets the child be who we are inside of its user namespace too.
func mapUser(pid int) error {
	dir := "/proc/" + strconv.Itoa(pid)
	uid, gid := os.Geteuid(), os.Getegid()
	for _, m := range []struct{ file, text string }{
		{"/setgroups", "deny"}, {"/uid_map", fmt.Sprintf("%d %d 1", uid, uid)}, {"/gid_map", fmt.Sprintf("%d %d 1", gid, gid)},
	} {
		if err := os.WriteFile(dir+m.file, []byte(m.text), 0); err != nil {
			return fmt.Errorf("user namespace: %w", err)
		}
	}
	return nil
}

// socketFamilies are the sockets that a script may have.
func (p policy) socketFamilies() []uint32 {
	if !p.network {
		return nil
	}
	return []uint32{unix.AF_INET, unix.AF_INET6}
}
