// Package learn is the command `hermes learn`: what was learned from turns, and what becomes of it.
package learn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/client"
	"hermes/core/learn"
	"hermes/skills"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes learn`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{
		Use: "learn", Short: "See what was learned from turns, and say yes or no to it",
		Long: `See what was learned from turns, and say yes or no to it.

Turns whose outcome is known, by exit codes and by what you did, are looked at by a model beside the conversation. What it would change
of your skills waits here (learning.mode: propose), with the change line by line. Without a word after it this lists what waits.`,
		Example: `  hermes learn
  hermes learn show p3
  hermes learn accept p3
  hermes learn mark last bad it forgot the tests
  hermes learn status`,
		Args: cobra.ArbitraryArgs, SuggestionsMinimumDistance: 2,
	}
	list := c.list()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return base.Subcommands(cmd, args)
		}
		return list.RunE(cmd, args)
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, c.show(), c.accept(), c.refuse("refuse", "no", "Say no to a proposal", false),
		c.refuse("never", "", "Say no to a proposal, and to everything like it", true), c.run(), c.status(), c.mark(), c.ablate())
	return cmd
}

func (c *command) open() (*learn.Learner, error) {
	lib, _, start, err := c.SkillLibrary()
	if err != nil {
		return nil, err
	}
	return core.OpenLearning(start.Config, lib), nil
}

func (c *command) complete(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var out []string
	if l, err := c.open(); err == nil {
		list, _ := l.Proposals() // nothing is completed then
		for _, p := range list {
			if p.State == learn.StateOpen && strings.HasPrefix(p.ID, prefix) {
				out = append(out, p.ID+"\t"+p.Kind+" "+p.Skill)
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (c *command) list() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the proposals that wait; --all: the settled ones too", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			l, err := c.open()
			if err != nil {
				return err
			}
			list, err := l.Proposals()
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			shown := []learn.Proposal{}
			for _, p := range list {
				if all || p.State == learn.StateOpen {
					shown = append(shown, p)
				}
			}
			if asJSON {
				return base.WriteJSON(c.Streams.Out, shown, true)
			}
			if len(shown) == 0 {
				c.Note("no proposal waits for a word; they come from turns, and `hermes learn run` looks at those at once")
				return nil
			}
			t := base.Table{Head: []string{"ID", "WHEN", "STATE", "WHAT", "SKILL", "WHY"}, Fit: c.Width()}
			for _, p := range shown {
				t.Row(p.ID, base.DateTime(p.At), string(p.State), p.Kind, base.OneLine(p.Skill), base.Cut(p.Why, 80))
			}
			return t.Write(c.Streams.Out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "settled ones too")
	return cmd
}

func (c *command) show() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show <id>", Short: "Show a proposal: why, from what, and the change", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := c.open()
			if err != nil {
				return err
			}
			p, err := l.Find(args[0])
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			if asJSON {
				return base.WriteJSON(c.Streams.Out, p, true)
			}
			return c.print(p)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) print(p learn.Proposal) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s %s  %s\n%s\n", p.ID, p.Kind, base.OneLine(p.Skill), p.State, base.OneLine(p.Why))
	if p.Waits != "" {
		fmt.Fprintf(&b, "it waits for you in every mode: %s\n", base.OneLine(p.Waits))
	}
	if p.Tainted != "" {
		fmt.Fprintf(&b, "never carried out unasked: %s\n", base.OneLine(p.Tainted))
	}
	for _, check := range p.Checks {
		fmt.Fprintln(&b, base.OneLine(check.Words()))
	}
	if len(p.Sources) > 0 {
		fmt.Fprintf(&b, "from %s\n", text.Count(len(p.Sources), "turn", "turns"))
	}
	fmt.Fprintf(&b, "\n%s", text.Sanitize(p.Diff))
	_, err := fmt.Fprint(c.Streams.Out, b.String())
	return err
}

func (c *command) accept() *cobra.Command {
	var edit, asJSON bool
	cmd := &cobra.Command{
		Use: "accept <id>", Aliases: []string{"yes"}, Short: "Carry a proposal out; that is a version of the skill, which can be taken back", Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.open()
			if err != nil {
				return err
			}
			p, err := l.Find(args[0])
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			var edited *string
			if edit {
				s, err := c.edit(cmd.Context(), p)
				if err != nil {
					return err
				}
				edited = &s
			}
			done, err := l.Accept(cmd.Context(), p.ID, "user", edited)
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			return c.TellDone(c.Streams.Err, asJSON, done, "%s has version %d; `hermes skills undo %s` takes it back", skills.DescribeKey(done.Skill), done.Version, done.Skill)
		},
	}
	cmd.Flags().BoolVarP(&edit, "edit", "e", false, "change it in your editor first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the proposal as JSON")
	return cmd
}

// edit opens what is proposed in the editor.
func (c *command) edit(ctx context.Context, p learn.Proposal) (string, error) {
	dir, err := os.MkdirTemp("", "hermes-learn-")
	if err != nil {
		return "", base.Failed(base.ExitFailed, "%w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, p.FileName())
	if err := os.WriteFile(path, []byte(p.After), 0o600); err != nil {
		return "", base.Failed(base.ExitFailed, "%w", err)
	}
	if err := c.OpenEditor(ctx, path); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", base.Failed(base.ExitFailed, "%w", err)
	}
	return string(data), nil
}

func (c *command) refuse(name, alias, short string, never bool) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: name + " <id>", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := c.open()
			if err != nil {
				return err
			}
			if err := l.Refuse(args[0], never); err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			p, err := l.Find(args[0])
			if err != nil || !asJSON {
				return err
			}
			return base.WriteJSON(c.Streams.Out, p, true)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the proposal as JSON")
	if alias != "" {
		cmd.Aliases = []string{alias}
	}
	return cmd
}

func (c *command) run() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "run", Short: "Look at what waits to be learned from now; a model is asked", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start, err := c.Load()
			if err != nil {
				return err
			}
			if start.Config.Learning.Mode == string(learn.Off) {
				return base.Failed(base.ExitUsage, "nothing is learned: learning.mode is off; `hermes config set learning.mode propose` changes that")
			}
			return c.WithClient(cmd.Context(), start, func(ctx context.Context, program client.Client) error {
				p, err := program.Learning().ReviewNext(ctx, true)
				if nothing := (*learn.NothingError)(nil); errors.As(err, &nothing) {
					c.Note("%s", text.Sanitize(nothing.Why))
					if asJSON {
						return base.WriteJSON(c.Streams.Out, nil, true)
					}
					return nil
				}
				switch {
				case err != nil:
					return base.Failed(base.ExitFailed, "%w", err)
				case asJSON:
					return base.WriteJSON(c.Streams.Out, p, true)
				default:
					return c.print(*p)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the proposal as JSON")
	return cmd
}
