package shell

import (
	"path"
	"slices"
	"strings"
)

// exitMeaning says in words what an exit code means for a command, and whether it is harmless: an
// answer, not a failure.
func exitMeaning(command string, code int) (meaning string, harmless bool) {
	if code == 1 {
		switch lastProgram(command) {
		case "grep", "egrep", "fgrep", "rg", "ag", "ack", "pgrep":
			return "no matches", true
		case "diff", "cmp", "colordiff":
			return "the files differ", true
		case "test", "[", "[[":
			return "the condition is false", true
		case "find":
			return "some folders could not be read", true
		case "which", "type":
			return "there is no such command", true
		}
	}
	switch code {
	case 0:
		return "", true
	case 124:
		return "it ran into a timeout", false
	case 126:
		return "it was found but cannot be executed (permission, or not a program)", false
	case 127:
		return "command not found", false
	case 130:
		return "interrupted", false
	case 134:
		return "it aborted (SIGABRT)", false
	case 137:
		return "killed (SIGKILL), often because memory ran out", false
	case 139:
		return "it crashed (segmentation fault)", false
	case 141:
		return "the reader of its output went away (SIGPIPE), usual before head", true
	case 143:
		return "terminated (SIGTERM)", false
	}
	return "", false
}

// lastProgram names the program whose exit code a line ends with: the last one of a list or
// pipeline.
func lastProgram(command string) string {
	calls := simpleCommands(command)
	for _, c := range slices.Backward(calls) {
		if len(c.Words) > 0 && len(c.Through) == 0 {
			return path.Base(firstWord(knownTexts(c.Words)))
		}
	}
	return ""
}

func firstWord(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// hasPrefix reports whether words begin with the words of p.
func hasPrefix(words []string, p string) bool {
	want := strings.Fields(p)
	if len(words) < len(want) {
		return false
	}
	for i, w := range want {
		if words[i] != w {
			return false
		}
	}
	return true
}
