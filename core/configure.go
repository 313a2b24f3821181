package core

import (
	"cmp"
	"context"
	"time"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/event"
	"hermes/core/session"
)

// OpenWith says how a session works in this process, in place of Options.Session: what this way in
// was told for it. Nothing is stored.
func (a *App) OpenWith(uid string, c session.Config) error {
	if err := a.Tools.Unknown(c.Toolsets); err != nil {
		return err
	}
	a.openedWith.Store(uid, c)
	return nil
}

// Configure changes how a session works, from its next turn (the toolsets) or call (the policy) on,
// also after a restart.
func (a *App) Configure(ctx context.Context, uid string, change func(*session.Config)) (session.Config, error) {
	a.configuring.Lock()
	defer a.configuring.Unlock()
	if err := a.Ensure(ctx, uid); err != nil {
		return session.Config{}, err
	}
	c, err := a.Sessions.ConfigOf(ctx, uid)
	if err != nil {
		a.log.Warn("the session's config is made anew", "session", uid, "err", err)
		c = session.Config{}
	}
	change(&c)
	if err := a.Tools.Unknown(c.Toolsets); err != nil {
		return c, err
	}
	if err := a.Sessions.SetConfig(ctx, uid, c); err != nil {
		return c, err
	}
	way := a.wayIn(uid)
	a.openedWith.Store(uid, session.Config{Source: way.Source, Unattended: way.Unattended}) // the newest word counts
	a.tellConfig(uid, c)
	return a.SessionConfig(ctx, uid)
}

// SetAttended says whether somebody can answer for a session: while nobody can, what would be asked
// is refused at once. It holds until the program ends, or the next word.
func (a *App) SetAttended(ctx context.Context, uid string, on bool) error {
	a.configuring.Lock()
	defer a.configuring.Unlock()
	if err := a.Ensure(ctx, uid); err != nil {
		return err
	}
	way := a.wayIn(uid)
	way.Unattended = !on
	a.openedWith.Store(uid, way)
	c, err := a.SessionConfig(ctx, uid)
	a.tellConfig(uid, c)
	return err
}

func (a *App) tellConfig(uid string, c session.Config) {
	a.Bus.Publish(event.Header{Session: uid}, event.SessionConfigured{Level: c.Policy.LevelName(), Toolsets: c.Toolsets, Effort: c.Effort, Unattended: a.wayIn(uid).Unattended})
}

// SessionConfig is how a session works: as this way in was told, else as was stored for it. Zero
// fields mean the settings.
func (a *App) SessionConfig(ctx context.Context, uid string) (session.Config, error) {
	stored, err := a.Sessions.ConfigOf(ctx, uid)
	return a.wayIn(uid).WithDefaults(stored), err
}

// wayIn is what the way in that opened the session was told.
func (a *App) wayIn(uid string) session.Config {
	if c, ok := a.openedWith.Load(uid); ok {
		return c.(session.Config)
	}
	return a.opts.Session
}

// configOf is SessionConfig for those who cannot fail.
func (a *App) configOf(uid string) (session.Config, error) {
	if uid == "" {
		return a.opts.Session, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), configTime)
	defer cancel()
	return a.SessionConfig(ctx, uid)
}

// configTime bounds the reading of one row.
const configTime = 10 * time.Second

// policyFor is how the gate behaves for a session. When its config cannot be read nothing but
// reading runs unasked: it may have been stricter than the settings.
func (a *App) policyFor(uid string, p approval.Policy) approval.Policy {
	c, err := a.configOf(uid)
	if err != nil {
		a.log.Warn("a session's config cannot be read, everything is asked", "session", uid, "err", err)
		p.Mode, p.Level, p.Allow = approval.ModeManual, approval.LevelRead, nil
		p.Unattended = c.Unattended
		return p
	}
	if c.Policy.Mode != "" {
		p.Mode = approval.Mode(c.Policy.Mode)
	}
	if c.Policy.Level != nil {
		p.Level = approval.Level(*c.Policy.Level)
		if c.Policy.Mode == "" && (p.Mode == approval.ModeOff || p.Mode == approval.ModePlan) {
			p.Mode = approval.ModeManual // a level of its own asks about what is above it
		}
	}
	p.Unattended = c.Unattended
	return p
}

// agentSettings are the agent's for a session.
func (a *App) agentSettings(uid string) agent.Settings {
	s := a.settingsInEffect()
	c, err := a.configOf(uid)
	if err != nil {
		a.log.Warn("a session's config cannot be read, it has the tools of the settings", "session", uid, "err", err)
	}
	if len(c.Toolsets) > 0 {
		s.Toolsets = c.Toolsets
	}
	s.Effort, s.EffortSet = cmp.Or(c.Effort, s.Effort), c.Effort != ""
	return s
}
