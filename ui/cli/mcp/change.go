package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/childenv"
	"hermes/core/client"
	"hermes/core/config"
	"hermes/ui/cli/base"
)

// addFlags are a server's entry.
type addFlags struct {
	url, transport, backend string
	env, headers            []string
	noTest                  bool
}

func (c *command) add() *cobra.Command {
	var f addFlags
	cmd := &cobra.Command{
		Use: "add <name> [-- command args...]", Short: "Set a server up and try it", Args: cobra.MinimumNArgs(1),
		Long: `Set a server up in config.yaml and try it.

A program stands behind --; a server that is reached over HTTP has --url. --env NAME gives a program a variable of yours,
--env NAME=VALUE another value: when the name says that it is a secret, the value goes to .env and not into config.yaml.`,
		Example: `  hermes mcp add memory -- npx -y @modelcontextprotocol/server-memory@2026.8.31
  hermes mcp add github --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github
  hermes mcp add docs --url https://mcp.example.com/mcp`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() > 1 || cmd.ArgsLenAtDash() < 0 && len(args) > 1 {
				return base.UsageError("write the command behind --: hermes mcp add %s -- %s", args[0], strings.Join(args[1:], " "))
			}
			if err := c.addServer(args[0], args[1:], f); err != nil {
				return err
			}
			if f.noTest {
				return nil
			}
			return c.with(cmd, func(ctx context.Context, servers client.Servers) error {
				s, err := c.ready(ctx, servers, args[0])
				if err != nil {
					c.Note("the entry was written; `hermes mcp remove %s` takes it away", args[0])
					return err
				}
				c.describe(s)
				return nil
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.url, "url", "", "`address` of a server that is reached over HTTP")
	fl.StringVar(&f.transport, "transport", "", "http or sse; by itself: what the server answers")
	fl.StringVar(&f.backend, "backend", "", "run it in this back end")
	fl.StringArrayVarP(&f.env, "env", "e", nil, "give it a variable: `NAME` or NAME=VALUE")
	fl.StringArrayVarP(&f.headers, "header", "H", nil, "send this with every request: `NAME: VALUE`, ${VAR} for secrets")
	fl.BoolVar(&f.noTest, "no-test", false, "only write it")
	return cmd
}

func (c *command) addServer(name string, argv []string, f addFlags) error {
	start, err := c.Load()
	if err != nil {
		return err
	}
	if _, there := start.Config.MCPServers[name]; there {
		return base.UsageError("there is a server %s already: `hermes mcp remove %s` first", name, name)
	}
	if (f.url == "") == (len(argv) == 0) {
		return base.UsageError("write a command behind --, or --url ADDRESS")
	}
	entry := map[string]any{}
	if len(argv) > 0 {
		entry["command"] = argv[0]
		if len(argv) > 1 {
			entry["args"] = argv[1:]
		}
	}
	for key, value := range map[string]string{"url": f.url, "transport": f.transport, "backend": f.backend} {
		if value != "" {
			entry[key] = value
		}
	}
	paths := start.Config.Paths()
	env, err := variables(paths, f.env)
	if err != nil {
		return err
	}
	if len(env) > 0 {
		entry["env"] = env
	}
	if headers, err := headers(f.headers); err != nil {
		return err
	} else if len(headers) > 0 {
		entry["headers"] = headers
	}
	data, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if err := config.Set(paths, "mcp_servers."+name, string(data)); err != nil {
		return base.Failed(base.ExitUsage, "%w", err)
	}
	c.Note("%s is set up in %s", name, paths.ConfigFile)
	return nil
}

// variables are those of an entry. The values of secrets go to .env.
func variables(paths config.Paths, list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, one := range list {
		name, value, given := strings.Cut(one, "=")
		switch {
		case name == "":
			return nil, base.UsageError("--env %s: write NAME or NAME=VALUE", one)
		case !given:
			out[name] = "${" + name + "}"
		case childenv.LooksSecret(name) || childenv.HoldsSecret(value):
			if err := config.SetSecret(paths, name, value); err != nil {
				return nil, err
			}
			out[name] = "${" + name + "}"
		default:
			out[name] = value
		}
	}
	return out, nil
}

func headers(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, one := range list {
		name, value, ok := strings.Cut(one, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, base.UsageError("--header %s: write NAME: VALUE", name)
		}
		out[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return out, nil
}

func (c *command) remove() *cobra.Command {
	return &cobra.Command{
		Use: "remove <name>", Aliases: []string{"rm"}, Short: "Take a server out of config.yaml", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		RunE: func(_ *cobra.Command, args []string) error {
			start, err := c.Load()
			if err != nil {
				return err
			}
			name := args[0]
			gone, err := config.Remove(start.Config.Paths(), "mcp_servers."+name)
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			if !gone {
				if _, there := start.Config.MCPServers[name]; there {
					return base.UsageError("%s does not stand in config.yaml: take it out of %s", name, start.Config.Origin(fmt.Sprintf("mcp_servers.%s.command", name)))
				}
				return base.UsageError("there is no server %s", name)
			}
			c.Note("%s is removed", name)
			return nil
		},
	}
}
