package pool

import (
	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/secret"
)

// List says what back ends exist and how they are, for the session: the default first, then by name.
func (p *Pool) List(uid string) []backend.Status {
	c := p.config()
	selected := p.selected(uid)
	if selected == "" {
		selected = c.Default
	}
	names := c.names()
	list := make([]backend.Status, len(names))
	for i, name := range names {
		list[i] = p.show(uid, name)
		list[i].Dir = p.dir(uid, name)
		list[i].Selected = name == selected
		list[i].Default = name == c.Default
	}
	return list
}

// show is one back end as it is now. Looking makes nothing.
func (p *Pool) show(uid, name string) backend.Status {
	spec := p.config().Backends[name]
	p.mu.Lock()
	m := p.machines[p.key(uid, spec)]
	p.mu.Unlock()
	if m != nil {
		return m.status()
	}
	s := backend.Status{
		Name: name, Kind: spec.Kind, Image: spec.Where(), Mounts: spec.mounts(), State: event.BackendAbsent, IdleTTL: max(0, spec.IdleTTL), Timeout: spec.Timeout,
	}
	if spec.Invalid != "" {
		s.State, s.Cause = event.BackendFailed, spec.Invalid
	}
	return s
}

func (m *machine) status() backend.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := backend.Status{
		Name: m.spec.Name, Kind: m.spec.Kind, Image: m.spec.Where(), Mounts: m.spec.mounts(), Timeout: m.spec.Timeout,
		State: m.state, Cause: m.cause, Refs: len(m.uses), Since: m.since, IdleSince: m.idle, IdleTTL: m.ttl(), Sandbox: m.spec.Sandbox,
	}
	if n := len(m.uses); n > 0 {
		s.Command = secret.Clean(m.uses[n-1].command)
	}
	return s
}
