package confine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is written out here rather than made by a library: it is one list, and the tables of the libraries (every system call of
// every machine) would be built at each start of the program.

// nsFlags are the flags of clone that make namespaces.
const nsFlags = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

// forbidden are calls that a script has no use for and an attacker has: other processes, mounts, keys, the kernel itself.
func forbidden() []uint32 {
	return []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
		unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
	}
}

// Arch is the machine's number in a filter; 0 means that none is made for it.
func Arch() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// filter is a seccomp program under construction.
type filter []unix.SockFilter

const (
	offNr   = 0
	offArch = 4
	offArg  = 16 // low halves of the arguments, 8 bytes apart, on little-endian machines
)

func (f *filter) add(code uint16, k uint32, jt, jf uint8) {
	*f = append(*f, unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf})
}

func (f *filter) load(off uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, off, 0, 0) }

func (f *filter) ret(k uint32) { f.add(unix.BPF_RET|unix.BPF_K, k, 0, 0) }

func refuse(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// refuseCall refuses one system call.
func (f *filter) refuseCall(nr uint32, e unix.Errno) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, 1)
	f.ret(refuse(e))
}

// Filter is the filter for programs that are not trusted. Keep are the namespace flags that their own start uses; families are the kinds of
// sockets that they may have, at most 100: none means no network.
func Filter(keep uint32, families ...uint32) []unix.SockFilter {
	var f filter
	f.load(offArch)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, Arch(), 1, 0)
	f.ret(refuse(unix.EPERM))
	f.load(offNr)
	f.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0x40000000, 0, 1) // the x32 way around the numbers
	f.ret(refuse(unix.EPERM))
	for _, nr := range forbidden() {
		f.refuseCall(nr, unix.EPERM)
	}
	f.refuseCall(unix.SYS_CLONE3, unix.ENOSYS) // its flags cannot be looked at; libraries go back to clone then

	// clone: no namespaces but exactly those of the start itself, which needs them after this filter is on.
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_CLONE, 0, 6)
	f.load(offArg)
	f.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, nsFlags, 0, 0)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 2, 0)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, keep, 1, 0)
	f.ret(refuse(unix.EPERM))
	f.ret(unix.SECCOMP_RET_ALLOW)

	// socket: what was asked for only. Unix sockets lead to engines and agents that do as they are told.
	if n := uint8(len(families)); n > 0 {
		f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_SOCKET, 0, n+3)
		f.load(offArg)
		for i, family := range families {
			f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, family, n-uint8(i), 0)
		}
		f.ret(refuse(unix.EACCES))
		f.ret(unix.SECCOMP_RET_ALLOW)
	} else {
		f.refuseCall(unix.SYS_SOCKET, unix.EACCES)
	}

	// ioctl: nothing is typed into a terminal.
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_IOCTL, 0, 4)
	f.load(offArg + 8)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.TIOCSTI, 1, 0)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.TIOCLINUX, 0, 1)
	f.ret(refuse(unix.EPERM))
	f.ret(unix.SECCOMP_RET_ALLOW)
	return f
}

// ApplyFilter puts the filter on the calling thread, and so on every process that it starts.
func ApplyFilter(f []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(f)
	if e != 0 {
		return e
	}
	return nil
}
