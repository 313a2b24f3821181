package core

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"hermes/core/config"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/offline"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
)

// Models is the set of providers of the settings in effect; it is replaced as a whole when they
// change.
type Models struct{ set atomic.Pointer[provider.Set] }

// modelsPart is the providers of the settings.
type modelsPart struct {
	quiet
	a *App
}

func (p *modelsPart) Start(context.Context) error {
	p.a.Models = &Models{}
	p.a.Models.set.Store(provider.NewSet(p.settings()))
	return nil
}

func (p *modelsPart) Changed(config.Change) { p.a.Models.replace(p.settings()) }

func (p *modelsPart) Close(context.Context) error {
	p.a.Models.set.Load().Close()
	return nil
}

func (p *modelsPart) settings() provider.Settings {
	return modelSettings(p.a.Config(), p.a.opts.Model, p.a.opts.Firm)
}

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
	return map[string]provider.Maker{
		openai.Kind: openai.Make, responses.Kind: responses.Make, anthropic.Kind: anthropic.Make,
		provider.Offline: offline.Make,
	}
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
		e.BaseURL, e.Headers, e.Kind = m.BaseURL, m.Headers, cmp.Or(m.Mode, e.Kind)
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
	e := provider.Endpoint{BaseURL: p.BaseURL, Key: keyFrom(c, p.APIKey, p.KeyEnv), Headers: p.Headers, Kind: p.Mode, CacheTTL: c.PromptCaching.TTL}
	// What the person sets is patience too: within it, no shorter limit cuts a slow start.
	e.Timeouts.Total, e.Timeouts.FirstByte, e.Timeouts.Thinking = p.Timeout, p.Timeout, p.Timeout
	if p.Model != "" {
		e.Models = append(e.Models, p.Model)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Models)) {
		l := p.Models[name]
		if e.Limits == nil {
			e.Limits = map[string]provider.Limit{}
		}
		e.Limits[name] = provider.Limit{Window: l.ContextLength, MaxOutput: l.MaxTokens, PriceIn: l.PriceIn, PriceOut: l.PriceOut, Images: l.Images}
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
