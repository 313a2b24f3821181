// Package tools is the command `hermes tools`: what the agent can do, and what is switched off.
package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/config"
	"hermes/core/tool"
	"hermes/ui/cli/base"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes tools`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	var asJSON bool
	show := func(cmd *cobra.Command, _ []string) error {
		return c.with(cmd, func(app client.Client) error {
			return c.list(app.Toolsets(app.Config().Toolsets), asJSON)
		})
	}
	cmd := &cobra.Command{
		Use: "tools", Short: "List the agent's tools by toolset, and switch toolsets", Args: cobra.NoArgs, RunE: show,
		Long: `List the agent's tools by toolset, with what each needs, and switch toolsets for a profile: for the one
that HERMES_HOME or --profile names. New sessions have what is on; /toolsets chooses for one session.`,
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		&cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the tools by toolset", Args: cobra.NoArgs, RunE: show},
		c.change("enable", "Switch toolsets on", true), c.change("disable", "Switch toolsets off", false))
	return cmd
}

func (c *command) with(cmd *cobra.Command, work func(client.Client) error) error {
	return c.WithStored(cmd, func(_ context.Context, app client.Client) error { return work(app) })
}

// change makes the command that switches toolsets.
func (c *command) change(use, short string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: use + " <toolset>...", Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			return c.with(cmd, func(app client.Client) error {
				chosen, err := app.Config().Toolsets, error(nil)
				for _, name := range names {
					if chosen, err = app.SwitchToolset(chosen, name, on); err != nil {
						return base.Failed(base.ExitUsage, "%w", err)
					}
				}
				if err := config.Set(app.Config().Paths(), "toolsets", "["+strings.Join(chosen, ", ")+"]"); err != nil {
					return err
				}
				c.Note("new sessions have these toolsets: %s", Words(app.Toolsets(chosen)))
				return nil
			})
		},
	}
}

// Words are the names of the sets that are on.
func Words(sets []tool.SetView) string {
	var on []string
	for _, s := range sets {
		if s.On {
			on = append(on, s.Name)
		}
	}
	return strings.Join(on, ", ")
}

func (c *command) list(sets []tool.SetView, asJSON bool) error {
	if asJSON {
		return base.WriteJSON(c.Streams.Out, sets, true)
	}
	for i, s := range sets {
		state := "on "
		switch {
		case s.Auto:
			state = "-  "
		case !s.On:
			state = "off"
		}
		if i > 0 {
			fmt.Fprintln(c.Streams.Out)
		}
		fmt.Fprintf(c.Streams.Out, "%s  %-16s %s\n", state, base.OneLine(s.Name), base.OneLine(s.Description))
		for _, t := range s.Tools {
			line := "     " + base.OneLine(t.Name)
			switch {
			case t.Needs != "":
				line = fmt.Sprintf("%-24s not here: %s", line, base.OneLine(t.Needs))
			case t.On && !s.On && !s.Auto:
				line = fmt.Sprintf("%-24s on, by its own name", line)
			}
			fmt.Fprintln(c.Streams.Out, line)
		}
	}
	return nil
}
