// Package mcp is the command `hermes mcp`: the servers that bring the agent tools.
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

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes mcp`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{
		Use: "mcp", Short: "Servers that bring the agent tools: list, add, test, review",
		Long: `Servers that bring the agent tools, by the model context protocol.

They stand in config.yaml (mcp_servers), in mcp_config.json beside it, and in .mcp.json of projects that you trust. What their tools
do is asked about like everything else. A tool whose definition changed is blocked until you have seen the difference.`,
		Example: `  hermes mcp add files -- npx -y @modelcontextprotocol/server-filesystem@2026.8.31 ~/projects
  hermes mcp test files
  hermes mcp list`,
		Args: cobra.ArbitraryArgs, RunE: base.Subcommands,
	}
	cmd.AddCommand(c.list(), c.test(), c.add(), c.remove(), c.tools(), c.LogsCommand("Show what a server said beside the protocol, and what became of it", c.complete), c.login(), c.trust(), c.serve())
	return cmd
}

// with opens the program for work on servers.
func (c *command) with(cmd *cobra.Command, work func(context.Context, client.Servers) error) error {
	return c.WithFolder(cmd, func(ctx context.Context, app client.Client) error {
		if app.Servers() == nil {
			return base.Failed(base.ExitFailed, "this program was built without servers of tools")
		}
		return work(ctx, app.Servers())
	})
}

func (c *command) list() *cobra.Command {
	var asJSON, still bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "Connect to all servers and say how they are", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd, func(ctx context.Context, servers client.Servers) error {
				if !still {
					servers.Await(ctx)
				}
				list := servers.List()
				if asJSON {
					return base.WriteJSON(c.Streams.Out, list, true)
				}
				return c.printList(list)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: state, tools, tokens, last error")
	cmd.Flags().BoolVar(&still, "no-connect", false, "only say what is set up; start nothing")
	return cmd
}

func (c *command) printList(list []mcp.Status) error {
	if len(list) == 0 {
		c.Note("no server is set up; `hermes mcp add NAME -- COMMAND` sets one up")
		return nil
	}
	t := base.Table{Head: []string{"NAME", "STATE", "TOOLS", "TOKENS", "WHERE", "NOTE"}, Fit: c.Width()}
	for _, s := range list {
		t.Row(s.Name, string(s.State), count(s), fmt.Sprint(s.Tokens), base.Cut(s.Where, 50), note(s))
	}
	return t.Write(c.Streams.Out)
}

func count(s mcp.Status) string {
	out := fmt.Sprint(len(s.Tools))
	if s.Hidden > 0 {
		out += fmt.Sprintf(" (%d hidden)", s.Hidden)
	}
	return out
}

// note is what a person should know of a server, the worst first.
func note(s mcp.Status) string {
	switch {
	case s.LastError != "":
		return s.LastError
	case s.Changed > 0:
		return fmt.Sprintf("%s blocked: `hermes mcp tools %s --review`", text.Count(s.Changed, "tool is", "tools are"), s.Name)
	default:
		return s.Warning
	}
}

func (c *command) test() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "test <name>", Short: "Connect to a server and list its tools; ends with 0 when that works", Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, func(ctx context.Context, servers client.Servers) error {
				s, err := c.ready(ctx, servers, args[0])
				if asJSON && s.Name != "" {
					if werr := base.WriteJSON(c.Streams.Out, s, true); werr != nil {
						return werr
					}
				}
				if err != nil || asJSON {
					return err
				}
				c.describe(s)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// ready waits for a server. That it is not is an error that says why.
func (c *command) ready(ctx context.Context, servers client.Servers, name string) (mcp.Status, error) {
	if _, err := servers.Status(name); err != nil {
		return mcp.Status{}, base.Failed(base.ExitUsage, "%w", err)
	}
	servers.Await(ctx, name)
	s, err := servers.Status(name)
	switch {
	case err != nil:
		return s, err
	case s.State == mcp.StateReady:
		return s, nil
	case s.State == mcp.StateOff:
		return s, base.Failed(base.ExitFailed, "%s is switched off: `hermes config set mcp_servers.%s.enabled yes`", name, name)
	}
	why := s.LastError
	if why == "" {
		why = "it is " + string(s.State)
	}
	lines, err := servers.Log(name)
	for _, line := range tail(lines, 5) {
		c.Note("  %s", text.Sanitize(line))
	}
	if err != nil {
		return s, err
	}
	return s, base.Failed(base.ExitFailed, "%s: %s (from %s)", name, why, s.From)
}

func tail(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

func (c *command) describe(s mcp.Status) {
	what := s.Server
	if what == "" {
		what = s.Name
	}
	fmt.Fprintf(c.Streams.Out, "%s: ready, %s over %s, protocol %s\n", s.Name, text.Sanitize(what), s.Transport, text.Sanitize(s.Protocol))
	fmt.Fprintf(c.Streams.Out, "%s, about %d tokens\n", text.Count(len(s.Tools), "tool", "tools"), s.Tokens)
	for _, t := range s.Tools {
		fmt.Fprintf(c.Streams.Out, "  %-10s %s  %s\n", t.Rule, text.Sanitize(t.Tool), base.Cut(t.Gist, 70))
	}
	if n := note(s); n != "" {
		c.Note("%s", n)
	}
}

// complete completes names from the settings; nothing is opened for it.
func (c *command) complete(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	start, err := c.Load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for name := range start.Config.MCPServers {
		out = append(out, name)
	}
	slices.Sort(out)
	return out, cobra.ShellCompDirectiveNoFileComp
}
