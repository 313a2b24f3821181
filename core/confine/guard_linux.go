package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"hermes/core/crash"
)

// Area is where attributes may be changed: at or below Write, but at, above and below Hidden.
type Area struct{ Write, Hidden []string }

func (a Area) contains(path string) bool {
	for _, h := range a.Hidden {
		if Under(path, h) || Under(h, path) {
			return false
		}
	}
	for _, dir := range a.Write {
		if Under(path, dir) {
			return true
		}
	}
	return false
}

// Guard answers the calls that change attributes (attributes_linux.go) of one thread's children,
// for ever. It opens the file itself, looks where it is, and acts on what it opened: there is no
// moment in which a path could come to lead elsewhere.
type Guard struct {
	area  Area
	calls map[uint32]call
	fd    int      // the listener
	hear  *os.File // ends when stop is closed
	stop  *os.File
	done  chan struct{}
	root  bool // callers may have other rights than we
	own   rights
}

// ApplyGuarded puts a filter on the calling thread, and on what it starts, with which attributes
// can be changed in the area only. Where the kernel gives no listener (another sandbox around us
// has one) they cannot be changed at all, and the Guard is nil. Close it.
func ApplyGuarded(area Area, keep uint32, families ...uint32) (*Guard, error) {
	f := Filter(unix.SECCOMP_RET_USER_NOTIF, keep, families...)
	fd, err := applyFilter(f, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if errors.Is(err, unix.EINVAL) { // before Linux 5.19
		fd, err = applyFilter(f, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	if err != nil {
		return nil, ApplyFilter(Filter(refuseWith(unix.EPERM), keep, families...))
	}
	g := &Guard{area: area, calls: guardedCalls(), fd: fd, done: make(chan struct{}), root: os.Geteuid() == 0}
	const syncWakeUp = 1 // since Linux 6.6 the caller goes on at once, on the processor of the answer
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, syncWakeUp)
	if g.hear, g.stop, err = os.Pipe(); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("a pipe for the guard of attributes: %w", err)
	}
	crash.Go("attributes guard", func() { OnThread(g.answerCalls) })
	return g, nil
}

// Close ends the answers: from now on the calls are refused. It may be called on nil.
func (g *Guard) Close() {
	if g != nil {
		_ = g.stop.Close()
		<-g.done
	}
}

// Over reports whether nobody can ask any more.
func (g *Guard) Over() bool {
	if g == nil {
		return true
	}
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

// notice is struct seccomp_notif.
type notice struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// answerCalls answers until it is closed, or until nobody is left who could ask.
func (g *Guard) answerCalls() {
	defer close(g.done)
	defer g.hear.Close()
	defer g.stop.Close()
	defer func() { _ = unix.Close(g.fd) }()
	if g.root {
		if err := g.own.loadThread(); err != nil {
			return
		}
	}
	hear := int32(g.hear.Fd())
	for {
		fds := []unix.PollFd{{Fd: int32(g.fd), Events: unix.POLLIN}, {Fd: hear, Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil || fds[1].Revents != 0 || fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notice
		if e := g.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); e == unix.ENOENT || e == unix.EINTR {
			continue // who asked has ended
		} else if e != 0 {
			return
		}
		a := answer{id: n.id}
		if err := g.performCall(&n); err != nil {
			a.err = -int32(errnoOf(err))
		}
		_ = g.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) // an error: it does not wait any more
	}
}

func (g *Guard) ioctl(what uintptr, arg unsafe.Pointer) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(g.fd), what, uintptr(arg))
	return e
}

func errnoOf(err error) unix.Errno {
	var e unix.Errno
	if errors.As(err, &e) && e != 0 {
		return e
	}
	return unix.EPERM
}

// performCall does what a call asks for, if it may.
func (g *Guard) performCall(n *notice) error {
	c, known := g.calls[uint32(n.nr)]
	if !known {
		return unix.EPERM
	}
	t := &target{pid: int(n.pid), fd: -1}
	q, err := t.readQuestion(c, n.args)
	if err != nil {
		return err
	}
	defer q.close()
	var r rights
	if g.root {
		if r, err = rightsOfThread(t.pid); err != nil {
			return err
		}
	}
	if err := g.checkWaiting(n); err != nil { // what was read is of the caller, whose number could have become another's
		return err
	}
	if g.root {
		back, err := r.takeRights(g.own)
		if err != nil {
			return err
		}
		defer back()
	}
	return g.openAndChange(c, t, q, n)
}

