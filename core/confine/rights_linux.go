package confine

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rights are what a thread may do to files: root's programs may have become somebody else, and have
// fewer capabilities than we.
type rights struct {
	uid, gid int
	groups   []uint32
	any      bool   // who it is does not matter
	effect   uint64 // capabilities that are in effect
	permit   uint64 // and those that could be
}

// overFiles are capabilities with which it does not matter who somebody is: every file is open, and
// every attribute.
const overFiles = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID

// rightsOfThread reads those of another thread. Of one with rights over all files only the
// capabilities are, which is cheap.
func rightsOfThread(tid int) (rights, error) {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3, Pid: int32(tid)}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&head, &sets[0]); err != nil {
		return rights{}, err
	}
	effect := uint64(sets[0].Effective) | uint64(sets[1].Effective)<<32
	if effect&overFiles == overFiles {
		return rights{effect: effect, any: true}, nil
	}
	return readRights(tid)
}

func readRights(tid int) (rights, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return rights{}, err
	}
	var r rights
	found := 0
	for line := range strings.SplitSeq(string(data), "\n") {
		name, rest, _ := strings.Cut(line, ":")
		words := strings.Fields(rest)
		switch {
		case name == "Uid" && len(words) == 4:
			r.uid, err = strconv.Atoi(words[3])
		case name == "Gid" && len(words) == 4:
			r.gid, err = strconv.Atoi(words[3])
		case name == "Groups":
			for _, w := range words {
				var g uint64
				g, err = strconv.ParseUint(w, 10, 32)
				r.groups = append(r.groups, uint32(g))
			}
		case name == "CapPrm" && len(words) == 1:
			r.permit, err = strconv.ParseUint(words[0], 16, 64)
		case name == "CapEff" && len(words) == 1:
			r.effect, err = strconv.ParseUint(words[0], 16, 64)
		default:
			continue
		}
		if err != nil {
			return r, fmt.Errorf("status of thread %d: %w", tid, err)
		}
		found++
	}
	if found != 5 {
		return r, fmt.Errorf("status of thread %d has %d of 5 lines", tid, found)
	}
	return r, nil
}

// loadThread reads those of the calling thread.
func (r *rights) loadThread() (err error) {
	*r, err = readRights(unix.Gettid())
	return err
}

// takeRights gives the calling thread these rights over files; own are its own, to which back
// returns.
func (r rights) takeRights(own rights) (back func(), err error) {
	other := !r.any && (r.uid != own.uid || r.gid != own.gid || !slices.Equal(r.groups, own.groups))
	back = func() {
		_ = setEffective(own.permit, own.permit)
		if other {
			_ = own.setIDs()
		}
		_ = setEffective(own.effect, own.permit)
	}
	if other {
		err = r.setIDs()
	}
	if err == nil {
		err = setEffective(r.effect&own.permit, own.permit)
	}
	if err != nil {
		back()
	}
	return back, err
}

// setIDs sets user and groups for files. Two of the calls return what was before, never an error:
// the second time that tells.
func (r rights) setIDs() error {
	var first unsafe.Pointer
	if len(r.groups) > 0 {
		first = unsafe.Pointer(&r.groups[0])
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(r.groups)), uintptr(first), 0); e != 0 {
		return fmt.Errorf("groups: %w", e)
	}
	for what, id := range map[uintptr]int{unix.SYS_SETFSGID: r.gid, unix.SYS_SETFSUID: r.uid} {
		_, _, _ = unix.RawSyscall(what, uintptr(id), 0, 0)
		if is, _, _ := unix.RawSyscall(what, uintptr(id), 0, 0); int(is) != id {
			return unix.EPERM
		}
	}
	return nil
}

func setEffective(effect, permit uint64) error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	sets := [2]unix.CapUserData{
		{Effective: uint32(effect), Permitted: uint32(permit)},
		{Effective: uint32(effect >> 32), Permitted: uint32(permit >> 32)},
	}
	return unix.Capset(&head, &sets[0])
}
