package core

import (
	"context"
	"fmt"
	"sync"

	"hermes/core/agent"
	"hermes/core/client"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/hook"
	"hermes/core/trust"
)

var _ agent.Hooks = (*hooksPart)(nil)

// hooksPart is the hooks, and the sessions that they were told of.
type hooksPart struct {
	quiet
	a *App

	mu       sync.Mutex
	sessions map[string]string // folders by uid
}

func (p *hooksPart) Start(context.Context) error {
	b, err := p.a.ProjectHooks()
	switch {
	case err != nil:
		p.a.publishNotice(event.Warn, err.Error(), "")
	case b != nil && (b.State == trust.Unasked || b.State == trust.Outdated):
		what := "brings hooks that are not trusted"
		if b.State == trust.Outdated {
			what = "has changed its hooks since they were trusted"
		}
		p.a.publishNotice(event.Warn, b.Folder+" "+what+" ("+hook.ProjectFile+"): they are not run", "/hooks trust or `hermes hooks trust` shows them and asks")
	}
	p.a.applyHooks(b)
	return nil
}

// Changed takes the hooks of edited settings.
func (p *hooksPart) Changed(config.Change) {
	b, err := p.a.ProjectHooks()
	if err != nil {
		p.a.log.Warn("the project's hooks are not known", "err", err)
	}
	p.a.applyHooks(b)
}

// applyHooks puts the hooks of the settings, and those of a project that the person trusts, in
// their place.
func (a *App) applyHooks(b *hook.Brought) {
	var brought []hook.Hook
	if b != nil && b.State == trust.Trusted {
		brought = b.Hooks
	}
	for owner, list := range map[string][]hook.Hook{
		hook.OwnerSettings: hook.Commands{Pool: a.Pool}.Of(a.Config().Hooks), hook.OwnerProject: brought,
	} {
		if err := a.HookSet.Replace(owner, list); err != nil {
			a.publishNotice(event.Warn, err.Error(), "")
		}
	}
}

func (a *App) hookProjects() *hook.Projects {
	return hook.NewProjects(a.Config().Paths().Home, hook.Commands{Pool: a.Pool})
}

// ProjectHooks is the hooks that the project brings; nil when it brings none.
func (a *App) ProjectHooks() (*hook.Brought, error) {
	return a.hookProjects().Look(a.Project(), a.Config())
}

// TrustHooks remembers what the person said about the hooks that they were shown.
func (a *App) TrustHooks(shown *hook.Brought, yes bool) error {
	if err := a.hookProjects().Answer(shown, yes); err != nil {
		return err
	}
	now, err := a.ProjectHooks()
	if err != nil {
		return err
	}
	a.applyHooks(now)
	if yes && (now == nil || now.State != trust.Trusted) {
		return fmt.Errorf("%s has changed since it was shown: look at it again", hook.ProjectFile)
	}
	return nil
}

// Run has hooks take part in what a turn does, and writes it down.
func (p *hooksPart) Run(ctx context.Context, in hook.Input, told func(event.HookRan)) hook.Verdict {
	if in.Event == hook.SessionStart {
		p.mu.Lock()
		if p.sessions == nil {
			p.sessions = map[string]string{}
		}
		p.sessions[in.Session] = in.Cwd
		p.mu.Unlock()
	}
	return p.a.HookSet.Run(ctx, in, func(e event.HookRan) {
		p.a.log.Info("hook", "event", e.Event, "name", e.Name, "owner", e.Owner, "outcome", e.Outcome, "tool", e.Tool, "text", e.Text, "took", e.Took)
		told(e)
	})
}

func (p *hooksPart) Forget(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, session)
}

// Close tells hooks that sessions end.
func (p *hooksPart) Close(ctx context.Context) error {
	p.mu.Lock()
	sessions := p.sessions
	p.sessions = nil
	p.mu.Unlock()
	for uid, cwd := range sessions {
		p.Run(ctx, hook.Input{Event: hook.SessionEnd, Session: uid, Cwd: cwd}, func(e event.HookRan) {
			p.a.Bus.Publish(event.Header{Session: uid}, e)
		})
	}
	return nil
}

// Hooks are programs that take part in what the agent does.
func (a *App) Hooks() client.Hooks { return hooks{a.HookSet, a} }

// hooks are they as every way in sees them.
type hooks struct {
	*hook.Set
	a *App
}

// Test runs the hooks of an event, in no session.
func (h hooks) Test(ctx context.Context, in hook.Input) (hook.Verdict, []event.HookRan) {
	in.Cwd = h.a.Cwd()
	all := []event.HookRan{}
	v := h.Run(ctx, in, func(e event.HookRan) { all = append(all, e) })
	return v, all
}

// Project is what the project brings; nil when it brings nothing.
func (h hooks) Project() (*hook.Brought, error) { return h.a.ProjectHooks() }

// Trust says what the person thinks of it.
func (h hooks) Trust(shown *hook.Brought, yes bool) error { return h.a.TrustHooks(shown, yes) }
