package runner

import (
	"runtime"
	"sync"

	"hermes/core/confine"
	"hermes/core/crash"
)

// spawner makes every fork on one thread that lives as long as the Runner. Linux ends a child that
// asked for it when the *thread* that forked it ends, not the process; and a Go thread ends when a
// goroutine that locked it returns, which any other package may do to the thread that a fork
// happened to be on. Forks exclude each other in Go anyway, so one thread costs nothing.
type spawner struct {
	once sync.Once
	mu   sync.Mutex
	jobs chan func()

	enter  func() error // run on the thread before anything else; what it does to the thread stays
	failed error        // what enter returned
}

// runOnThread runs f on the thread and waits for it. After close it does nothing.
func (s *spawner) runOnThread(f func()) {
	s.once.Do(s.startThread)
	done := make(chan struct{})
	s.mu.Lock()
	if s.jobs == nil {
		s.mu.Unlock()
		return
	}
	s.jobs <- func() { f(); close(done) }
	s.mu.Unlock()
	<-done
}

func (s *spawner) startThread() {
	jobs := make(chan func())
	s.jobs = jobs
	if s.enter != nil {
		ready := make(chan error)
		crash.Go("runner cell spawner", func() {
			confine.OnThread(func() { // never used for anything else: it ends with its last job
				ready <- s.enter()
				for f := range jobs {
					f()
				}
			})
		})
		s.failed = <-ready
		return
	}
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
