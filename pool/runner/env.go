package runner

import (
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tagName marks every process of a call, so that one that left the group is still found when the
// call is ended.
const tagName = "HERMES_CALL"

// markOf is the number that goes with a tag: nine digits that are the Runner's, and the call's ten.
func markOf(tag string) string {
	runner, call, _ := strings.Cut(tag, "-")
	return markPrefix(runner) + call
}

func markPrefix(runner string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(runner)) // never fails
	return strconv.FormatUint(100_000_000+h.Sum64()%800_000_000, 10)
}

// Marks of all Runners are numbers from leastMark up to endOfMarks.
const (
	leastMark  = 100_000_000 * 10_000_000_000
	endOfMarks = 900_000_000 * 10_000_000_000
)

// Environ builds a command's environment: base, then what makes programs behave without a person
// watching (no pager, and a terminal type that is true), then extra, where the later one wins.
func Environ(base []string, tty bool, extra ...map[string]string) []string {
	term := "dumb"
	if tty {
		term = "xterm-256color"
	}
	all := make(map[string]string, len(base)+8)
	for _, kv := range base {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			all[name] = value
		}
	}
	maps.Copy(all, map[string]string{"TERM": term, "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat"})
	for _, more := range extra {
		maps.Copy(all, more)
	}
	env := make([]string, 0, len(all))
	for name, value := range all {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// withTag returns env with the call's tag and the directory, which lets a shell keep the name that
// it has through symbolic links.
func withTag(env []string, tag, dir string) []string {
	out := make([]string, 0, len(env)+2)
	for _, kv := range env {
		if !strings.HasPrefix(kv, tagName+"=") && !strings.HasPrefix(kv, "PWD=") {
			out = append(out, kv)
		}
	}
	return append(out, tagName+"="+tag, "PWD="+dir)
}

func lookupEnv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
