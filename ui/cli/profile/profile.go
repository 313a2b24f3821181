// Package profile is the command `hermes profile`: homes of their own for other work.
package profile

import (
	"github.com/spf13/cobra"

	"hermes/core/config"
	"hermes/core/profile"
	"hermes/ui/cli/base"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes profile`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{
		Use: "profile", Short: "Homes of their own for other work: create, list, switch, clone, remove",
		Long: `Homes of their own for other work.

A profile has settings, secrets, skills, memory and conversations of its own, below profiles/ of the home.
The home itself is the profile "default". hermes -p NAME uses one for this run.`,
		Example: `  hermes profile create work
  hermes profile clone default trial
  hermes profile switch work`,
		Args: cobra.ArbitraryArgs, RunE: base.Subcommands,
	}
	cmd.AddCommand(c.list(), c.create(), c.switchTo(), c.clone(), c.remove())
	return cmd
}

// store is the profiles of the home that this run names, whichever profile it would use.
func (c *command) store() (profile.Store, error) {
	o := config.Options{Home: c.Home, Profile: profile.Default, Env: c.Env}
	paths, err := o.Paths()
	if err != nil {
		return profile.Store{}, base.UsageError("%v", err)
	}
	return profile.Of(paths.Root), nil
}

// on makes the RunE of what is done with names of profiles.
func (c *command) on(do func(s profile.Store, names []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, names []string) error {
		s, err := c.store()
		if err != nil {
			return err
		}
		if err := do(s, names); err != nil {
			return base.Failed(base.ExitUsage, "%w", err)
		}
		return nil
	}
}

func (c *command) list() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the profiles and where they are", Args: cobra.NoArgs,
		RunE: c.on(func(s profile.Store, _ []string) error {
			list, err := s.List()
			if err != nil {
				return err
			}
			if asJSON {
				return base.WriteJSON(c.Streams.Out, list, true)
			}
			t := base.Table{}
			for _, p := range list {
				mark := ""
				if p.Active {
					mark = "active"
				}
				t.Row(p.Name, mark, p.Folder)
			}
			return t.Write(c.Streams.Out)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) create() *cobra.Command {
	return &cobra.Command{
		Use: "create <name>", Short: "Make an empty profile", Args: cobra.ExactArgs(1),
		RunE: c.on(func(s profile.Store, names []string) error {
			p, err := s.Create(names[0])
			if err == nil {
				c.Note("%s is there; `hermes -p %s setup` connects a model", p.Folder, p.Name)
			}
			return err
		}),
	}
}

func (c *command) switchTo() *cobra.Command {
	return &cobra.Command{
		Use: "switch <name>", Aliases: []string{"use"}, Short: "Use a profile when none is named", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		RunE: c.on(func(s profile.Store, names []string) error {
			err := s.Switch(names[0])
			if err == nil {
				c.Note("hermes uses profile %s from the next start on", names[0])
			}
			return err
		}),
	}
}

func (c *command) clone() *cobra.Command {
	return &cobra.Command{
		Use: "clone <profile> <name>", Short: "Make a profile with the settings, secrets, themes and skills of another one", Args: cobra.ExactArgs(2), ValidArgsFunction: c.complete,
		RunE: c.on(func(s profile.Store, names []string) error {
			p, err := s.Clone(names[0], names[1])
			if err == nil {
				c.Note("%s is there; conversations and memory are not taken over", p.Folder)
			}
			return err
		}),
	}
}

func (c *command) remove() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "remove <name>", Aliases: []string{"rm"}, Short: "Delete a profile with its conversations", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		RunE: c.on(func(s profile.Store, names []string) error {
			if !s.Exists(names[0]) {
				return s.Missing(names[0])
			}
			if !yes {
				return base.UsageError("profile %s has conversations, memory and secrets of its own, which are lost with it: say --yes", names[0])
			}
			err := s.Remove(names[0])
			if err == nil {
				c.Note("profile %s is removed", names[0])
			}
			return err
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// complete offers the names of profiles.
func (c *command) complete(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	s, err := c.store()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	list, _ := s.List() // what could be read
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
