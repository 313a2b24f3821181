package learn

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/learn"
	"hermes/ui/cli/base"
)

// Trace makes `hermes trace`.
func Trace(line *base.Command) *cobra.Command {
	c := &command{line}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "trace [turn]", Short: "Tell what a turn was given and did: memory, skills with their versions, tools, outcome", Args: cobra.MaximumNArgs(1),
		Long: `Tell what a turn was given and did: memory, skills with their versions, tools, outcome.

A turn is named by its id, that of its experience, a session (its last turn that is kept), or last. Without one the last turns are listed. The last 300 turns
that did something are kept, unless learning.mode is off.`,
		Example: `  hermes trace
  hermes trace --json`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := c.open()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return c.listTurns(l, asJSON)
			}
			x, then, err := l.Trace(args[0])
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			if asJSON {
				return base.WriteJSON(c.Streams.Out, map[string]any{"turn": x, "proposals": then}, true)
			}
			c.sayTaken(args[0], x)
			_, err = fmt.Fprint(c.Streams.Out, traceText(x, then))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// shownTurns is how many turns are listed.
const shownTurns = 20

func (c *command) listTurns(l *learn.Learner, asJSON bool) error {
	list, err := l.Experiences()
	if err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	list = list[:min(len(list), shownTurns)]
	if asJSON {
		return base.WriteJSON(c.Streams.Out, list, true)
	}
	if len(list) == 0 {
		c.Note("no turn that called a tool is kept yet")
		return nil
	}
	t := base.Table{Head: []string{"TURN", "WHEN", "CAME OUT", "SKILLS", "CALLS", "ASKED"}, Fit: c.Width()}
	for _, x := range list {
		var names []string
		for _, s := range x.Skills {
			names = append(names, base.OneLine(s.Title()))
		}
		t.Row(x.Turn, base.DateTime(x.At), string(x.Outcome), base.OrDash(strings.Join(names, ", ")), fmt.Sprint(len(x.Calls)), base.Cut(x.Task, 60))
	}
	return t.Write(c.Streams.Out)
}

// traceText is what a turn was given, did and came to, a line each.
func traceText(x learn.Experience, then []learn.Proposal) string {
	var b strings.Builder
	for _, l := range learn.TraceLines(x, then) {
		fmt.Fprintf(&b, "%-8s %s\n", l.What, base.OneLine(l.Text))
	}
	return b.String()
}
