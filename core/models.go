package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"hermes/core/atomicfile"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/offline"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
)

// Models is the set of providers of the settings in effect; it is replaced as a whole when they
// change.
type Models struct {
	set    atomic.Pointer[provider.Set]
	a      *App
	making sync.Mutex // orders replacements
}

// modelsPart is the providers of the settings.
type modelsPart struct {
	quiet
	a *App
}

func (p *modelsPart) Start(context.Context) error {
	p.a.Models = &Models{a: p.a}
	settings, wrong := p.a.modelSettings()
	for _, err := range wrong {
		p.a.publishNotice(event.Warn, err.Error(), "what else stands there counts")
	}
	settings.Health = p.a.newHealth()
	p.a.Models.set.Store(provider.NewSet(settings))
	return nil
}

func (p *modelsPart) Changed(config.Change) { p.a.Models.renewRouter() }

func (p *modelsPart) Close(context.Context) error {
	p.a.Models.set.Load().Close()
	return nil
}

// modelSettings are those in effect, with the catalogue as the files have it now, and what is wrong
// with these.
func (a *App) modelSettings() (provider.Settings, []error) {
	c := a.Config()
	known, wrong := loadCatalogue(c.Paths())
	return modelSettings(c, known, a.opts.Model, a.opts.NoSubstitute), wrong
}

// newHealth knows the rate limits that this program or another one met.
func (a *App) newHealth() *provider.Health {
	h := provider.NewHealth()
	h.KeepIn(a.Config().Paths().RestsFile, func(err error) { a.log.Warn("rests of keys and models", "err", err) })
	return h
}

// loadCatalogue is what is known of vendors and models: what the program brought, what was fetched,
// and over both what the person's own file says.
func loadCatalogue(paths config.Paths) (*provider.Catalogue, []error) {
	var wrong []error
	known := provider.Shipped()
	fetched, err := provider.ReadFetched(paths.FetchedFile)
	if err != nil {
		wrong = append(wrong, err)
	}
	if fetched != nil {
		known = known.WithFetched(fetched)
	}
	known, more := known.ReadOwn(paths.ModelsFile)
	return known, append(wrong, more...)
}

// keyNames are the variables that hold keys of vendors, the person's own among them.
func keyNames(c *config.Config) []string {
	known, _ := loadCatalogue(c.Paths()) // what is wrong with the files was said at the start
	return known.KeyNames()
}

// CheckModels says what is wrong with the files of the catalogue.
func CheckModels(paths config.Paths) []error {
	_, wrong := loadCatalogue(paths)
	return wrong
}

// renewRouter takes the settings and files as they are now, from the next turn on; streams of the
// old ones go on. What earlier calls taught stays known, unless the servers and their keys are
// others.
func (m *Models) renewRouter() {
	m.making.Lock()
	defer m.making.Unlock()
	settings, _ := m.a.modelSettings() // config check tells of what is wrong
	if settings.Health = m.set.Load().HealthFor(settings); settings.Health == nil {
		settings.Health = m.a.newHealth()
	}
	m.set.Swap(provider.NewSet(settings)).Close()
}

// Resolve finds a model by "provider/model", "model", "provider", or "" for the default.
func (m *Models) Resolve(ctx context.Context, ref string) (provider.Provider, provider.Model, error) {
	return m.set.Load().Resolve(ctx, ref)
}

// Route is where the calls of a turn go: a model as Resolve finds it, then the fallbacks.
func (m *Models) Route(ctx context.Context, ref string, tries int) (*provider.Route, error) {
	return m.set.Load().Route(ctx, ref, tries)
}

// Aside is where work beside a conversation goes: along refs, then to own with the fallbacks.
func (m *Models) Aside(ctx context.Context, refs []string, own string, tries int) (*provider.Route, error) {
	return m.set.Load().Aside(ctx, refs, own, tries)
}

// List returns every model that can be used now. It may use the network.
func (m *Models) List(ctx context.Context) []provider.Model { return m.set.Load().List(ctx) }

// Others returns the models that the catalogue knows and that cannot be used now: there is no key.
func (m *Models) Others() []provider.Model { return m.set.Load().Others() }

