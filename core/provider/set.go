package provider

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/crash"
)

// Offline is the name of the provider that needs no model.
const Offline = "offline"

// Set makes providers from Settings and finds models by name. It is safe for concurrent use.
type Set struct {
	settings Settings
	health   *Health

	mu      sync.Mutex
	made    map[string]Provider // by "provider mode key"
	local   map[string]Endpoint // servers found on this machine
	learned map[string]Model    // by "provider/model": what a server said about its models
}

// NewSet makes a Set. It does not use the network.
func NewSet(s Settings) *Set {
	if s.Health == nil {
		s.Health = NewHealth()
	}
	return &Set{settings: s, health: s.Health, made: map[string]Provider{}, local: map[string]Endpoint{}, learned: map[string]Model{}}
}

// Close drops the idle connections of the providers. Running streams go on.
func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.made {
		if c, ok := p.(io.Closer); ok {
			_ = c.Close() // nothing is lost with an idle connection
		}
	}
}

// Resolve finds the provider and the model that ref means: "provider/model", "provider", "model",
// or "" for the default. With nothing configured it looks for servers on this machine (at most 300
// ms), and without any it answers with offline. Only a provider that has no default model is asked
// for its list.
func (s *Set) Resolve(ctx context.Context, ref string) (Provider, Model, error) {
	asked := ref
	if ref == "" {
		ref = s.settings.Default
	}
	name, model, err := s.splitRef(ctx, ref)
	if err != nil && asked == "" && !s.settings.Explicit && !s.settings.NoSubstitute && len(s.settings.Providers) == 0 {
		name, err = s.firstProvider(ctx), nil // the file of someone who has no key yet
	}
	if err != nil {
		return nil, Model{}, err
	}
	e, p, err := s.resolveProvider(name, model, anyKey)
	if err != nil {
		return nil, Model{}, err
	}
	if model == "" {
		if model, err = s.defaultModel(ctx, e, p); err != nil {
			return nil, Model{}, err
		}
		if e, p, err = s.resolveProvider(name, model, anyKey); err != nil {
			return nil, Model{}, err
		}
	}
	return p, s.describeModel(e, model), nil
}

// splitRef splits ref into a provider's name and a model; the model is "" when ref names a provider
// only, or nothing.
func (s *Set) splitRef(ctx context.Context, ref string) (name, model string, err error) {
	if ref == "" {
		if name = s.firstProvider(ctx); name == Offline && s.settings.NoSubstitute {
			return "", "", &Error{
				Class:   ClassModelNotFound,
				Message: "no model is there to answer: none is chosen, there is no key, and no model server was found on this machine",
				Hint:    "`hermes setup` connects one, `hermes doctor` says what is there; `--model offline` runs explicit requests without one",
			}
		}
		return name, "", nil
	}
	ref = s.resolveAlias(ref)
	head, tail, slash := strings.Cut(ref, "/")
	if _, taken := s.settings.Providers[head]; !taken {
		head = s.settings.catalogueOf().vendorName(head)
	}
	if s.knowsProvider(ctx, head) {
		return head, tail, nil
	}
	for _, n := range s.settings.providerNames() {
		if slices.Contains(s.settings.Providers[n].Models, ref) {
			return n, ref, nil
		}
	}
	names := s.settings.providerNames()
	if v, ok := s.settings.catalogueOf().Named(head); ok && slash && !s.resellsModel(names) {
		return "", "", v.whyMissing(tail)
	}
	if len(names) > 0 {
		return s.homeProvider(names), ref, nil
	}
	for n := range s.foundServers(ctx) {
		if s.offersModel(ctx, n, ref) {
			return n, ref, nil
		}
	}
	if slash {
		return "", "", fmt.Errorf("no provider is called %q: the known ones are %s; run \"hermes setup\" to add one",
			head, strings.Join(s.Names(), ", "))
	}
	return "", "", fmt.Errorf("no provider offers the model %q: no key is configured and no local server has it; "+
		"run \"hermes setup\", or set OPENAI_API_KEY", ref)
}

// resolveAlias is what a short name of a model means: the first place that can be had. A name that
// is something else, too, is no alias.
func (s *Set) resolveAlias(ref string) string {
	to := s.settings.catalogueOf().Aliases[ref]
	if _, taken := s.settings.Providers[ref]; taken || len(to) == 0 {
		return ref
	}
	for _, e := range s.settings.Providers {
		if slices.Contains(e.Models, ref) {
			return ref
		}
	}
	for _, place := range to {
		head, _, _ := strings.Cut(place, "/")
		if _, ok := s.settings.Providers[head]; ok || head == Offline {
			return place
		}
	}
	return to[0]
}

// resellsModel reports whether the provider for a model that names another vendor may have that
// model: it is no vendor's own.
func (s *Set) resellsModel(names []string) bool {
	if len(names) == 0 {
		return false
	}
	name := s.homeProvider(names)
	e := s.settings.Providers[name]
	e.Name, e.catalogue = name, s.settings.catalogueOf()
	return !e.vendorOwn()
}

