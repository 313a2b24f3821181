package core

import (
	"cmp"
	"context"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/config"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/provider/offline"
	"hermes/core/provider/openai"
)

// Models is the set of providers of the settings in effect; it is replaced as a whole when they change.
type Models struct{ set atomic.Pointer[provider.Set] }

func newModels(s provider.Settings) *Models {
	m := &Models{}
	m.set.Store(provider.NewSet(s))
	return m
}

func (m *Models) close() { m.set.Load().Close() }

// replace makes s the settings from the next turn on; streams of the old ones go on.
func (m *Models) replace(s provider.Settings) { m.set.Swap(provider.NewSet(s)).Close() }

// Resolve finds a model by "provider/model", "model", "provider", or "" for the default.
func (m *Models) Resolve(ctx context.Context, ref string) (provider.Provider, provider.Model, error) {
	return m.set.Load().Resolve(ctx, ref)
}

// List returns every model that can be used now. It may use the network.
func (m *Models) List(ctx context.Context) []provider.Model { return m.set.Load().List(ctx) }

// Kinds are the wire formats of this version.
func Kinds() map[string]provider.Maker {
	return map[string]provider.Maker{"openai": openai.Make, provider.Offline: offline.Make}
}

// modelSettings says which providers the settings name. A key goes to its own provider only.
func modelSettings(c *config.Config, model string, firm bool) provider.Settings {
	s := provider.Settings{Default: defaultModel(c, model), Explicit: model != "", Firm: firm, Window: c.Model.ContextLength, Kinds: Kinds(), Providers: map[string]provider.Endpoint{}}
	for name, p := range c.Providers {
		s.Providers[name] = endpoint(c, p)
	}
	if m := c.Model; m.BaseURL != "" {
		name := m.Provider
		if name == "" || name == "auto" {
			name = "custom"
		}
		e := s.Providers[name]
		e.BaseURL, e.Headers = m.BaseURL, m.Headers
		if key := keyFrom(c, m.APIKey, m.APIKeyEnv); key != "" {
			e.Key = key
		}
		s.Providers[name] = e
	}
	return s.WithEnv(func(name string) string {
		v, _ := c.Secret(name)
		return v
	})
}

func defaultModel(c *config.Config, model string) string {
	if model != "" {
		return model
	}
	m := c.Model
	if m.Provider == "" || m.Provider == "auto" {
		if m.BaseURL != "" && m.Default != "" {
			return "custom/" + m.Default
		}
		return m.Default
	}
	if m.Default == "" {
		return m.Provider
	}
	return m.Provider + "/" + m.Default
}

func endpoint(c *config.Config, p config.Provider) provider.Endpoint {
	e := provider.Endpoint{BaseURL: p.BaseURL, Key: keyFrom(c, p.APIKey, p.KeyEnv), Headers: p.Headers}
	e.Timeouts.FirstByte = p.Timeout
	if p.Model != "" {
		e.Models = append(e.Models, p.Model)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Models)) {
		l := p.Models[name]
		if e.Limits == nil {
			e.Limits = map[string]provider.Limit{}
		}
		e.Limits[name] = provider.Limit{Window: l.ContextLength, MaxOutput: l.MaxTokens, PriceIn: l.PriceIn, PriceOut: l.PriceOut}
		if name != p.Model {
			e.Models = append(e.Models, name)
		}
	}
	return e
}

func keyFrom(c *config.Config, key, env string) string {
	if key != "" || env == "" {
		return key
	}
	v, _ := c.Secret(env)
	return v
}

func approvalsFile(p config.Paths) string { return filepath.Join(p.Home, "approvals.json") }

// policy is how the gate behaves with the settings in effect.
func (a *App) policy() approval.Policy {
	c := a.Config()
	mode, level := approval.Mode(c.Approvals.Mode), approval.Level(c.Approvals.Level)
	if a.opts.Yes {
		mode = approval.ModeOff
	}
	if a.opts.YesLevel != nil {
		level = approval.Level(*a.opts.YesLevel)
	}
	return approval.Policy{
		Mode: mode, Timeout: c.Approvals.Timeout, Unattended: a.opts.Unattended, Allow: c.CommandAllowlist, Deny: c.Approvals.Deny,
		Level: level, Remember: c.Approvals.Remember, Judge: judge{a}, Own: c.Paths().Home,
	}
}

func (a *App) agentSettings() agent.Settings {
	c := a.Config()
	s := agent.Settings{
		MaxTurns: c.Agent.MaxTurns, Toolsets: c.Toolsets, Effort: c.Agent.ReasoningEffort, MaxTokens: c.Model.MaxTokens,
		Busy: event.InputMode(c.Display.BusyInputMode), KeepOnFailure: c.Compression.AbortOnSummaryFailure,
		ProtectFirst: c.Compression.ProtectFirstN,
	}
	if len(a.opts.Toolsets) > 0 {
		s.Toolsets = a.opts.Toolsets
	}
	if s.MaxTurns == 0 { // "no limit" in the settings
		s.MaxTurns = math.MaxInt
	}
	if c.Compression.Enabled {
		s.CompressAt, s.KeepShare = c.Compression.Threshold, c.Compression.TargetRatio
		s.ProtectLast = c.Compression.ProtectLastN
	}
	if c.Origin("agent.api_max_retries") != "default" { // else every kind of failure has its own number
		s.Retries = cmp.Or(c.Agent.APIMaxRetries, -1)
	}
	return s
}

// follow applies edits of the settings while the program runs.
func (a *App) follow(ctx context.Context, o config.Options) {
	changes, err := config.Watch(ctx, o, a.Config(), a.opts.Problems)
	if err != nil {
		a.notice(event.Warn, err.Error(), "")
		return
	}
	a.followed = make(chan struct{})
	crash.Go("settings", func() {
		defer close(a.followed)
		for change := range changes {
			a.apply(change)
		}
	})
}

func (a *App) apply(change config.Change) {
	a.config.Store(change.Config)
	a.Models.replace(modelSettings(change.Config, a.opts.Model, a.opts.Firm))
	a.Gate.SetPolicy(a.policy())
	if p, ok := a.Pool.(interface{ Reconfigure(*config.Config) error }); ok {
		if err := p.Reconfigure(change.Config); err != nil {
			a.notice(event.Warn, "back ends stay as they were: "+err.Error(), "")
		}
	}
	LearnSecrets(change.Config)
	if slices.ContainsFunc(change.Live, func(key string) bool { return strings.HasPrefix(key, "skills.") }) {
		a.skillsMoved()
	}
	if a.opts.Changed != nil {
		a.opts.Changed(change.Config)
	}
	a.Bus.Publish(event.Header{}, event.ConfigReloaded{Changed: change.Live, Problems: texts(change.Problems)})
	if len(change.Next) > 0 {
		a.notice(event.Info, "changed, from the next start on: "+join(change.Next), "")
	}
}
