package pool

import "hermes/core/backend"

// List says what back ends exist and how they are, for the session: the default first, then by name.
func (p *Pool) List(uid string) []backend.Status {
	selected := p.selected(uid)
	if selected == "" {
		selected = p.cfg.Default
	}
	names := p.cfg.names()
	list := make([]backend.Status, len(names))
	for i, name := range names {
		list[i] = p.machine(uid, name).status()
		list[i].Dir = p.dir(uid, name)
		list[i].Selected = name == selected
		list[i].Default = name == p.cfg.Default
	}
	return list
}

func (m *machine) status() backend.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := backend.Status{
		Name: m.spec.Name, Kind: m.spec.Kind, Image: m.spec.Where(), Timeout: m.spec.Timeout,
		State: m.state, Cause: m.cause, Refs: len(m.uses), Since: m.since, IdleSince: m.idle, IdleTTL: m.ttl(),
	}
	if n := len(m.uses); n > 0 {
		s.Command = m.uses[n-1].command
	}
	return s
}