// whyMissing says why a vendor cannot be talked to.
func (v Vendor) whyMissing(model string) error {
	e := &Error{Class: ClassAuth, Provider: v.Name, Model: model}
	switch {
	case v.Closed != "":
		e.Message = v.Closed
	case v.Local:
		e.Class, e.Message = ClassNetwork, "it was not found at "+v.BaseURL+": start it, or name its address under providers."+v.Name+".base_url"
	case v.BaseURL == "":
		e.Message = "set " + v.BaseEnv + " to its address and " + v.KeyEnv + " to its key, or run \"hermes setup\""
	default:
		e.Message = "there is no key for it: set " + v.KeyEnv + ", or run \"hermes setup\""
	}
	return e
}

// homeProvider is the provider for a bare model name: the one that the default names, else the
// first.
func (s *Set) homeProvider(names []string) string {
	head, _, _ := strings.Cut(s.settings.Default, "/")
	if _, ok := s.settings.Providers[head]; ok {
		return head
	}
	return names[0]
}

func (s *Set) firstProvider(ctx context.Context) string {
	for _, n := range s.settings.providerNames() {
		e := s.settings.Providers[n]
		if v, ok := (Endpoint{Name: n, BaseURL: e.BaseURL, catalogue: s.settings.catalogueOf()}).vendorOf(); ok && v.Asked && len(e.Models) == 0 {
			continue
		}
		if e.Key != "" || e.Local() || len(e.Models) > 0 {
			return n
		}
	}
	found := s.foundServers(ctx)
	for _, l := range s.settings.catalogueOf().localServers() {
		if _, ok := found[l.Name]; ok {
			return l.Name
		}
	}
	return Offline
}

// knowsProvider reports whether name is a provider, looking on this machine only for the names that
// are found there.
func (s *Set) knowsProvider(ctx context.Context, name string) bool {
	if _, ok := s.settings.Providers[name]; ok || name == Offline {
		return true
	}
	if !slices.ContainsFunc(s.settings.catalogueOf().localServers(), func(l Vendor) bool { return l.Name == name }) {
		return false
	}
	_, ok := s.foundServers(ctx)[name]
	return ok
}

func (s *Set) offersModel(ctx context.Context, name, model string) bool {
	_, p, err := s.resolveProvider(name, model, anyKey)
	if err != nil {
		return false
	}
	list, _ := s.listModels(ctx, p) // a server that cannot be asked offers nothing
	return slices.ContainsFunc(list, func(m Model) bool { return m.ID == model })
}

// foundServers returns the local servers, looking for them when none is known yet.
func (s *Set) foundServers(ctx context.Context) map[string]Endpoint {
	s.mu.Lock()
	known := maps.Clone(s.local)
	s.mu.Unlock()
	if len(known) > 0 || s.settings.NoDetect {
		return known
	}
	for _, e := range s.Detect(ctx) {
		known[e.Name] = e
	}
	return known
}

// endpointFor is what is configured or found under a name, with the mode in which it serves the
// model.
func (s *Set) endpointFor(name, model string) (Endpoint, error) {
	e, ok := s.settings.Providers[name]
	if !ok {
		e, ok = s.local[name]
	}
	if !ok && name == Offline {
		e, ok = Endpoint{Kind: Offline}, true
	}
	if !ok {
		return e, fmt.Errorf("no provider is called %q", name)
	}
	e.Name, e.catalogue = name, s.settings.catalogueOf()
	e.Kind = e.modeFor(model)
	return e, nil
}

// anyKey leaves the choice of a key to what is known of them.
const anyKey = -1

// resolveProvider is the one resolver: of a provider's name and a model it makes mode, key and
// address, and who talks there. Of several keys it takes the one with the number.
func (s *Set) resolveProvider(name, model string, key int) (Endpoint, Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.endpointFor(name, model)
	if err != nil {
		return e, nil, err
	}
	all := e.allCredentials()
	if key == anyKey {
		key = s.health.peekKey(name, all)
	}
	e.Key, e.KeyFrom = all[key].Key, all[key].From
	id := fmt.Sprintf("%s %s %d", name, e.Kind, key)
	if p, ok := s.made[id]; ok {
		return e, p, nil
	}
	maker, ok := s.settings.Kinds[e.Kind]
	if !ok {
		kinds := slices.Sorted(maps.Keys(s.settings.Kinds))
		return e, nil, fmt.Errorf("provider %s: no api_mode is called %q: this program has %s", name, e.Kind, strings.Join(kinds, ", "))
	}
	p, err := maker(e)
	if err != nil {
		return e, nil, fmt.Errorf("provider %s: %w", name, err)
	}
	s.made[id] = p
	return e, p, nil
}

