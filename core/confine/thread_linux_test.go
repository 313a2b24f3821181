package confine

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/core/testskip"
)

// What root starts after DropCaps has none of root's ways around the rules, whatever was
// inheritable before.
func TestDropCaps(t *testing.T) {
	if os.Geteuid() != 0 {
		testskip.Missing(t, "only root has capabilities to drop")
	}
	done := make(chan string, 1)
	go OnThread(func() {
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var sets [2]unix.CapUserData
		err := unix.Capget(&head, &sets[0])
		if err == nil {
			sets[0].Inheritable, sets[1].Inheritable = sets[0].Permitted, sets[1].Permitted
			err = unix.Capset(&head, &sets[0])
		}
		if err == nil {
			err = DropCaps()
		}
		if err != nil {
			done <- err.Error()
			return
		}
		out, err := exec.Command("/bin/cat", "/proc/self/status").CombinedOutput()
		if err != nil {
			done <- err.Error()
			return
		}
		done <- string(out)
	})
	status := <-done
	allowed := uint64(0)
	for _, c := range keptCaps {
		allowed |= 1 << c
	}
	for _, set := range []string{"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"} {
		_, rest, ok := strings.Cut(status, set)
		text, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		have, err := strconv.ParseUint(text, 16, 64)
		if !ok || err != nil || have&^allowed != 0 {
			t.Errorf("%s %s, %v, may have %x: %.300s", set, text, err, allowed, status)
		}
	}
}
