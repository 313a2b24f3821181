package confine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wrapper is the bubblewrap of this machine.
type wrapper struct {
	path string
	own  []string // what it needs to be told to make namespaces here
}

// bubblewrap finds the program and tries once whether it can do here what a Policy needs.
var bubblewrap = sync.OnceValues(func() (wrapper, error) {
	path := findBubblewrap()
	switch {
	case path == "":
		return wrapper{}, errors.New("bubblewrap is not installed (its program is called bwrap)")
	case Arch() == 0:
		return wrapper{}, errors.New("there is no filter of system calls for this kind of processor")
	}
	var first error
	for _, own := range [][]string{nil, {"--unshare-user"}} { // root in a container may need the second
		w := wrapper{path: path, own: own}
		err := w.tryStrict()
		if err == nil {
			return w, nil
		}
		if first == nil {
			first = err
		}
	}
	return wrapper{}, first
})

// findBubblewrap prefers the system's own to whatever PATH may lead to.
func findBubblewrap() string {
	for _, path := range []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"} {
		if unix.Access(path, unix.X_OK) == nil {
			return path
		}
	}
	if path, err := exec.LookPath("bwrap"); err == nil && filepath.IsAbs(path) {
		return path
	}
	return ""
}

const tryFor = 10 * time.Second

// tryStrict runs a command that does nothing in the strictest sandbox.
func (w wrapper) tryStrict() error {
	p := Policy{Mode: Strict, Project: os.TempDir(), Engine: Bubblewrap}
	args, filter, err := p.wrapCommand(w, Command{Path: "/bin/sh", Argv: []string{"sh", "-c", ":"}, Dir: "/"})
	if err != nil {
		return err
	}
	defer filter.Close()
	ctx, cancel := context.WithTimeout(context.Background(), tryFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, args.Path, args.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{"PATH=/usr/bin:/bin"}, "/", time.Second
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd.ExtraFiles = make([]*os.File, InfoFD-2) // descriptor 3 is the first
	cmd.ExtraFiles[FilterFD-3], cmd.ExtraFiles[InfoFD-3] = filter, null
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if line = strings.TrimPrefix(line, "bwrap: "); line == "" {
		line = err.Error()
	}
	return fmt.Errorf("bubblewrap (%s) cannot make a sandbox here: %s", w.path, line)
}

// Wrapped is a command that bubblewrap starts.
type Wrapped struct {
	Path string
	Argv []string
}

// Wrap returns what to start instead of a command so that it is kept in, and the file that the
// start needs as descriptor FilterFD; the caller closes it. Links and folders are looked at now:
// what appears later is not hidden.
func (p Policy) Wrap(c Command) (Wrapped, *os.File, error) {
	w, err := bubblewrap()
	if err != nil {
		return Wrapped{}, nil, err
	}
	return p.wrapCommand(w, c)
}

func (p Policy) wrapCommand(w wrapper, c Command) (Wrapped, *os.File, error) {
	held := p.heldPlaces()
	view, err := p.mountArgs(held)
	if err != nil {
		return Wrapped{}, nil, err
	}
	filter, err := filterFile(Filter(AsTheyAre, 0, p.socketFamilies()...))
	if err != nil {
		return Wrapped{}, nil, err
	}
	argv := slices.Concat([]string{"bwrap", "--unshare-pid", "--unshare-ipc"}, w.own)
	if p.Mode == Strict {
		argv = append(argv, "--unshare-net")
	}
	if os.Geteuid() == 0 {
		argv = append(argv, "--cap-drop", "ALL")
		for _, c := range keptCaps {
			argv = append(argv, "--cap-add", capNames[c])
		}
	}
	argv = append(argv, view...)
	argv = append(argv, "--chdir", c.Dir, "--seccomp", strconv.Itoa(FilterFD), "--json-status-fd", strconv.Itoa(InfoFD), "--")
	if c.TTY {
		// What waits outside of the namespace for the end must not hear ctrl+c, so the terminal is
		// that of a session inside.
		argv = append(argv, "setsid", "-c")
	}
	argv = append(append(argv, held.checkScript()...), c.Path)
	return Wrapped{Path: w.path, Argv: append(argv, c.Argv[1:]...)}, filter, nil
}

// mountArgs is the file system as a command sees it, in the words of bubblewrap. A later mount
// covers an earlier one.
func (p Policy) mountArgs(held held) ([]string, error) {
	var out []string
	write := outermostPaths(p.writableFolders())
	var seen []string
	switch p.Mode {
	case Project:
		out, seen = rootBut(engineFolders()), []string{"/"}
	case Strict:
		done := map[string]bool{}
		for _, dir := range p.systemFolders() {
			if !done[dir] {
				out = append(out, showFolder(dir)...)
			}
			done[dir] = true
		}
		seen = append(Existing(p.systemFolders()), write...)
	default:
		return nil, errNoMode(p.Mode)
	}
	out = append(out, "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc") // root could write settings of the kernel
	for _, dir := range write {
		out = append(out, "--bind", dir, dir)
	}
	for _, h := range held {
		how := "--ro-bind"
		if h.open {
			how = "--bind"
		}
		out = append(out, how, h.path, h.path)
	}
	for _, path := range outermostPaths(p.hiddenPlaces()) {
		if slices.ContainsFunc(seen, func(dir string) bool { return Under(path, dir) }) {
			out = append(out, coverPath(path)...)
		}
	}
	return append(out, "--remount-ro", "/"), nil
}

// showFolder makes a folder of the system visible. Systems whose /bin is a link to /usr/bin keep
// the link.
func showFolder(dir string) []string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real == "/" {
		return nil
	}
	if to, err := os.Readlink(dir); err == nil && filepath.Dir(dir) == "/" {
		return []string{"--ro-bind", real, real, "--symlink", to, dir}
	}
	if real != dir {
		return []string{"--ro-bind", real, real, "--ro-bind", real, dir}
	}
	return []string{"--ro-bind", real, real}
}