func (s *Set) defaultModel(ctx context.Context, e Endpoint, p Provider) (string, error) {
	if len(e.Models) > 0 {
		return e.Models[0], nil
	}
	if v, ok := e.vendorOf(); ok && v.Model != "" && v.ownsAddress(e.BaseURL) {
		return v.Model, nil
	}
	list, err := s.listModels(ctx, p)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", fmt.Errorf("provider %s: no model is named and %s lists none; choose one as %s/NAME", e.Name, e.BaseURL, e.Name)
	}
	return list[0].ID, nil
}

// describeModel is what is known about a model now: what the person says, else its server, else the
// catalogue.
func (s *Set) describeModel(e Endpoint, id string) Model {
	s.mu.Lock()
	m, ok := s.learned[e.Name+"/"+id]
	s.mu.Unlock()
	if !ok {
		m = Known(e, id)
	}
	if d := s.settings.Default; d == id || d == e.Name+"/"+id || d == e.Name && slices.Index(e.Models, id) == 0 {
		m = Limit{Window: s.settings.Window}.applyTo(m)
	}
	m.Mode, m.Key = Offline, true
	if e.Kind != Offline {
		e.Kind = s.settings.Providers[e.Name].Kind // e may be resolved for another model
		m.Mode, m.Key = e.modeFor(id), e.Key != "" || e.Local()
		m = s.settings.catalogueOf().ownWord(e, m)
	}
	if e.CacheTTL == "1h" && m.Mode == ModeMessages {
		m = m.atHourlyPrices()
	}
	return e.Limits[id].applyTo(m)
}

// listTime bounds one request for a list of models.
const listTime = 5 * time.Second

func (s *Set) listModels(ctx context.Context, p Provider) ([]Model, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	list, err := p.Models(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range list {
		s.learned[p.Name()+"/"+m.ID] = m
	}
	return list, nil
}

// Names returns the names of the configured and found providers; offline is always the last.
func (s *Set) Names() []string {
	names := s.settings.providerNames()
	s.mu.Lock()
	for _, n := range slices.Sorted(maps.Keys(s.local)) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	s.mu.Unlock()
	return append(slices.DeleteFunc(names, func(n string) bool { return n == Offline }), Offline)
}

// List asks every provider for its models, all at the same time, at most 5 s. The models
// that the settings name are listed, whether their provider answers and lists them or not.
// Afterwards Resolve knows the context windows that the servers told.
func (s *Set) List(ctx context.Context) []Model {
	if !s.settings.NoDetect {
		s.Detect(ctx)
	}
	names := s.Names()
	lists := make([][]Model, len(names))
	var wait sync.WaitGroup
	for i, n := range names {
		e, p, err := s.resolveProvider(n, "", anyKey)
		if err != nil {
			continue
		}
		wait.Add(1)
		crash.Go("provider list "+n, func() {
			defer wait.Done()
			list, err := s.listModels(ctx, p)
			if err != nil { // a picker shows what there is; a call will say what is wrong
				list = s.settings.catalogueOf().ownModels(e)
			}
			for _, m := range list {
				lists[i] = append(lists[i], s.describeModel(e, m.ID))
			}
			for _, id := range e.Models { // what a person named is there, whether the server lists it or not
				if !slices.ContainsFunc(list, func(m Model) bool { return m.ID == id }) {
					lists[i] = append(lists[i], s.describeModel(e, id))
				}
			}
		})
	}
	wait.Wait()
	return slices.Concat(lists...)
}

// Others returns the models of vendors that are not configured: the picker shows what there would
// be with a key. It asks nobody.
func (s *Set) Others() []Model {
	var out []Model
	for _, v := range s.settings.catalogueOf().Vendors {
		if _, ok := s.settings.Providers[v.Name]; ok || v.Local || v.Closed != "" {
			continue
		}
		e := Endpoint{Name: v.Name, BaseURL: v.BaseURL, catalogue: s.settings.catalogueOf()}
		for _, m := range s.settings.catalogueOf().ownModels(e) {
			m.Mode = e.modeFor(m.ID)
			out = append(out, m)
		}
	}
	return out
}

// ownModels are the models that the catalogue knows of the endpoint's own vendor.
func (c *Catalogue) ownModels(e Endpoint) []Model {
	v, ok := e.vendorOf()
	if !ok || v.Name != e.Name {
		return nil
	}
	var out []Model
	seen := map[string]bool{}
	for _, list := range [][]ModelFacts{c.own, c.fresh[v.Name], c.Models} {
		for _, f := range list {
			if f.Vendor == v.Name && !seen[plainModelName(f.ID)] {
				seen[plainModelName(f.ID)] = true
				out = append(out, Known(e, f.ID))
			}
		}
	}
	return out
}

// Endpoint is where ref is served, with the key for it, and the model that it names.
func (s *Set) Endpoint(ctx context.Context, ref string) (Endpoint, string, error) {
	name, model, err := s.splitRef(ctx, ref)
	if err != nil {
		return Endpoint{}, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.endpointFor(name, model)
	if err != nil {
		return e, "", err
	}
	all := e.allCredentials()
	key := all[s.health.peekKey(name, all)]
	e.Key, e.KeyFrom = key.Key, key.From
	return e, model, nil
}
