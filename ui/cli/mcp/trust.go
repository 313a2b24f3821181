package mcp

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/mcp"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

func (c *command) trust() *cobra.Command {
	var yes, no bool
	cmd := &cobra.Command{
		Use: "trust", Short: "Let the project in this folder bring its servers, after a look at them", Args: cobra.NoArgs,
		Long: `Let the project in this folder bring the servers of its .mcp.json, after a look at them.

They are programs that are started with your rights. Trust is for exactly this content of the file: when one byte changes you are
asked again. --no remembers that you do not want them.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd, func(_ context.Context, servers client.Servers) error {
				b, err := servers.Project()
				switch {
				case err != nil:
					return base.Failed(base.ExitFailed, "%w", err)
				case b == nil:
					return base.UsageError("this project brings no servers: it has no %s", mcp.ProjectFile)
				}
				c.show(b)
				if !yes && !no {
					if yes, err = c.Confirm("Start these programs when their tools are needed?"); err != nil {
						return err
					}
					if !yes {
						c.Note("nothing was changed")
						return nil
					}
				}
				return servers.Trust(b, yes)
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&no, "no", false, "do not use them, and do not ask again until they change")
	cmd.MarkFlagsMutuallyExclusive("yes", "no")
	return cmd
}

// show prints what a project brings.
func (c *command) show(b *mcp.Brought) {
	fmt.Fprintf(c.Streams.Out, "%s (%s)\n", text.Sanitize(b.Folder), b.State)
	for _, p := range b.Problems {
		fmt.Fprintf(c.Streams.Out, "! %s\n", text.Sanitize(p))
	}
	for _, s := range b.Servers {
		fmt.Fprintf(c.Streams.Out, "  %s: %s\n", text.Sanitize(s.Name), base.OneLine(s.Where()))
		var names []string
		for name := range s.Env {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(c.Streams.Out, "    is given the variable %s\n", base.OneLine(name))
		}
		if s.Problem != "" {
			fmt.Fprintf(c.Streams.Out, "    ! %s\n", text.Sanitize(s.Problem))
		}
	}
}
