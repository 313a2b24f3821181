package confine

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"hermes/core/crash"
)

// keptCaps are what a script of root keeps: rights over files, which is what root is here for.
// Tracing, mounting and the rest go, and with them root's way around everything else.
var keptCaps = []uintptr{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID,
}

// OnThread runs f on a thread that ends with it. The main thread is not taken: /proc shows it as
// the whole program.
func OnThread(f func()) {
	runtime.LockOSThread() // and never unlocked
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	crash.Go("script thread", func() {
		defer close(done)
		OnThread(f)
	})
	<-done
	runtime.UnlockOSThread() // nothing was restricted here
}

// DropCaps takes from the calling thread, and what it starts, root's way around every rule. Others
// than root have none of it.
func DropCaps() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		kept := false
		for _, k := range keptCaps {
			kept = kept || k == c
		}
		if kept {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("capability %d: %w", c, err)
		}
	}
	return dropInherited()
}

// dropInherited empties the inheritable set: a program that root starts gets what is in it whatever
// the bounds are, and some container engines fill it.
func dropInherited() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&head, &sets[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	sets[0].Inheritable, sets[1].Inheritable = 0, 0
	if err := unix.Capset(&head, &sets[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}
