package runner

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// How a shell tells where it ended without its output being touched: on exit a trap writes the
// directory to a pipe on a descriptor that people do not use (single digits are theirs: `exec
// 9>lock`; dash cannot redirect to more than one digit, hence /dev/fd). The status comes from wait,
// not from the shell, so nothing that a command does to its shell (`exit`, `set -eu`, a syntax
// error) can spoil it. A command that replaces its shell (`exec`), kills it or sets an EXIT trap of
// its own reports no directory: the old one stays.
const (
	dirFD    = 17
	scriptFD = 18
	prelude  = "trap '{ command pwd >/dev/fd/17; } 2>/dev/null || :' EXIT; " // and on the same line, numberItself

	// Linux takes at most 128 KiB in one argument; longer commands are read from an unlinked file.
	maxInline = 96 << 10
)

// numberItself has the shell put the call's number on itself before it starts anything, as mark
// does from outside a moment later. bash calls the limit -x, dash and busybox -w.
func numberItself(tag string) string {
	n := markOf(tag)
	return "{ ulimit -x " + n + " || ulimit -w " + n + " || :; } 2>/dev/null\n"
}

// shellArgs returns the arguments that make the shell run command, and the file to be given as
// scriptFD, if any.
func shellArgs(shell, command, tag string) ([]string, *os.File, error) {
	name := filepath.Base(shell)
	if len(command) <= maxInline {
		return []string{name, "-c", prelude + numberItself(tag) + command}, nil, nil
	}
	f, err := scriptFile(command)
	if err != nil {
		return nil, nil, fmt.Errorf("the command is %d bytes long and could not be put into a temporary file: %w", len(command), err)
	}
	return []string{name, "-c", prelude + numberItself(tag) + ". /dev/fd/18"}, f, nil
}

// scriptInTemp makes the file where there is no memory file.
func scriptInTemp() (*os.File, error) {
	f, err := os.CreateTemp("", "hermes-script-")
	if err == nil {
		_ = os.Remove(f.Name())
	}
	return f, err
}

func scriptFile(text string) (*os.File, error) {
	f, err := newScript()
	if err != nil {
		return nil, err
	}
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// readReport reads what the trap wrote to the pipe, without waiting; "" when it wrote nothing
// usable.
func readReport(f *os.File) string {
	conn, err := f.SyscallConn()
	if err != nil {
		return ""
	}
	buf := make([]byte, 8<<10)
	n := 0
	err = conn.Read(func(fd uintptr) bool {
		n, _ = unix.Read(int(fd), buf)
		return true
	})
	if err != nil || n <= 0 {
		return ""
	}
	dir, whole := bytes.CutSuffix(buf[:n], []byte("\n"))
	if !whole || !filepath.IsAbs(string(dir)) {
		return ""
	}
	return string(dir)
}

// startDir decides where the command starts.
func (s *Spec) startDir() (dir string, warnings []string, err error) {
	dir = s.Dir
	if dir == "" {
		dir = s.Home
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/') {
		dir = filepath.Join("/", lookupEnv(s.Env, "HOME"), rest)
	}
	why := checkDir(dir)
	if why == nil {
		return dir, nil, nil
	}
	if s.Strict && s.Dir != "" {
		return "", nil, fmt.Errorf("the command was not started: %w", why)
	}
	home := s.Home
	if err := checkDir(home); err != nil && dir != "" {
		return "", nil, fmt.Errorf("the command was not started: %w, and neither does the folder that commands begin in", why) // anywhere else it would mean something else
	} else if err != nil {
		home = "/"
	}
	if dir == "" {
		return home, nil, nil
	}
	return home, []string{fmt.Sprintf("%v: the command ran in %s instead", why, home)}, nil
}

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case dir != "" && !filepath.IsAbs(dir):
		return fmt.Errorf("the directory %q is not an absolute path", dir)
	case os.IsNotExist(err):
		return fmt.Errorf("the directory %s does not exist", dir)
	case err != nil:
		return fmt.Errorf("the directory %s cannot be used: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	if err := unix.Access(dir, unix.X_OK); err != nil {
		return fmt.Errorf("the directory %s cannot be entered: %w", dir, err)
	}
	return nil
}

// lookPath finds the program name in PATH of env, relative to dir.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	for _, p := range filepath.SplitList(lookupEnv(env, "PATH")) {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		path := filepath.Join(p, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s was not started: no such program in PATH", name)
}
