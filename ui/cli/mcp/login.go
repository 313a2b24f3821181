package mcp

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/crash"
	"hermes/core/mcp"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

func (c *command) login() *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "login <name>", Short: "Log in to a server that wants it (OAuth)", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		Long: `Log in to a server that wants it (OAuth).

It prints an address; open it in a browser. Where the browser cannot come back to this machine (a far host), paste the address that it
was led to. What the server gives is kept in mcp-tokens, readable by you only, and is renewed by itself.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, func(ctx context.Context, servers client.Servers) error {
				ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
				defer stop()
				ctx, cancel := context.WithTimeout(ctx, wait)
				defer cancel()
				show := func(address string) {
					fmt.Fprintln(c.Streams.Out, text.Sanitize(address))
					c.Note("open this address in a browser, or paste here the one that it leads back to")
				}
				if err := servers.Login(ctx, args[0], mcp.LoginTalk{Show: show, Paste: c.pasted()}); err != nil {
					return base.Failed(base.ExitFailed, "%w", err)
				}
				s, err := c.ready(ctx, servers, args[0])
				if err != nil {
					return err
				}
				c.describe(s)
				return nil
			})
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 5*time.Minute, "how long to wait for the browser")
	return cmd
}

// pasted are the lines that the person writes. It ends with the program.
func (c *command) pasted() <-chan string {
	lines := make(chan string, 1)
	crash.Go("mcp paste", func() {
		defer close(lines)
		in := bufio.NewScanner(c.Streams.In)
		for in.Scan() {
			lines <- in.Text()
		}
	})
	return lines
}