// openAndChange opens what is named and does what is asked for.
func (g *Guard) openAndChange(c call, t *target, q *question, n *notice) error {
	if err := t.openNamed(q); err != nil {
		return err
	}
	defer func() { _ = unix.Close(t.fd) }()
	var buf [unix.PathMax]byte
	length, err := unix.Readlink(t.fdPath(), buf[:])
	if err != nil || !g.area.contains(string(buf[:length])) {
		return unix.EACCES // as Landlock says it
	}
	return c.do(t, n.args)
}

// checkWaiting makes sure that the caller waits for its answer.
func (g *Guard) checkWaiting(n *notice) error {
	if e := g.ioctl(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&n.id)); e != 0 {
		return e
	}
	return nil
}

// target is the file of a call.
type target struct {
	pid int // the thread that called
	fd  int // of the file, opened with O_PATH
}

func (t *target) fdPath() string { return "/proc/self/fd/" + strconv.Itoa(t.fd) }

func (t *target) fileType() uint32 {
	var st unix.Stat_t
	if unix.Fstat(t.fd, &st) != nil {
		return 0
	}
	return st.Mode & unix.S_IFMT
}

// question is what a call names: a descriptor, or a path from one.
type question struct {
	base int // -1: none is needed
	path string
	link bool // a link at the end is meant itself
}

func (q *question) close() {
	if q.base >= 0 {
		_ = unix.Close(q.base)
	}
}

// descriptorOf reads a path that means a descriptor of whoever uses it, "/proc/self/fd/4";
// libraries change modes by them. (Without regexp, which would make the program that runs on far
// hosts a tenth larger.)
func descriptorOf(path string) (fd int, ok bool) {
	number, ok := strings.CutPrefix(path, "/dev/fd/")
	if !ok {
		who, of, _ := strings.Cut(strings.TrimPrefix(path, "/proc/"), "/fd/")
		if _, err := strconv.ParseUint(who, 10, 31); err != nil && who != "self" && who != "thread-self" {
			return 0, false
		}
		number, ok = of, strings.HasPrefix(path, "/proc/")
	}
	n, err := strconv.ParseUint(number, 10, 31)
	return int(n), ok && err == nil
}

const atCwd = unix.AT_FDCWD

// readQuestion reads what the call names from its caller's memory and descriptors.
func (t *target) readQuestion(c call, a [6]uint64) (*question, error) {
	q := &question{base: -1, link: c.link}
	at := atCwd
	if c.at >= 0 {
		at = int(int32(a[c.at]))
	}
	flags := uint64(0)
	if c.flags >= 0 {
		flags = a[c.flags] & 0xffffffff
	}
	if flags&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return nil, unix.EINVAL
	}
	q.link = q.link || flags&unix.AT_SYMLINK_NOFOLLOW != 0
	if c.path >= 0 && (a[c.path] != 0 || c.at < 0) {
		path, err := t.readString(a[c.path], unix.PathMax, unix.ENAMETOOLONG)
		if err != nil {
			return nil, err
		}
		if path == "" && flags&unix.AT_EMPTY_PATH == 0 {
			return nil, unix.ENOENT
		}
		q.path = path
		if fd, ok := descriptorOf(path); ok && !q.link {
			at, q.path = fd, ""
		}
	}
	if strings.HasPrefix(q.path, "/") {
		return q, nil
	}
	from := fmt.Sprintf("/proc/%d/cwd", t.pid)
	if at != atCwd {
		from = fmt.Sprintf("/proc/%d/fd/%d", t.pid, at)
	}
	base, err := unix.Open(from, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		err = unix.EBADF
	}
	if err != nil {
		return nil, err
	}
	q.base = base
	return q, nil
}

// openNamed opens what was named, with the rights of the caller.
func (t *target) openNamed(q *question) (err error) {
	if q.path == "" {
		t.fd, err = unix.FcntlInt(uintptr(q.base), unix.F_DUPFD_CLOEXEC, 0)
		return err
	}
	// The links of /proc would be those of this program.
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if q.link {
		how.Flags |= unix.O_NOFOLLOW
	}
	t.fd, err = unix.Openat2(max(q.base, 0), q.path, how)
	return err
}

// readMemory fills b from the caller's memory.
func (t *target) readMemory(at uint64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMReadv(t.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	if err == nil && n != len(b) {
		err = unix.EFAULT
	}
	return err
}

// readString reads a string that ends with NUL; one that does not within most bytes is the error
// long.
func (t *target) readString(at uint64, most int, long unix.Errno) (string, error) {
	const page = 4096
	var out []byte
	for len(out) < most {
		part := make([]byte, min(most-len(out), page-int(at%page))) // the next page may not be there
		if err := t.readMemory(at, part); err != nil {
			return "", err
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(append(out, part[:end]...)), nil
		}
		out, at = append(out, part...), at+uint64(len(part))
	}
	return "", long
}
