package run

import (
	"strconv"
	"strings"

	"hermes/core/chat"
)

// What a person types as a command ("$ make") is theirs: its output is the answer, and its exit
// code that of the program.

// ownCalls adds the calls of a message that the person ran.
func ownCalls(known map[string]bool, m chat.Message) map[string]bool {
	if !m.From.IsPerson() {
		return known
	}
	if known == nil {
		known = map[string]bool{}
	}
	for _, c := range m.Calls {
		known[c.ID] = true
	}
	return known
}

func (t *turn) ownEnded(r chat.ToolResult) {
	switch {
	case !t.own[r.CallID]:
	case r.ExitCode != nil && *r.ExitCode != 0:
		t.exit = *r.ExitCode
	case r.ExitCode == nil && r.IsError:
		t.exit = 1
	}
}

// printedText is what a command of the person printed, without what is said beside it to a model.
func printedText(r chat.ToolResult) string {
	out := strings.TrimRight(r.Text, "\n")
	for _, w := range r.Warnings {
		out = strings.TrimRight(strings.ReplaceAll(out, "[warning: "+w+"]", ""), "\n")
	}
	if r.ExitCode != nil {
		code := "exit code " + strconv.Itoa(*r.ExitCode) + "]"
		out = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(out, "["+code), "[no output, "+code), "\n")
	}
	return out
}