// coverPath hides a path: an empty folder that nothing can be put into, or a file that cannot be
// opened (bubblewrap mounts without devices).
func coverPath(path string) []string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return []string{"--tmpfs", path, "--remount-ro", path}
	}
	return []string{"--ro-bind", "/dev/null", path}
}

// outermostPaths leaves out paths below others, and gives the rest in the order in which they can
// be mounted.
func outermostPaths(paths []string) []string {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	var out []string
	for _, path := range paths {
		if !slices.ContainsFunc(out, func(dir string) bool { return Under(path, dir) }) {
			out = append(out, path)
		}
	}
	return out
}

// filterFile is a filter as bubblewrap reads it. Each start needs its own: reading moves the place
// in the file.
func filterFile(f []unix.SockFilter) (*os.File, error) {
	fd, err := unix.MemfdCreate("hermes-filter", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("a file for the filter of system calls: %w", err)
	}
	file := os.NewFile(uintptr(fd), "filter")
	data := unsafe.Slice((*byte)(unsafe.Pointer(&f[0])), len(f)*int(unsafe.Sizeof(f[0])))
	if _, err = file.Write(bytes.Clone(data)); err == nil {
		_, err = file.Seek(0, 0)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("a file for the filter of system calls: %w", err)
	}
	return file, nil
}

// capNames are the names of keptCaps.
var capNames = map[uintptr]string{
	unix.CAP_CHOWN: "CAP_CHOWN", unix.CAP_DAC_OVERRIDE: "CAP_DAC_OVERRIDE", unix.CAP_FOWNER: "CAP_FOWNER", unix.CAP_FSETID: "CAP_FSETID",
	unix.CAP_KILL: "CAP_KILL", unix.CAP_SETGID: "CAP_SETGID", unix.CAP_SETUID: "CAP_SETUID",
}
