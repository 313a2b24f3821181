package offline

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/clip"
)

// report says in Markdown what the newest calls did: what ran, where, how it ended, how long it
// took. The full output is in its pane, so an excerpt is enough.
func report(messages []chat.Message) string {
	from := len(messages)
	for from > 0 && messages[from-1].Role == chat.RoleTool {
		from--
	}
	calls := map[string]chat.ToolCall{}
	if from > 0 {
		for _, c := range messages[from-1].Calls {
			calls[c.ID] = c
		}
	}
	var parts []string
	for _, m := range messages[from:] {
		if m.Result != nil {
			parts = append(parts, describe(calls[m.Result.CallID], *m.Result))
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

func describe(c chat.ToolCall, r chat.ToolResult) string {
	var b strings.Builder
	b.WriteString(title(c, r) + " " + outcome(r))
	if ex := excerpt(withoutWarnings(r)); ex != "" {
		mark := fenceFor(ex)
		fmt.Fprintf(&b, "\n\n%s\n%s\n%s", mark, ex, mark)
	}
	if r.Spill != "" {
		what := "full output"
		if r.SpillCut {
			what = "beginning of it"
		}
		fmt.Fprintf(&b, "\n\nThe %s is in %s.", what, code(r.Spill))
	}
	return b.String()
}

// withoutWarnings is the output without the lines that stand under the call anyway, for whoever
// reads this.
func withoutWarnings(r chat.ToolResult) string {
	out := r.Text
	for _, w := range r.Warnings {
		out = strings.ReplaceAll(out, "[warning: "+w+"]", "")
	}
	return strings.TrimRight(out, "\n")
}

// title is the call in a few words.
func title(c chat.ToolCall, r chat.ToolResult) string {
	var args struct {
		Command, Path, Pattern, Query, Question string
	}
	_ = json.Unmarshal(c.Args, &args) // without arguments the tool's name is the title
	switch {
	case args.Command != "":
		return code("$ " + args.Command)
	case args.Path != "" && args.Pattern == "":
		return "**" + r.Name + "** " + code(args.Path)
	case args.Pattern+args.Query+args.Question != "":
		return "**" + r.Name + "** " + code(args.Pattern+args.Query+args.Question)
	default:
		return "**" + r.Name + "**"
	}
}

func outcome(r chat.ToolResult) string {
	var b strings.Builder
	switch {
	case r.Interrupted:
		b.WriteString("was interrupted")
	case r.ExitCode != nil:
		fmt.Fprintf(&b, "ended with exit code %d", *r.ExitCode)
	case r.IsError:
		b.WriteString("failed")
	default:
		b.WriteString("is done")
	}
	if r.Backend != "" {
		b.WriteString(" on " + code(r.Backend))
	}
	if r.Took > 0 {
		b.WriteString(" after " + took(r.Took))
	}
	for _, d := range r.Diffs {
		fmt.Fprintf(&b, "; %s %s (+%d -%d)", d.Op, code(d.Path), d.Added, d.Removed)
	}
	return b.String() + "."
}

func took(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatInt(max(d.Milliseconds(), 1), 10) + " ms"
	}
	if d < time.Minute {
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return d.Round(time.Second).String()
}

// Bounds of an excerpt.
const (
	headLines, tailLines = 12, 8
	lineRunes            = 160
)

// excerpt is the begin and the end of an output.
func excerpt(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	if hidden := len(lines) - headLines - tailLines; hidden > 1 {
		mid := fmt.Sprintf("… %d lines more in the output pane …", hidden)
		lines = append(append(append([]string(nil), lines[:headLines]...), mid), lines[len(lines)-tailLines:]...)
	}
	for i, l := range lines {
		lines[i] = clip.Runes(l, lineRunes, " …")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), " \n")
}

// fenceFor is a fence that the text cannot close.
func fenceFor(text string) string {
	longest, run := 0, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(3, longest+1))
}
