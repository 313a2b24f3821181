package runner

import (
	"bytes"
	"os"
	"slices"
)

// Inside reports whether a Runner, of this program or of another one, started this process, or one
// that this process comes from. It goes by what a program can hardly take off: the tag in the
// environment, on Linux the number that no program clears (markProcess), and both of every process
// above this one.
//
// A script of execute_code counts as one that a Runner started. A program that left its tree
// (systemd-run, at, a tmux that was there before) and has neither is not found.
func Inside() bool {
	return os.Getenv(tagName) != "" || os.Getenv(scriptTag) != "" || InsideBelow(0)
}

// InsideBelow is Inside with a process at which the search ends: what that one carries itself, and
// hands on, does not count. The tests of the program use it, which may run in a call of another
// Hermes. No process has the number 0.
func InsideBelow(root int) bool {
	handed := mark{}
	if root > 0 {
		handed = proc{pid: root}.readMark()
	}
	var seen []int
	for pid := self; pid > 1 && pid != root && !slices.Contains(seen, pid); pid = parentOf(pid) {
		if (proc{pid: pid}).readMark().differsFrom(handed) {
			return true
		}
		seen = append(seen, pid)
	}
	return false
}

// mark is what a process carries of the calls that it comes from.
type mark struct {
	number string   // "" for none
	tags   []string // "NAME=value"
}

// differsFrom reports whether a mark says something that another one does not.
func (m mark) differsFrom(other mark) bool {
	return m.number != "" && m.number != other.number ||
		slices.ContainsFunc(m.tags, func(tag string) bool { return !slices.Contains(other.tags, tag) })
}

// scriptTag is the variable that a script of execute_code has (core/execcode).
const scriptTag = "HERMES_SCRIPT"

// tagsIn are the tags that say something in an environment, "NAME=value" each with a zero byte
// after it.
func tagsIn(env []byte) (tags []string) {
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		name, value, _ := bytes.Cut(kv, []byte("="))
		if len(value) > 0 && (string(name) == tagName || string(name) == scriptTag) {
			tags = append(tags, string(kv))
		}
	}
	return tags
}
