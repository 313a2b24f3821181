package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/pool/runner"
)

// strict is a back end that fails at random, and notices whoever breaks the rules of the Backend
// interface.
type strict struct {
	working, running atomic.Int32
	up               atomic.Bool
	mu               sync.Mutex
	broken           []string
}

func (s *strict) rule(ok bool, what string) {
	if !ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.broken = append(s.broken, what)
	}
}

func (s *strict) work(f func() error) error {
	s.rule(s.working.Add(1) == 1, "two of Start, Stop and Remove at the same time")
	defer s.working.Add(-1)
	s.rule(s.running.Load() == 0, "work while a command runs")
	time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
	return f()
}

func (s *strict) Start(_ context.Context, r Report) error {
	return s.work(func() error {
		s.rule(!s.up.Load(), "Start of what is up")
		r.Step(event.BackendStarting, "first use")
		if rand.IntN(8) == 0 {
			return errors.New("bad luck")
		}
		s.up.Store(true)
		return nil
	})
}

func (s *strict) Stop(context.Context) error {
	return s.work(func() error {
		s.rule(s.up.Load(), "Stop of what is down")
		s.up.Store(false)
		return nil
	})
}

func (s *strict) Remove(context.Context) error { return s.work(func() error { return nil }) }
func (s *strict) Idles() bool                  { return true }
func (s *strict) Gone() <-chan error           { return nil }

func (s *strict) Run(context.Context, runner.Spec) (runner.Result, error) {
	s.running.Add(1)
	defer s.running.Add(-1)
	s.rule(s.up.Load() && s.working.Load() == 0, "a command in what is not ready")
	time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
	s.rule(s.up.Load(), "stopped under a command")
	return runner.Result{}, nil
}

func (s *strict) Spawn(runner.Spec) (Process, error) { return nil, errors.New("not here") }

// Thousands of calls by callers of little patience, against starts that fail and an idle time about
// as long as a pause:
// no rule is broken, every published transition follows the one before and is in the table, and
// nothing is held at the end.
func TestMachineUnderStress(t *testing.T) {
	bus := event.NewBus()
	box := bus.Subscribe(event.Limits{Events: 1 << 20})
	defer box.Close()
	b := &strict{}
	ctx := t.Context()
	m := newMachine(ctx, key{"s", "x", "docker"}, Spec{Name: "x", Kind: "docker", IdleTTL: 300 * time.Microsecond}, b, bus)
	m.pause = func(int) time.Duration { return 200 * time.Microsecond }
	var all sync.WaitGroup
	var ran atomic.Int32
	for range 4 {
		all.Go(func() {
			for range 500 {
				wait, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(3000))*time.Microsecond)
				if u, err := m.acquireUse(wait, "s", "c"); err == nil {
					_, _ = b.Run(wait, runner.Spec{})
					ran.Add(1)
					u.release()
					u.release() // a second time does nothing
				}
				cancel()
				time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
			}
		})
	}
	all.Wait()
	m.refuseUses(errClosed)
	if err := m.removeRetired(context.Background(), "the end", false); err != nil {
		t.Error(err)
	}
	if len(b.broken) > 0 {
		t.Errorf("%d rules broken, first: %s", len(b.broken), b.broken[0])
	}
	if ran.Load() < 200 || m.status().Refs != 0 {
		t.Errorf("%d commands ran, %d references left", ran.Load(), m.status().Refs)
	}
	checkChain(t, box.Drain())
}

func checkChain(t *testing.T, events []event.Envelope) {
	t.Helper()
	at, seen := event.BackendAbsent, map[event.BackendState]int{}
	for _, e := range events {
		c, ok := e.Event.(event.BackendChanged)
		if !ok {
			continue
		}
		if c.From != at || !slices.Contains(moves[c.From], c.To) || c.Cause == "" || strings.Contains(c.Cause, "unexpected") {
			t.Fatalf("after %s: %+v", at, c)
		}
		at = c.To
		seen[at]++
	}
	if at != event.BackendAbsent || seen[event.BackendFailed] == 0 || seen[event.BackendStopped] == 0 {
		t.Errorf("ended %s, after %v", at, seen)
	}
}

func TestBackoff(t *testing.T) {
	var got []string
	for _, n := range []int{1, 2, 3, 6, 7, 100} {
		got = append(got, fmt.Sprint(backoff(n)))
	}
	if want := "1s 2s 4s 32s 1m0s 1m0s"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// Every state can be reached and left, and the table names no state that has no row.
func TestMovesAreClosed(t *testing.T) {
	reached := map[event.BackendState]bool{}
	for _, next := range moves {
		for _, s := range next {
			reached[s] = true
		}
	}
	for s, next := range moves {
		if !reached[s] || len(next) == 0 {
			t.Errorf("%s: reached %v, leads to %v", s, reached[s], next)
		}
		delete(reached, s)
	}
	if len(reached) > 0 {
		t.Errorf("without a row: %v", reached)
	}
}

type strictKind struct {
	mu   sync.Mutex
	made []*strict
}

func (k *strictKind) Describe(s Spec) About { return describe(s, false) }

func (k *strictKind) Open(string, Spec) (Backend, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := &strict{}
	k.made = append(k.made, b)
	return b, nil
}

// Sessions that are closed under their callers break no rule either, and leave nothing.
func TestSessionsComeAndGo(t *testing.T) {
	k := &strictKind{}
	bus := event.NewBus()
	p, err := New(Config{Kind: "docker", IdleTTL: time.Millisecond}, map[string]Kind{"docker": k}, bus)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	var all sync.WaitGroup
	var ran atomic.Int32
	for range 4 {
		all.Go(func() {
			for i := range 150 {
				if _, err := p.Exec(ctx, backend.Request{Session: fmt.Sprint("s", i%2), Command: "c"}); err == nil {
					ran.Add(1)
				}
			}
		})
	}
	for i := range 100 {
		if err := p.CloseSession(ctx, fmt.Sprint("s", i%2)); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	if _, err := p.Exec(ctx, backend.Request{Session: "s0", Command: "c"}); err == nil { // all before may have come while it was closed
		ran.Add(1)
	}
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
	for _, b := range k.made {
		if len(b.broken) > 0 {
			t.Errorf("broken: %q", b.broken)
		}
	}
	if ran.Load() == 0 {
		t.Error("nothing ran")
	}
}
