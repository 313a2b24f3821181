package guard

import (
	"strings"

	"hermes/core/shelltext"
)

// readWrapper says what a command starts, where that can be judged.
func readWrapper(argv []word) (shelltext.Started, error) {
	in := shelltext.Starts(argv)
	switch {
	case in.Splits:
		return in, refuseLine("%q splits a text into a command, which the lists cannot judge", showCommand(argv))
	case in.Vague:
		return in, refuseLine("an argument of %q is only known when it runs", showCommand(argv))
	}
	for _, s := range in.Scripts {
		if !s.Text.Known() {
			return in, refuseLine("the text that %q runs is only known when it runs", showCommand(argv))
		}
	}
	for _, a := range in.Assigns {
		if name, _, _ := strings.Cut(a.Text, "="); decidesWhatRuns(name) || strings.ContainsRune(name, unknown) {
			return in, refuseLine("%q sets %s, which decides what a name starts", showCommand(argv), name)
		}
	}
	return in, nil
}

// isHarmlessBuiltin says that a command is a builtin that starts nothing.
func isHarmlessBuiltin(argv []word) bool {
	switch argv[0].Text {
	case "cd", "pwd", ":", "true", "false", "exit", "return", "break", "continue", "shift", "test", "[", "echo", "printf", "wait", "read",
		"unset", "umask", "jobs", "times", "getopts", "set", "type", "pushd", "popd", "dirs":
		return true
	}
	return false
}

// checkSetsVariable refuses a builtin that sets a variable that decides what a name starts: read
// PATH, printf -v PATH.
func checkSetsVariable(argv []word) error {
	switch argv[0].Text {
	case "read", "printf", "getopts", "unset":
	default:
		return nil
	}
	for _, w := range argv[1:] {
		if decidesWhatRuns(w.Text) {
			return refuseLine("%q sets %s, which decides what an allowed name starts", showCommand(argv), w.Text)
		}
	}
	return nil
}
