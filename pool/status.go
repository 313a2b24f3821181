package pool

import (
	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/secret"
)

// List says what back ends exist and how they are, for the session: the default first, then by
// name.
func (p *Pool) List(uid string) []backend.Status {
	c := p.config()
	selected := p.selectedBackend(uid)
	if selected == "" {
		selected = c.Default
	}
	names := c.backendNames()
	list := make([]backend.Status, len(names))
	for i, name := range names {
		list[i] = p.showBackend(uid, name)
		list[i].Dir = p.sessionDir(uid, name)
		list[i].Selected = name == selected
		list[i].Default = name == c.Default
	}
	return list
}

// showBackend is one back end as it is now. Looking makes nothing.
func (p *Pool) showBackend(uid, name string) backend.Status {
	spec := p.config().Backends[name]
	p.mu.Lock()
	m := p.machines[p.keyOf(uid, spec)]
	p.mu.Unlock()
	if m != nil {
		return m.status()
	}
	s := spec.status()
	s.State, s.IdleTTL = event.BackendAbsent, max(0, spec.IdleTTL)
	if spec.Invalid != "" {
		s.State, s.Cause = event.BackendFailed, spec.Invalid
	}
	return s
}

// status is what the settings alone say of a back end.
func (s Spec) status() backend.Status {
	return backend.Status{
		Name: s.Name, Kind: s.Kind, Traits: s.about.Traits, Image: s.about.Where, Mounts: s.about.mountTexts(),
		Sandbox: s.about.Sandbox, Timeout: s.Timeout,
	}
}

func (m *machine) status() backend.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.spec.status()
	s.State, s.Cause, s.Refs, s.Since = m.state, m.cause, len(m.uses), m.since
	s.IdleSince, s.IdleTTL = m.idle, m.idleLimit()
	if n := len(m.uses); n > 0 {
		s.Command, s.User = secret.Clean(m.uses[n-1].command), m.uses[n-1].session
	}
	return s
}
