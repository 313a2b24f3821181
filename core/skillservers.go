package core

import (
	"cmp"
	"context"

	"hermes/core/prompt"
)

// remindServers starts the servers that the skills of a session name, once a process: the skills of
// its earlier turns count in a new one too.
func (a *App) remindServers(ctx context.Context, session string) {
	if !a.MCP.AnyForSkills() {
		return
	}
	if _, known := a.reminded.LoadOrStore(session, true); !known {
		a.nameServers(ctx, session, a.storedSkills(ctx, session))
	}
}

// nameServers starts the servers that skills of a session name.
func (a *App) nameServers(ctx context.Context, session string, names []string) {
	if len(names) == 0 {
		return
	}
	info, err := a.Sessions.Get(ctx, session)
	if err != nil {
		return
	}
	project := prompt.ProjectRoot(cmp.Or(info.Cwd, a.Cwd()))
	for _, name := range names {
		if s, err := a.Skills.Find(ctx, project, name); err == nil { // else it was removed since
			a.MCP.Named(session, s.Servers)
		}
	}
}

// leaveServers ends the servers that only the skills of a session wanted: it is over.
func (a *App) leaveServers(session string) {
	a.reminded.Delete(session)
	a.MCP.Leave(session)
}
