package core

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/mcp"
	"hermes/core/secret"
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
	b, err := a.ProjectServers()
	switch {
	case err != nil:
		a.notice(event.Warn, err.Error(), "")
	case b != nil && (b.State == mcp.Unasked || b.State == mcp.Outdated):
		a.notice(event.Warn, untrustedServers(b), "/mcp or `hermes mcp trust` shows them and asks")
	}
	a.applyServers(b)
	return nil
}

// untrustedServers says what a project brings that is not started.
func untrustedServers(b *mcp.Brought) string {
	what := "brings servers of tools that are not trusted"
	if b.State == mcp.Outdated {
		what = "has changed its servers of tools since they were trusted"
	}
	return b.Folder + " " + what + " (" + mcp.ProjectFile + "): they are not started"
}

// Changed takes the servers of edited settings. Those of the project stay as they were trusted.
func (p *serversPart) Changed(config.Change) {
	b, err := p.a.ProjectServers()
	if err != nil {
		p.a.log.Warn("the project's servers are not known", "err", err)
	}
	p.a.applyServers(b)
}

// applyServers gives the manager the person's servers, and those of a project that they trust. A
// name of the person's is never the project's.
func (a *App) applyServers(b *mcp.Brought) {
	all := mcp.FromConfig(a.Config())
	if b != nil && b.State == mcp.Trusted {
		secret.Add(b.Config.Secrets()...)
		for _, s := range b.Servers {
			if _, own := all[s.Name]; !own {
				all[s.Name] = s
			}
		}
	}
	a.MCP.Apply(all)
}

// ProjectServers is what the project brings; nil when it brings nothing.
func (a *App) ProjectServers() (*mcp.Brought, error) {
	return mcp.NewProjects(a.Config().Paths().Home).Look(a.Project(), a.Config())
}

// TrustServers remembers what the person said about the servers that they were shown, and starts or
// ends them.
func (a *App) TrustServers(shown *mcp.Brought, yes bool) error {
	if err := mcp.NewProjects(a.Config().Paths().Home).Answer(shown, yes); err != nil {
		return err
	}
	now, err := a.ProjectServers()
	if err != nil {
		return err
	}
	a.applyServers(now)
	a.MCP.Want()
	if yes && (now == nil || now.State != mcp.Trusted) {
		return fmt.Errorf("%s has changed since it was shown: look at it again", mcp.ProjectFile)
	}
	return nil
}

func (p *serversPart) Close(ctx context.Context) error {
	if p.a.MCP == nil {
		return nil
	}
	return p.a.MCP.Close(ctx)
}

// owners are those who may bring tools later: their names choose tools before they have brought any.
func (a *App) owners() []string {
	out := serverToolsets(a.Config())
	if b, err := a.ProjectServers(); err == nil && b != nil && b.State == mcp.Trusted {
		for _, s := range b.Servers {
			if !s.Off() {
				out = append(out, mcp.OwnerPrefix+s.Name, mcp.Toolset(s.Name))
			}
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

// deferTools leaves out of a session's list what would take too much of the model's window.
func (a *App) deferTools(window int, specs []tool.Spec) (listed, found []tool.Spec) {
	return mcp.Deferred(window, a.Config().MCP.Defer, specs)
}
