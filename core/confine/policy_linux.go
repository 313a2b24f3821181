package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"hermes/core/crash"
)

// Probe returns nil when an engine keeps commands in on this machine, else why not. It tries each
// once.
func Probe(e Engine) error {
	if e == Bubblewrap {
		_, err := bubblewrap()
		return err
	}
	return probe()
}

// probe tries on a thread of its own.
var probe = sync.OnceValue(func() error {
	done := make(chan error, 1)
	crash.Go("sandbox probe", func() {
		OnThread(func() {
			guard, err := Policy{Mode: Strict, Project: os.TempDir()}.Enter()
			guard.Close()
			done <- err
		})
	})
	return <-done
})

// Stamp changes when files came to stand beside hidden ones, for rules are made of what there was.
func (p Policy) Stamp() string {
	var b strings.Builder
	for _, part := range append([]string{string(p.Mode), p.Project}, append(p.Hide, p.Path...)...) {
		b.WriteString(part)
		b.WriteByte(0)
	}
	if p.Mode == Project {
		for _, dir := range parentFolders(p.hiddenPlaces()) {
			var st unix.Stat_t
			if unix.Stat(dir, &st) == nil {
				b.WriteString(strconv.FormatInt(st.Mtim.Nano(), 36))
				b.WriteByte(0)
			}
		}
	}
	return b.String()
}

// parentFolders are the folders above the paths, each once.
func parentFolders(paths []string) []string {
	var out []string
	for _, path := range paths {
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			if slices.Contains(out, dir) {
				break
			}
			out = append(out, dir)
			if dir == "/" {
				break
			}
		}
	}
	return out
}

// Enter puts the policy on the calling thread, which must be one of OnThread, and so on all that it
// starts. Close the Guard when all that has ended.
func (p Policy) Enter() (*Guard, error) {
	abi := Landlock()
	if abi == 0 {
		return nil, errors.New("this kernel has no Landlock (it needs Linux 5.13, and landlock among its security modules)")
	}
	if Arch() == 0 {
		return nil, errors.New("there is no filter of system calls for this kind of processor")
	}
	rules, err := p.makeRules(abi)
	if err != nil {
		return nil, err
	}
	defer rules.Close()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no-new-privileges: %w", err)
	}
	if os.Geteuid() == 0 {
		if err := DropCaps(); err != nil {
			return nil, err
		}
	}
	if err := rules.Apply(); err != nil {
		return nil, err
	}
	guard, err := ApplyGuarded(Area{append(p.writableFolders(), "/dev/shm"), p.hiddenPlaces()}, 0, p.socketFamilies()...)
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	return guard, nil
}

// socketFamilies are the kinds of sockets, the same with each engine.
func (p Policy) socketFamilies() []uint32 {
	if p.Mode == Project {
		return []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	}
	return nil
}

func (p Policy) hiddenPlaces() []string { return Existing(append(Private(), p.Hide...)) }

// systemFolders are the folders that strict mode shows.
func (p Policy) systemFolders() []string {
	return append([]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/etc", "/sys"}, p.Path...)
}

// writableFolders are the folders that may be changed, links followed.
func (p Policy) writableFolders() []string {
	out := tempFolders()
	if p.Mode == Project {
		out = append(out, cacheFolders()...)
	}
	return Existing(append(out, p.Project))
}

func errNoMode(m Mode) error { return fmt.Errorf("no sandbox is called %q", m) }

func (p Policy) makeRules(abi int) (*Rules, error) {
	r, err := NewRules(abi)
	if err != nil {
		return nil, err
	}
	hidden := p.hiddenPlaces()
	var errs []error
	switch p.Mode {
	case Project:
		errs = append(errs, r.AllowBut("/", Read, append(slices.Clone(hidden), "/proc", "/dev"), true))
	case Strict:
		for _, dir := range Existing(p.systemFolders()) {
			errs = append(errs, r.AllowBut(dir, Read, hidden, true))
		}
	default:
		return nil, errNoMode(p.Mode)
	}
	for _, dir := range p.writableFolders() {
		errs = append(errs, r.AllowBut(dir, Write, hidden, true))
	}
	errs = append(errs, allowDevices(r), r.Allow("/proc", Read))
	if err := errors.Join(errs...); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func allowDevices(r *Rules) error {
	errs := []error{r.Allow("/dev", List), r.Allow("/dev/shm", Write), r.Allow("/dev/pts", Read|File)}
	for _, dev := range []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx"} {
		errs = append(errs, r.Allow("/dev/"+dev, File))
	}
	return errors.Join(errs...)
}