// Refresh fetches a public list of models, keeps it and goes by it. It uses the network.
func (m *Models) Refresh(ctx context.Context, from string) (*provider.Fetched, error) {
	known, _ := loadCatalogue(m.a.Config().Paths()) // what is wrong with the files was said at the start
	list, err := known.Refresh(ctx, from)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(list)
	if err == nil {
		err = atomicfile.Write(m.a.Config().Paths().FetchedFile, data, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("the list of models was fetched and cannot be kept: %w", err)
	}
	m.renewRouter()
	return list, nil
}

// Kinds are the wire formats of this version.
func Kinds() map[string]provider.Maker {
	return map[string]provider.Maker{
		openai.Kind: openai.Make, responses.Kind: responses.Make, anthropic.Kind: anthropic.Make,
		provider.Offline: offline.Make,
	}
}

// modelSettings says which providers the settings name. A key goes to its own provider only.
func modelSettings(c *config.Config, known *provider.Catalogue, model string, firm bool) provider.Settings {
	s := provider.Settings{
		Default: defaultModel(c, model), Explicit: model != "", NoSubstitute: firm, Window: c.Model.ContextLength, Kinds: Kinds(),
		Providers: map[string]provider.Endpoint{}, Catalogue: known,
	}
	for name, p := range c.Providers {
		s.Providers[name] = endpointOf(c, name, p)
	}
	if m := c.Model; m.BaseURL != "" {
		name := m.Provider
		if name == "" || name == "auto" {
			name = "custom"
		}
		e := s.Providers[name]
		e.BaseURL, e.Headers, e.Kind = m.BaseURL, m.Headers, cmp.Or(m.Mode, e.Kind)
		if key := keyFrom(c, m.APIKey, m.APIKeyEnv); key != "" {
			e.Key, e.KeyFrom = key, cmp.Or(m.APIKeyEnv, "model.api_key")
		}
		s.Providers[name] = e
	}
	s.Fallbacks = fallbackModels(c, s.Providers)
	s = s.WithEnv(secretOf(c))
	for name, strategy := range c.KeyStrategies {
		if e, ok := s.Providers[name]; ok {
			e.Strategy = provider.Strategy(strategy)
			s.Providers[name] = e
		}
	}
	return s
}

func secretOf(c *config.Config) func(string) string {
	return func(name string) string {
		v, _ := c.Secret(name)
		return v
	}
}

// fallbackModels are the models of the chain. One with an address of its own becomes a provider,
// beside one that has its name and another address.
func fallbackModels(c *config.Config, providers map[string]provider.Endpoint) (refs []string) {
	for i, f := range c.Fallbacks {
		ref := f.Ref()
		if f.BaseURL != "" {
			name := cmp.Or(f.Provider, "custom")
			if e, taken := providers[name]; taken && e.BaseURL != f.BaseURL {
				name = fmt.Sprintf("%s-fallback-%d", name, i+1)
			}
			providers[name] = endpointOf(c, name, config.Provider{
				BaseURL: f.BaseURL, KeyEnv: f.KeyEnv, Mode: f.Mode, Model: f.Model,
				Models: map[string]config.ModelLimit{f.Model: {ContextLength: f.ContextLength}},
			})
			ref = name + "/" + f.Model
		}
		refs = append(refs, ref)
	}
	return refs
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

func endpointOf(c *config.Config, name string, p config.Provider) provider.Endpoint {
	e := provider.Endpoint{BaseURL: p.BaseURL, Headers: p.Headers, Kind: p.Mode, CacheTTL: c.PromptCaching.TTL}
	if e.Key, e.KeyFrom = p.APIKey, "providers."+name+".api_key"; p.APIKey == "" {
		e = e.WithKeys(p.KeyEnv, secretOf(c))
	}
	for i, key := range p.Keys {
		e.Keys = append(e.Keys, provider.Credential{Key: key, From: fmt.Sprintf("providers.%s.api_keys[%d]", name, i)})
	}
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
		e.Limits[name] = provider.Limit{
			Window: l.ContextLength, MaxOutput: l.MaxTokens, PriceIn: l.PriceIn, PriceOut: l.PriceOut,
			PriceCachedIn: l.PriceCachedIn, PriceWrite: l.PriceWrite, Images: l.Images, Files: l.Files, Effort: l.Effort,
		}
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
