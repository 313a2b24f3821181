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

// Probe returns nil when an engine keeps commands in on this machine, else why not. It tries each once.
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
		OnThread(func() { done <- Policy{Mode: Strict, Project: os.TempDir()}.Enter() })
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
		for _, dir := range parents(p.hidden()) {
			var st unix.Stat_t
			if unix.Stat(dir, &st) == nil {
				b.WriteString(strconv.FormatInt(st.Mtim.Nano(), 36))
				b.WriteByte(0)
			}
		}
	}
	return b.String()
}

// parents are the folders above the paths, each once.
func parents(paths []string) []string {
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

// Enter puts the policy on the calling thread, which must be one of OnThread, and so on all that it starts.
func (p Policy) Enter() error {
	abi := Landlock()
	if abi == 0 {
		return errors.New("this kernel has no Landlock (it needs Linux 5.13, and landlock among its security modules)")
	}
	if Arch() == 0 {
		return errors.New("there is no filter of system calls for this kind of processor")
	}
	rules, err := p.rules(abi)
	if err != nil {
		return err
	}
	defer rules.Close()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no-new-privileges: %w", err)
	}
	if os.Geteuid() == 0 {
		if err := DropCaps(); err != nil {
			return err
		}
	}
	if err := rules.Apply(); err != nil {
		return err
	}
	if err := ApplyFilter(p.filter()); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

// filter is that of system calls, the same with each engine.
func (p Policy) filter() []unix.SockFilter {
	if p.Mode == Project {
		return Filter(0, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
	}
	return Filter(0)
}

func (p Policy) hidden() []string { return Existing(append(Private(), p.Hide...)) }

// system are the folders that strict mode shows.
func (p Policy) system() []string {
	return append([]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/etc", "/sys"}, p.Path...)
}

// writable are the folders that may be changed, links followed.
func (p Policy) writable() []string {
	out := temps()
	if p.Mode == Project {
		out = append(out, caches()...)
	}
	return Existing(append(out, p.Project))
}

func errNoMode(m Mode) error { return fmt.Errorf("no sandbox is called %q", m) }

func (p Policy) rules(abi int) (*Rules, error) {
	r, err := NewRules(abi)
	if err != nil {
		return nil, err
	}
	hidden := p.hidden()
	var errs []error
	switch p.Mode {
	case Project:
		errs = append(errs, r.AllowBut("/", Read, append(slices.Clone(hidden), "/proc", "/dev"), true))
	case Strict:
		for _, dir := range Existing(p.system()) {
			errs = append(errs, r.AllowBut(dir, Read, hidden, true))
		}
	default:
		return nil, errNoMode(p.Mode)
	}
	for _, dir := range p.writable() {
		errs = append(errs, r.AllowBut(dir, Write, hidden, true))
	}
	errs = append(errs, devices(r), r.Allow("/proc", Read))
	if err := errors.Join(errs...); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func devices(r *Rules) error {
	errs := []error{r.Allow("/dev", List), r.Allow("/dev/shm", Write), r.Allow("/dev/pts", Read|File)}
	for _, dev := range []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx"} {
		errs = append(errs, r.Allow("/dev/"+dev, File))
	}
	return errors.Join(errs...)
}
