package mcp

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/mcp"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

func (c *command) tools() *cobra.Command {
	var asJSON, review, accept bool
	cmd := &cobra.Command{
		Use: "tools <name>", Short: "List a server's tools and what the settings say about them; review what changed", Args: cobra.ExactArgs(1),
		Long: `List a server's tools: as models call them, as the server does, and what the settings say (asked, allowed, confirmed).

A tool is blocked when its definition changed since it was seen, or when its text reads like orders to the agent. --review shows what
it says now against what was seen; --accept shows it and lets the tool be used again. Approvals of the old definition do not count for
the new one.`,
		ValidArgsFunction: c.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, func(ctx context.Context, servers client.Servers) error {
				s, err := c.ready(ctx, servers, args[0])
				switch {
				case err != nil:
					return err
				case review || accept:
					return c.review(servers, args[0], accept, asJSON)
				case asJSON:
					return base.WriteJSON(c.Streams.Out, s.Tools, true)
				}
				return c.printTools(s)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&review, "review", false, "show what changed of the tools that are blocked")
	cmd.Flags().BoolVar(&accept, "accept", false, "show it, and let them be used")
	return cmd
}

func (c *command) printTools(s mcp.Status) error {
	t := base.Table{Head: []string{"TOOL", "NAME FOR MODELS", "RULE", "TOKENS", "SAYS"}, Fit: c.Width()}
	for _, one := range s.Tools {
		rule := one.Rule
		if one.State != mcp.Pinned {
			rule = "blocked"
		}
		t.Row(one.Tool, one.Name, rule, fmt.Sprint(one.Tokens), one.Gist)
	}
	if err := t.Write(c.Streams.Out); err != nil {
		return err
	}
	if n := note(s); n != "" {
		c.Note("%s", n)
	}
	return nil
}

// review shows what changed, and takes it when the person said so.
func (c *command) review(servers client.Servers, name string, accept, asJSON bool) error {
	list, err := servers.Reviews(name)
	if err != nil {
		return err
	}
	if asJSON {
		err = base.WriteJSON(c.Streams.Out, list, true)
	} else {
		for _, r := range list {
			fmt.Fprintf(c.Streams.Out, "%s: %s\n%s\n", text.Sanitize(r.Tool), text.Sanitize(r.Why), text.Sanitize(r.Diff))
		}
	}
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		c.Note("no tool of %s is blocked", name)
		return nil
	case !accept:
		c.Note("`hermes mcp tools %s --accept` lets them be used as they are now", name)
		return nil
	}
	if err := servers.Accept(name, list); err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	c.Note("%s can be used as shown", text.Count(len(list), "tool", "tools"))
	return nil
}
