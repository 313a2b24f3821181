package runner

import (
	"runtime"
	"sync"

	"hermes/core/crash"
)

// spawner makes every fork on one thread that lives as long as the Runner. Linux ends a child that asked for it when the *thread*
// that forked it ends, not the process; and a Go thread ends when a goroutine that locked it returns, which any other
// package may do to the thread that a fork happened to be on. Forks exclude each other in Go anyway, so one thread costs nothing.
type spawner struct {
	once sync.Once
	mu   sync.Mutex
	jobs chan func()
}

// do runs f on the thread and waits for it. It returns false after close.
func (s *spawner) do(f func()) bool {
	s.once.Do(s.begin)
	done := make(chan struct{})
	s.mu.Lock()
	if s.jobs == nil {
		s.mu.Unlock()
		return false
	}
	s.jobs <- func() { f(); close(done) }
	s.mu.Unlock()
	<-done
	return true
}

func (s *spawner) begin() {
	jobs := make(chan func())
	s.jobs = jobs
	crash.Go("runner spawner", func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for f := range jobs {
			f()
		}
	})
}

func (s *spawner) close() {
	s.once.Do(func() {})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs != nil {
		close(s.jobs)
		s.jobs = nil
	}
}
