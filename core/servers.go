package core

import (
	"context"
	"slices"
	"time"

	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/mcp"
	"hermes/core/tool"
)

// serversPart is the servers of tools. It starts none: who needs their tools does.
type serversPart struct {
	quiet
	a *App
}

func (p *serversPart) Start(context.Context) error {
	a := p.a
	a.MCP = mcp.New(mcp.Options{
		Pool: a.Pool, Replace: a.Tools.Replace, Expand: expandHome, Cwd: a.Cwd, Home: a.Config().Paths().Home,
		Version: a.opts.Version, Log: a.log,
		Told: func(c mcp.StateChanged) {
			a.Bus.Publish(event.Header{}, event.ServerChanged{
				Name: c.Name, State: string(c.State), Tools: c.Tools, Changed: c.Changed, Error: c.Error, Next: c.Next,
			})
		},
	})
	a.MCP.Apply(mcp.FromConfig(a.Config()))
	return nil
}

func (p *serversPart) Changed(c config.Change) { p.a.MCP.Apply(mcp.FromConfig(c.Config)) }

func (p *serversPart) Close(ctx context.Context) error {
	if p.a.MCP == nil {
		return nil
	}
	return p.a.MCP.Close(ctx)
}

// owners are those who may bring tools later: their names choose tools before they have brought any.
func (a *App) owners() []string {
	var out []string
	for name, s := range a.Config().MCPServers {
		if !s.Off() {
			out = append(out, mcp.OwnerPrefix+name, mcp.Toolset(name))
		}
	}
	return out
}

// serversOf are the servers that a choice of toolsets needs.
func (a *App) serversOf(toolsets []string) []string {
	names := a.MCP.Names()
	if len(toolsets) == 0 || slices.Contains(toolsets, tool.DefaultToolset) || slices.Contains(toolsets, "all") {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.Contains(toolsets, mcp.OwnerPrefix+name) && !slices.Contains(toolsets, mcp.Toolset(name))
	})
}

// awaitTools starts the servers that a session needs and waits for them: where a person sits, for a
// moment before it is given its first tools, since they can take what comes later; else until each
// has said yes or no.
func (a *App) awaitTools(ctx context.Context, session string, toolsets []string, first bool) {
	names := a.serversOf(toolsets)
	if len(names) == 0 {
		return
	}
	a.MCP.Want(names...)
	if way := a.wayIn(session); way.Source == "tui" {
		if !first {
			return
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.Config().MCPWait)
		defer cancel()
	}
	began := time.Now()
	a.MCP.Await(ctx, names...)
	a.log.Debug("waited for servers of tools", "servers", names, "took", time.Since(began))
}
