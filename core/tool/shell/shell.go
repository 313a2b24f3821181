// Package shell holds the tools that run commands: terminal, and process for what runs in the
// background. Commands run in a back end of the pool that the session chose or the call names; this
// package only checks the call, passes output on as it comes, and tells the model what happened in
// words.
//
// The contract: a foreground command that would never end is refused with advice; what a command
// printed before a timeout or an interrupt is always kept and marked; output reaches the model
// without control sequences.
package shell

import (
	"cmp"
	"sync"
	"time"

	"hermes/core/backend"
	"hermes/core/tool"
)

// Options of the tools.
type Options struct {
	Pool     backend.Pool
	SpillDir string // where output beyond the result budget is kept whole; "" keeps none
	// Timeout ends foreground commands that ask for none of their own; 0 means 180 s. Up to 600 s,
	// or this, can be asked for.
	Timeout time.Duration
	Budget  int // characters of a result; 0 means tool.DefaultMaxResult
	// Notify queues a message for the session's agent: a background process ended or printed what
	// was watched for. nil means that nobody can be told.
	Notify func(session, process, text string)
	// Passed are variables that commands get beside those of their back end. May be nil.
	Passed tool.Passed
}

const (
	defaultTimeout = 180 * time.Second
	maxTimeout     = 600 * time.Second
)

// Shell is what terminal and process share. Safe for concurrent use.
type Shell struct {
	pool   backend.Pool
	spill  string
	notify func(session, process, text string)
	passed tool.Passed

	budget        int           // bytes of output that the model is shown
	timeout, most time.Duration // of a foreground command: the default, the longest

	mu     sync.Mutex
	polled map[procKey]int64 // where the next poll of a process begins
}

type procKey struct{ session, id string }

// New returns the shared part of the tools.
func New(o Options) *Shell {
	timeout := cmp.Or(o.Timeout, defaultTimeout)
	return &Shell{
		pool: o.Pool, spill: o.SpillDir, notify: o.Notify, passed: o.Passed, polled: map[procKey]int64{},
		budget: outputOf(cmp.Or(o.Budget, tool.DefaultMaxResult)), timeout: timeout, most: max(timeout, maxTimeout),
	}
}

// Forget drops what is remembered about a session.
func (s *Shell) Forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.polled {
		if k.session == session {
			delete(s.polled, k)
		}
	}
}

// durationOr turns an argument into a duration; 0 means otherwise.
func durationOr(n int, otherwise time.Duration) time.Duration {
	return cmp.Or(time.Duration(n)*time.Second, otherwise)
}
