package mcp

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/mcp/serve"
	"hermes/core/session"
	"hermes/ui/cli/base"
)

type serveFlags struct {
	base.OpenFlags
	http        string
	send        bool
	permissions bool
}

func (c *command) serve() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Let other programs read the conversations, as a server of this protocol", Args: cobra.NoArgs,
		Long: `Let other programs read the conversations, as a server of this protocol.

It speaks over standard input and output, for programs that start it; with --http over an address of this machine, for programs that
send its token. They list, read and search conversations and follow what happens. Messages they send only with --allow-send: the agent
works on them unattended, and what would be asked is refused. With --allow-permissions they are asked instead.`,
		Example: `  hermes mcp serve
  hermes mcp serve --allow-send --cwd ~/project
  hermes mcp serve --http 127.0.0.1:8765`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runServe(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.http, "http", "", "serve streamable HTTP at this `address` of this machine, in place of standard input and output")
	fl.BoolVar(&f.send, "allow-send", false, "let programs send messages, which the agent works on")
	fl.BoolVar(&f.permissions, "allow-permissions", false, "let programs answer what the agent asks before it does something")
	fl.StringVarP(&f.Model, "model", "m", "", "new conversations talk to this `model`")
	fl.StringVar(&f.Cwd, "cwd", "", "new conversations work in this `folder`")
	return cmd
}

func (c *command) runServe(ctx context.Context, f serveFlags) error {
	if f.permissions && !f.send {
		return base.UsageError("--allow-permissions answers for what was sent: write --allow-send too")
	}
	start, err := c.LoadWith(f.OpenFlags)
	if err != nil {
		return err
	}
	for _, p := range start.Problems {
		c.Note("hermes: %s", p)
	}
	start.Session = session.Config{Source: "mcp", Unattended: !f.permissions}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return c.WithClient(ctx, start, func(ctx context.Context, app client.Client) error {
		s, err := serve.New(serve.Options{Client: app, Version: start.Version, Send: f.send, Permissions: f.permissions, Log: start.Log})
		if err != nil {
			return err
		}
		defer s.Close()
		if f.http != "" {
			return c.serveHTTP(ctx, s, f.http, start.Config.Paths().Home)
		}
		if base.IsTerminal(c.Streams.In) {
			c.Note("programs start this and speak with it over standard input and output; ctrl+c ends it")
		}
		return s.Stdio(ctx, c.Streams.In, c.Streams.Out)
	})
}

func (c *command) serveHTTP(ctx context.Context, s *serve.Server, address, home string) error {
	token, err := serve.Token(home)
	if err != nil {
		return base.Failed(base.ExitFailed, "the token of clients: %w", err)
	}
	l, err := serve.Listen(ctx, address)
	if err != nil {
		return base.Failed(base.ExitUsage, "--http %s: %w", address, err)
	}
	fmt.Fprintf(c.Streams.Out, "http://%s/\n", l.Addr())
	c.Note("programs send the header Authorization: Bearer and the token in %s; ctrl+c ends it", serve.TokenFile(home))
	if err := s.HTTP(ctx, l, token); err != nil && !errors.Is(err, context.Canceled) {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	return nil
}
