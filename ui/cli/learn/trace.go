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

A turn is named by its id, that of its experience, or a session (its last turn). Without one the last turns are listed. The last 300 turns
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
	t := base.Table{Head: []string{"TURN", "WHEN", "CAME OUT", "SKILLS", "CALLS", "ASKED"}, Fit: c.Width()}
	for _, x := range list {
		var names []string
		for _, s := range x.Skills {
			names = append(names, skillWords(s))
		}
		t.Row(x.Turn, base.DateTime(x.At), string(x.Outcome), base.OrDash(strings.Join(names, ", ")), fmt.Sprint(len(x.Calls)), base.Cut(x.Task, 60))
	}
	return t.Write(c.Streams.Out)
}

func skillWords(s learn.Loaded) string {
	if s.Version == 0 {
		return base.OneLine(s.Name)
	}
	return fmt.Sprintf("%s v%d", base.OneLine(s.Name), s.Version)
}

// traceText is memory -> skill -> tool -> outcome -> what was learned, a line each.
func traceText(x learn.Experience, then []learn.Proposal) string {
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "%-8s %s\n", what, base.OneLine(fmt.Sprintf(format, args...)))
	}
	line("turn", "%s  %s  session %s  %s", x.Turn, base.DateTime(x.At), x.Session, x.Model)
	line("asked", "%s", base.Cut(x.Task, 160))
	for _, r := range x.Recalled {
		line("memory", "%s (unasked)", r)
	}
	for _, s := range x.Skills {
		line("skill", "%s, chosen by the %s, text %.12s", skillWords(s), s.By, s.Hash)
	}
	for i, s := range x.Calls {
		what, how := "tool", "ok"
		if strings.HasPrefix(s.Tool, "memory") || s.Tool == "session_search" {
			what = "memory"
		}
		switch {
		case s.Exit != nil:
			how = fmt.Sprintf("exit code %d", *s.Exit)
		case s.Failed:
			how = "failed"
		}
		args := s.Args
		if s.Ran != "" {
			args = s.Ran
		}
		line(what, "%d. %s %s -> %s", i+1, s.Tool, base.Cut(args, 100), how)
	}
	if x.Tainted != "" {
		line("read", "%s", x.Tainted)
	}
	for _, s := range x.Signals {
		line("signal", "%s: %s", s.Says, s.Why)
	}
	line("outcome", "%s", x.Outcome)
	for _, p := range then {
		line("learned", "%s %s %s: %s", p.ID, p.Kind, p.Skill, p.State)
	}
	return b.String()
}
