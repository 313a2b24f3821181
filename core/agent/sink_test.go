package agent

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/testwait"
)

// sink collects what a bus carries and checks the rules that every subscriber relies on.
type sink struct {
	t    testing.TB
	box  *event.Mailbox
	done chan struct{}

	mu   sync.Mutex
	all  []event.Envelope
	more chan struct{}
}

func listen(t testing.TB, bus *event.Bus) *sink {
	s := &sink{t: t, box: bus.Subscribe(event.Limits{}), done: make(chan struct{}), more: make(chan struct{})}
	go func() {
		defer close(s.done)
		for {
			batch, err := s.box.Next(context.Background())
			if err != nil || batch == nil {
				return
			}
			s.mu.Lock()
			s.all = append(s.all, batch...)
			close(s.more)
			s.more = make(chan struct{})
			s.mu.Unlock()
		}
	}()
	return s
}

func (s *sink) stop() {
	s.box.Close()
	<-s.done
	if err := lawful(s.all); err != nil {
		s.t.Errorf("events: %v", err)
	}
}

func (s *sink) until(cond func(all []event.Envelope) bool) {
	s.t.Helper()
	late := time.After(testwait.Hang)
	for {
		s.mu.Lock()
		ok, more := cond(s.all), s.more
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-more:
		case <-time.After(5 * time.Millisecond): // the condition may be about more than events
		case <-late:
			s.t.Fatalf("the events waited for did not come; have %s", s.kinds())
		}
	}
}

// first waits for an event of a type and returns the first.
func first[E event.Event](s *sink) E {
	s.t.Helper()
	var out E
	s.until(func(all []event.Envelope) bool {
		for _, env := range all {
			if e, ok := env.Event.(E); ok {
				out = e
				return true
			}
		}
		return false
	})
	return out
}

func each[E event.Event](s *sink) []E {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []E
	for _, env := range s.all {
		if e, ok := env.Event.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

func (s *sink) kinds() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := ""
	for _, e := range s.all {
		out += event.Kind(e.Event) + " "
	}
	return out
}

// lawful checks a whole stream of events: turns and messages open and close once, offsets follow
// each other, the sealed text is what was streamed, approvals are settled.
func lawful(all []event.Envelope) error {
	turns, asked := map[string]int{}, map[string]int{}
	text := map[int64]string{}
	open := map[int64]bool{}
	for _, env := range all {
		switch e := env.Event.(type) {
		case event.TurnStarted:
			turns[env.Turn]++
		case event.TurnEnded:
			turns[env.Turn]--
		case event.ApprovalAsked:
			asked[e.ID]++
		case event.ApprovalSettled:
			if e.ID != "" { // else it was refused without a question
				asked[e.ID]--
			}
		case event.MessageStarted:
			open[e.MessageID] = true
		case event.TextDelta:
			if !open[e.MessageID] || e.Offset != len(text[e.MessageID]) {
				return fmt.Errorf("message %d: a delta at %d after %d bytes", e.MessageID, e.Offset, len(text[e.MessageID]))
			}
			text[e.MessageID] += e.Text
		case event.MessageSealed:
			if !open[e.Message.ID] || text[e.Message.ID] != e.Message.Text {
				return fmt.Errorf("message %d is sealed as %q, streamed was %q", e.Message.ID, e.Message.Text, text[e.Message.ID])
			}
			delete(open, e.Message.ID)
		case event.MessageDiscarded:
			delete(open, e.MessageID)
		}
	}
	for id, n := range turns {
		if n != 0 {
			return fmt.Errorf("turn %s was started %d times more than it was ended", id, n)
		}
	}
	for id, n := range asked {
		if n != 0 {
			return fmt.Errorf("approval %s is left open", id)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages left open: %v", open)
	}
	return nil
}
