package confine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is written out here rather than made by a library: it is one list, and the tables of
// the libraries (every system call of every machine) would be built at each start of the program.

// nsFlags are the flags of clone that make namespaces.
const nsFlags = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

// forbiddenCalls are calls that a script has no use for and an attacker has: other processes,
// mounts, keys, the kernel itself.
func forbiddenCalls() []uint32 {
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

func (f *filter) addInstruction(code uint16, k uint32, jt, jf uint8) {
	*f = append(*f, unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf})
}

func (f *filter) addLoad(off uint32) {
	f.addInstruction(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, off, 0, 0)
}

func (f *filter) addReturn(k uint32) { f.addInstruction(unix.BPF_RET|unix.BPF_K, k, 0, 0) }

func refuseWith(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// refuseCall refuses one system call.
func (f *filter) refuseCall(nr uint32, e unix.Errno) {
	f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, 1)
	f.addReturn(refuseWith(e))
}

// missingCalls are calls that are answered as by an older kernel: what they do is in memory, where
// a filter cannot look, and programs go back to others then.
func missingCalls() []uint32 {
	return []uint32{
		unix.SYS_CLONE3, unix.SYS_OPENAT2, sysSetxattrat, sysRemovexattrat, sysFileSetattr,
	}
}

// AsTheyAre lets programs change attributes, where something else keeps them in.
const AsTheyAre uint32 = 0

// Filter is the filter for programs that are not trusted. Attributes is what calls that change
// attributes of files get: AsTheyAre, or what a filter returns. Keep are the namespace flags that
// their own start uses; families are the kinds of sockets that they may have, at most 100: none
// means no network.
func Filter(attributes, keep uint32, families ...uint32) []unix.SockFilter {
	var f filter
	f.addLoad(offArch)
	f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, Arch(), 1, 0)
	f.addReturn(refuseWith(unix.EPERM))
	f.addLoad(offNr)
	f.addInstruction(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0x40000000, 0, 1) // the x32 way around the numbers
	f.addReturn(refuseWith(unix.EPERM))
	for _, nr := range forbiddenCalls() {
		f.refuseCall(nr, unix.EPERM)
	}
	for _, nr := range missingCalls() {
		f.refuseCall(nr, unix.ENOSYS)
	}
	f.addAttributes(attributes)

	// clone: no namespaces but exactly those of the start itself, which needs them after this
	// filter is on.
	f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_CLONE, 0, 6)
	f.addLoad(offArg)
	f.addInstruction(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, nsFlags, 0, 0)
	f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 2, 0)
	f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, keep, 1, 0)
	f.addReturn(refuseWith(unix.EPERM))
	f.addReturn(unix.SECCOMP_RET_ALLOW)

	// socket: what was asked for only. Unix sockets lead to engines and agents that do as they are
	// told.
	if n := uint8(len(families)); n > 0 {
		f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_SOCKET, 0, n+3)
		f.addLoad(offArg)
		for i, family := range families {
			f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, family, n-uint8(i), 0)
		}
		f.addReturn(refuseWith(unix.EACCES))
		f.addReturn(unix.SECCOMP_RET_ALLOW)
	} else {
		f.refuseCall(unix.SYS_SOCKET, unix.EACCES)
	}

	// ioctl: nothing is typed into a terminal, no flags of files are changed.
	n := uint8(len(ioctls))
	f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_IOCTL, 0, n+3)
	f.addLoad(offArg + 8)
	for i, what := range ioctls {
		f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, what, n-uint8(i), 0)
	}
	f.addReturn(unix.SECCOMP_RET_ALLOW)
	f.addReturn(refuseWith(unix.EPERM))
	f.addReturn(unix.SECCOMP_RET_ALLOW)
	return f
}

// addAttributes adds what happens to attributes of files.
func (f *filter) addAttributes(answer uint32) {
	if answer == AsTheyAre {
		for nr, mode := range setsMode {
			f.refuseBits(nr, mode, setIDs, -1, 0)
		}
	} else {
		for nr := range guardedCalls() {
			f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, 1)
			f.addReturn(answer)
		}
	}
	for nr, args := range makesFile {
		f.refuseBits(nr, args[0], setIDs, args[1], unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY)
	}
}

// refuseBits refuses a call that has one of these bits in an argument, if it has one of others in
// another argument, where there is one (-1).
func (f *filter) refuseBits(nr uint32, arg int, bits uint32, other int, only uint32) {
	skip := uint8(4)
	if other >= 0 {
		skip += 2
	}
	f.addInstruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, skip)
	if other >= 0 {
		f.addLoad(offArg + 8*uint32(other))
		f.addInstruction(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, only, 0, 3)
	}
	f.addLoad(offArg + 8*uint32(arg))
	f.addInstruction(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, bits, 0, 1)
	f.addReturn(refuseWith(unix.EPERM))
	f.addLoad(offNr)
}

// ioctls are those that no program gets: they write into terminals, or change flags of files
// through a descriptor that can only be read.
var ioctls = []uint32{
	unix.TIOCSTI, unix.TIOCLINUX,
	0x40086602, 0x40046602, // FS_IOC_SETFLAGS, for 64 and 32 bits
	0x401c5820,                         // FS_IOC_FSSETXATTR
	0x40087602, 0x40047602, 0x40086604, // FS_IOC_SETVERSION, EXT4_IOC_SETVERSION
	0x800c6613, 0x40806685, // FS_IOC_SET_ENCRYPTION_POLICY, FS_IOC_ENABLE_VERITY
	0x40047211, 0x4008941a, // FAT_IOCTL_SET_ATTRIBUTES, BTRFS_IOC_SUBVOL_SETFLAGS
}

// ApplyFilter puts the filter on the calling thread, and so on every process that it starts.
func ApplyFilter(f []unix.SockFilter) error {
	_, err := applyFilter(f, 0)
	return err
}

func applyFilter(f []unix.SockFilter, flags uintptr) (listener int, err error) {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	fd, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(f)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}
