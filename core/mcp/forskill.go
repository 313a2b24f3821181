package mcp

import (
	"slices"
	"strings"
)

// startBySkill is the value of `start` that keeps a server from starting before a skill names it.
const startBySkill = "skill"

// A server that starts for skills only belongs to the sessions that loaded one which names it: no
// other one sees its tools or calls them, and it ends with the last of them.

// forSkills reports whether the server starts for skills only.
func (s *server) forSkills() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set.Start == startBySkill
}

// AnyForSkills reports whether a server starts for skills only.
func (m *Manager) AnyForSkills() bool {
	return slices.ContainsFunc(m.serversNamed(nil), (*server).forSkills)
}

// isBarred reports whether the server is not for a session.
func (s *server) isBarred(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set.Start == startBySkill && !s.skilled[session]
}

// Barred reports whether what an owner of tools brings is not for a session: its server starts for
// skills only, and no skill of the session named it.
func (m *Manager) Barred(session, owner string) bool {
	name, is := strings.CutPrefix(owner, OwnerPrefix)
	if !is {
		return false
	}
	s, err := m.findServer(name)
	return err == nil && s.isBarred(session)
}

// Named starts servers that a skill of a session names, where the person has set them up. From now
// on they count for that session like the others.
func (m *Manager) Named(session string, names []string) {
	for _, name := range names {
		if s, err := m.findServer(name); err == nil {
			s.mu.Lock()
			if s.skilled == nil {
				s.skilled = map[string]bool{}
			}
			s.skilled[session] = true
			s.mu.Unlock()
			s.ensureRunning()
		}
	}
}

// Leave takes a session that is over from the servers that its skills named. One that starts for
// skills only and has no other session ends.
func (m *Manager) Leave(session string) {
	for _, s := range m.serversNamed(nil) {
		if s.endForSession(session) {
			s.registerTools()
			s.publishState()
		}
	}
}

// endForSession reports whether the server was ended by it.
func (s *server) endForSession(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.skilled[session]
	delete(s.skilled, session)
	if !had || len(s.skilled) > 0 || s.set.Start != startBySkill || !s.running {
		return false
	}
	s.stopLoop()
	s.releaseWaiters() // who waits for it now waits in vain
	s.restState()
	return true
}
