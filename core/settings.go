package core

import (
	"cmp"
	"context"
	"math"
	"path/filepath"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/config"
	"hermes/core/event"
)

// gatePart decides what may run.
type gatePart struct {
	quiet
	a *App
}

func (p *gatePart) Start(context.Context) error {
	p.a.Gate = approval.New(p.a.approvalPolicy(), approval.NewFile(filepath.Join(p.a.Config().Paths().Home, "approvals.json")))
	p.a.Gate.PerSession(p.a.policyFor)
	return nil
}

func (p *gatePart) Changed(config.Change) { p.a.Gate.SetPolicy(p.a.approvalPolicy()) }

func (p *gatePart) Forget(session string) {
	p.a.Gate.Forget(session)
	p.a.openedWith.Delete(session)
}

// approvalPolicy is how the gate behaves with the settings in effect.
func (a *App) approvalPolicy() approval.Policy {
	c := a.Config()
	return approval.Policy{
		Mode: approval.Mode(c.Approvals.Mode), Timeout: c.Approvals.Timeout, Allow: c.CommandAllowlist, Deny: c.Approvals.Deny,
		Level: approval.Level(c.Approvals.Level), Remember: c.Approvals.Remember, Judge: approvalModel{a}, DataDir: c.Paths().Home, Unkept: a.whyUnkept,
	}
}

// settingsInEffect are the agent's with the settings in effect.
func (a *App) settingsInEffect() agent.Settings {
	c := a.Config()
	s := agent.Settings{
		MaxTurns: c.Agent.MaxTurns, Toolsets: c.Toolsets, Effort: c.Agent.ReasoningEffort, MaxTokens: c.Model.MaxTokens,
		Busy: event.InputMode(c.Display.BusyInputMode), KeepOnFailure: c.Compression.AbortOnSummaryFailure,
		ProtectFirst: c.Compression.ProtectFirstN,
	}
	if c.Refused(config.AllTools) != nil { // the usual ones are shown, and each call says why it is refused
		s.Toolsets = nil
	}
	if s.MaxTurns == 0 { // "no limit" in the settings
		s.MaxTurns = math.MaxInt
	}
	s.Summarisers, s.SummaryTime = c.Auxiliary.Compression.Refs(), c.Auxiliary.Compression.Timeout
	s.Compress = c.Compression.Enabled
	if c.Compression.Enabled {
		s.CompressAt, s.KeepShare = c.Compression.Threshold, c.Compression.TargetRatio
		s.ProtectLast = c.Compression.ProtectLastN
	}
	s.Retries = cmp.Or(c.Agent.APIMaxRetries, -1) // 0 means none there, and no bound here
	return s
}

// settingsPart applies edits of the settings while the program runs.
type settingsPart struct {
	quiet
	follower
	a *App
}

func (p *settingsPart) Start(context.Context) error {
	if p.a.opts.Reload == nil {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	changes, err := config.Watch(ctx, *p.a.opts.Reload, p.a.Config(), p.a.opts.Problems)
	if err != nil {
		stop()
		p.a.publishNotice(event.Warn, err.Error(), "")
		return nil
	}
	p.startFollowing("settings", stop, func() {
		for change := range changes {
			p.a.applySettings(change)
		}
	})
	return nil
}

func (p *settingsPart) Close(ctx context.Context) error {
	return p.stopFollowing(ctx, "edited settings were still being applied")
}

func (a *App) applySettings(change config.Change) {
	a.config.Store(change.Config)
	LearnSecrets(change.Config)
	for _, p := range a.parts {
		p.Changed(change)
	}
	if a.opts.Changed != nil {
		a.opts.Changed(change.Config)
	}
	a.Bus.Publish(event.Header{}, event.ConfigReloaded{Changed: change.Live, Problems: problemLines(change.Problems)})
	if len(change.Next) > 0 {
		a.publishNotice(event.Info, "changed, from the next start on: "+joinWords(change.Next), "")
	}
}
