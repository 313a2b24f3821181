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

// Probe returns nil when a sandbox of this mode can be had on this kernel, else why not. It tries once, on a thread of its own.
func Probe(m Mode) error {
	if m == Off || m == "" {
		return nil
	}
	return probe()
}

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
	var families []uint32
	if p.Mode == Project {
		families = []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	}
	if err := ApplyFilter(Filter(0, families...)); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

func (p Policy) hidden() []string { return Existing(append(Private(), p.Hide...)) }

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
		for _, dir := range Existing(append(caches(), temps()...)) {
			errs = append(errs, r.AllowBut(dir, Write, hidden, true))
		}
	case Strict:
		for _, dir := range Existing(append([]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/etc", "/sys"}, p.Path...)) {
			errs = append(errs, r.AllowBut(dir, Read, hidden, true))
		}
		for _, dir := range Existing(temps()) {
			errs = append(errs, r.AllowBut(dir, Write, hidden, true))
		}
	default:
		return nil, fmt.Errorf("no sandbox is called %q", p.Mode)
	}
	if dir := Existing([]string{p.Project}); len(dir) > 0 {
		errs = append(errs, r.AllowBut(dir[0], Write, hidden, true))
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
