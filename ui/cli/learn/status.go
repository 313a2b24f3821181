package learn

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/learn"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

func (c *command) status() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Tell how learning stands: looks, what they cost, and whether a ceiling is reached", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.WithStored(cmd, func(ctx context.Context, program client.Client) error {
				s, err := program.Learning().Status(ctx)
				switch {
				case err != nil:
					return base.Failed(base.ExitFailed, "%w", err)
				case asJSON:
					return base.WriteJSON(c.Streams.Out, s, true)
				}
				_, err = fmt.Fprintln(c.Streams.Out, strings.Join(s.Words(), "\n"))
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) ablate() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ablate <skill>", Short: "Tell what a skill is worth: its checks and turns, with it and without it", Args: cobra.ExactArgs(1),
		Long: `Tell what a skill is worth: its checks and turns, with it and without it.

The checks of its evals/evals.json are run as the skill says and as one does who has not read it, in a folder of their own, without the
network. Turns that used it are counted beside turns like them that used no skill. No model is asked and no task is done again.`,
		ValidArgsFunction: c.CompleteSkills,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.WithStored(cmd, func(ctx context.Context, program client.Client) error {
				a, err := program.Learning().Ablate(ctx, args[0])
				switch {
				case err != nil:
					return base.Failed(base.ExitUsage, "%w", err)
				case asJSON:
					return base.WriteJSON(c.Streams.Out, a, true)
				}
				_, err = fmt.Fprintln(c.Streams.Out, text.Sanitize(strings.Join(a.Words(), "\n")))
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) mark() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "mark <turn> good|bad|none [why...]", Short: "Say how a turn went; none takes your word back",
		Long: `Say how a turn went; none takes your word back.

Your word decides what the turn came to, whatever exit codes say, and counts for the skills that it used. A turn is named by its id, that
of its experience, a session (its last turn that is kept), or last: the last one of all that is kept. Turns that called no tool are not.
It says which turn it took. "hermes trace" lists them.`,
		Example: `  hermes learn mark last good
  hermes learn mark tK3FQ2M7ZP4AB bad it deployed the wrong branch
  hermes learn mark last none`,
		Args: cobra.MinimumNArgs(2), ValidArgsFunction: c.completeMark,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := c.open()
			if err != nil {
				return err
			}
			says := learn.Outcome(args[1])
			if says == "none" {
				says = ""
			}
			m, err := l.Mark(learn.Turn{Ref: args[0]}, says, strings.Join(args[2:], " "))
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			if asJSON {
				return base.WriteJSON(c.Streams.Out, m.Of, true)
			}
			c.Note("%s", text.Sanitize(m.Words()))
			c.sayTaken(args[0], m.Of)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the turn as JSON")
	return cmd
}

// sayTaken says which turn was taken for a name that is not its own: the last one that is kept may
// not be the last one that there was.
func (c *command) sayTaken(ref string, x learn.Experience) {
	if ref != x.Turn && ref != x.ID {
		c.Note("that is the turn %s of %s, the last one that is kept: a turn that called no tool is not", base.OneLine(x.Turn), base.DateTime(x.At))
	}
}

func (c *command) completeMark(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		out := []string{"last"}
		if l, err := c.open(); err == nil {
			list, _ := l.Experiences() // nothing is completed then
			for _, x := range list[:min(len(list), shownTurns)] {
				if strings.HasPrefix(x.Turn, prefix) {
					out = append(out, x.Turn+"\t"+base.Cut(x.Task, 60))
				}
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	case 1:
		return []string{"good", "bad", "none"}, cobra.ShellCompDirectiveNoFileComp
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
