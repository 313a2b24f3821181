package file

import (
	"sync"
	"time"

	"hermes/core/files"
	"hermes/core/realpath"
)

// mark is what a session last saw of a file.
type mark struct {
	stat realpath.Stat
	seen time.Time
	// the last read, for "unchanged since": what was asked, and whether the note was given already
	asked string
	noted bool
}

// marks remembers what sessions saw. The zero value is ready. A session remembers at most markLimit
// files.
type marks struct {
	mu sync.Mutex
	by map[string]map[string]mark
}

const markLimit = 4096

func (m *marks) forgetSession(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.by, session)
}

// recordSeen records a file as the session knows it now.
func (m *marks) recordSeen(session, path string, st realpath.Stat, asked string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[string]map[string]mark{}
	}
	seen := m.by[session]
	if seen == nil || len(seen) >= markLimit {
		seen = map[string]mark{} // starting over costs a warning or two, never a wrong one
		m.by[session] = seen
	}
	seen[path] = mark{stat: st, seen: time.Now(), asked: asked}
}

// forgetFile forgets one file.
func (m *marks) forgetFile(session, path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.by[session], path)
}

// askedBefore reports whether the session asked exactly this before and the file is the same. It
// says so once: who asks a third time has lost the text (to compression, for one) and gets it
// again.
func (m *marks) askedBefore(session, path string, st realpath.Stat, asked string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.by[session][path]
	if !ok || k.noted || k.asked != asked || !k.isSame(st) {
		return false
	}
	k.noted = true
	m.by[session][path] = k
	return true
}

// changedSince returns when the session saw the file, if the file changed since then.
func (m *marks) changedSince(session, path string, st realpath.Stat) (seen time.Time, stale bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.by[session][path]
	return k.seen, ok && !k.isSame(st)
}

func (k mark) isSame(st realpath.Stat) bool {
	return files.Same(k.stat, st)
}
