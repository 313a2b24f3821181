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
	if os.Getenv(tagName) != "" || os.Getenv(scriptTag) != "" {
		return true
	}
	above := map[int]int{}
	for _, p := range listProcesses() {
		above[p.pid] = p.parent
	}
	var seen []int
	for pid := self; pid > 1 && !slices.Contains(seen, pid); pid = above[pid] {
		if (proc{pid: pid}).isMarked() {
			return true
		}
		seen = append(seen, pid)
	}
	return false
}

// scriptTag is the variable that a script of execute_code has (core/execcode).
const scriptTag = "HERMES_SCRIPT"

// hasTagVariable says whether an environment, "NAME=value" each with a zero byte after it, has a
// tag that says something.
func hasTagVariable(env []byte) bool {
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		name, value, _ := bytes.Cut(kv, []byte("="))
		if len(value) > 0 && (string(name) == tagName || string(name) == scriptTag) {
			return true
		}
	}
	return false
}
