package core

import (
	"context"

	"hermes/core/agent"
	"hermes/core/backend"
	"hermes/core/checkpoint"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/mcp"
	"hermes/core/tool"
)

var _ client.Client = (*App)(nil)

// Events tells everything that happens.
func (a *App) Events() *event.Bus { return a.Bus }

// History is the conversations that are stored.
func (a *App) History() client.Sessions { return a.Sessions }

// Checkpointed implements client.Client.
func (a *App) Checkpointed() *checkpoint.Store { return a.Checkpoints }

// Catalog is the models that can be talked to.
func (a *App) Catalog() client.Models { return a.Models }

// Backends are where commands run.
func (a *App) Backends() backend.Pool { return a.Pool }

// Servers bring the agent tools.
func (a *App) Servers() client.Servers { return toolServers{a.MCP, a} }

// toolServers are the servers with those of the project.
type toolServers struct {
	*mcp.Manager
	a *App
}

// Project is what the project brings; nil when it brings nothing.
func (s toolServers) Project() (*mcp.Brought, error) { return s.a.ProjectServers() }

// Trust says what the person thinks of it.
func (s toolServers) Trust(shown *mcp.Brought, yes bool) error { return s.a.TrustServers(shown, yes) }

// Interrupt stops the session's turn.
func (a *App) Interrupt(session string) bool { return a.Agent.Interrupt(session) }

// Wait lasts until the session has nothing to do.
func (a *App) Wait(ctx context.Context, session string) error { return a.Agent.Wait(ctx, session) }

// Answer settles what a person was asked about a call.
func (a *App) Answer(approval string, d event.Decision) error { return a.Agent.Answer(approval, d) }

// AnswerEdited settles it with a command that runs in place of the call's own.
func (a *App) AnswerEdited(approval, command string) error {
	return a.Agent.AnswerEdited(approval, command)
}

// AnswerQuestion settles what a tool asked.
func (a *App) AnswerQuestion(question, text string) error {
	return a.Agent.AnswerQuestion(question, text)
}

// SetModel chooses the session's model.
func (a *App) SetModel(ctx context.Context, session, ref string) error {
	return a.Agent.SetModel(ctx, session, ref)
}

// Toolsets lists the sets of tools, and which of them a choice switches on.
func (a *App) Toolsets(chosen []string) []tool.SetView { return a.Tools.Overview(chosen) }

// SwitchToolset returns a choice with one set on or off.
func (a *App) SwitchToolset(chosen []string, name string, on bool) ([]string, error) {
	return a.Tools.Switch(chosen, name, on)
}

// TakeTools gives a session the tools as they are now.
func (a *App) TakeTools(ctx context.Context, session string) (event.ToolsChanged, error) {
	return a.Agent.TakeTools(ctx, session)
}

// Composition tells what the next model call of a session is made of.
func (a *App) Composition(ctx context.Context, session string) (agent.Composition, error) {
	return a.Agent.Composition(ctx, session)
}
