package file

import (
	"sync"
	"time"

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

func (m *marks) forget(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.by, session)
}

// record records a file as the session knows it now.
func (m *marks) record(session, path string, st realpath.Stat, asked string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[string]map[string]mark{}
	}
	files := m.by[session]
	if files == nil || len(files) >= markLimit {
		files = map[string]mark{} // starting over costs a warning or two, never a wrong one
		m.by[session] = files
	}
	files[path] = mark{stat: st, seen: time.Now(), asked: asked}
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
	if !ok || k.noted || k.asked != asked || !k.same(st) {
		return false
	}
	k.noted = true
	m.by[session][path] = k
	return true
}

// stale returns when the session saw the file, if the file changed since then.
func (m *marks) stale(session, path string, st realpath.Stat) (seen time.Time, stale bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.by[session][path]
	return k.seen, ok && !k.same(st)
}

func (k mark) same(st realpath.Stat) bool {
	return sameContent(k.stat, st)
}

// sameContent reports whether nothing wrote to the file between two looks at it, as far as the
// system tells: a command that puts the time back after it (touch -r, rsync -t) still leaves
// another file or another size in most cases.
func sameContent(a, b realpath.Stat) bool {
	return a.Mtime == b.Mtime && a.Size == b.Size && a.Dev == b.Dev && a.Ino == b.Ino
}
