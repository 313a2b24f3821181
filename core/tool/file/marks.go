package file

import (
	"io/fs"
	"sync"
	"time"
)

// mark is what a session last saw of a file.
type mark struct {
	mod  time.Time
	size int64
	seen time.Time
	// the last read, for "unchanged since": what was asked, and whether the note was given already
	asked string
	noted bool
}

// marks remembers what sessions saw. The zero value is ready. A session remembers at most markLimit files.
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

// saw records a file as the session knows it now.
func (m *marks) saw(session, path string, info fs.FileInfo, asked string) {
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
	files[path] = mark{mod: info.ModTime(), size: info.Size(), seen: time.Now(), asked: asked}
}

// gone forgets one file.
func (m *marks) gone(session, path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.by[session], path)
}

// repeat reports whether the session asked exactly this before and the file is the same. It says so once: who asks
// a third time has lost the text (to compression, for one) and gets it again.
func (m *marks) repeat(session, path string, info fs.FileInfo, asked string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.by[session][path]
	if !ok || k.noted || k.asked != asked || !k.same(info) {
		return false
	}
	k.noted = true
	m.by[session][path] = k
	return true
}

// stale returns when the session saw the file, if the file changed since then.
func (m *marks) stale(session, path string, info fs.FileInfo) (seen time.Time, stale bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.by[session][path]
	return k.seen, ok && !k.same(info)
}

func (k mark) same(info fs.FileInfo) bool {
	return k.mod.Equal(info.ModTime()) && k.size == info.Size()
}
