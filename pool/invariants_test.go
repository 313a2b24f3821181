package pool

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/core/testwait"
)

const (
	steps   = 100_000
	worlds  = 8
	walkers = 4 // at the same time in each world
)

// The ten invariants of the pool hold over 100,000 random steps of callers, of people and of an
// engine that fails, dawdles and loses things:
//
//	I1  at most one container of a session and name
//	I2  nothing is stopped or removed while a command is in it
//	I3  a call ends by its deadline
//	I4  after Close nothing of ours is left
//	I5  a command begins at most once
//	I6  what a result names is where it ran
//	I7  no goroutine stays behind
//	I8  the pool answers during every call of the engine
//	I9  what is not ours is never touched
//	I10 what a call printed is in no other call's output
//
// Beside them: a session's maximum holds at any moment, a transition follows from the one before,
// and a call never ends up on this machine that did not ask for it.
func TestInvariants(t *testing.T) {
	testskip.Long(t, "random steps of a whole pool")
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	list := make([]*world, worlds)
	for i := range list {
		list[i] = newWorld(t, 2)
		all.Go(func() { list[i].run(steps / worlds) })
	}
	all.Wait()
	deadline := time.Now().Add(testwait.Hang)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	for _, name := range []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "cap", "chain", "host"} {
		looked := 0
		for _, w := range list {
			if name == "I7" {
				w.check(name, runtime.NumGoroutine() <= before, "%d goroutines, %d before", runtime.NumGoroutine(), before)
			}
			looked += w.checks[name]
		}
		t.Logf("%-5s looked at %d times", name, looked)
		if looked == 0 {
			t.Errorf("%s was never looked at", name)
		}
	}
}

// run lives through n steps in one world.
func (w *world) run(n int) {
	bus := event.NewBus()
	box := bus.Subscribe(event.Limits{Events: 1 << 22})
	defer box.Close()
	p, err := New(w.config(0), map[string]Kind{"docker": worldKind{w, false}, "local": worldKind{w, true}}, bus)
	if err != nil {
		w.t.Error(err)
		return
	}
	p.pause = func(int) time.Duration { return time.Duration(rand.IntN(400)) * time.Microsecond }
	w.pool = p
	var all sync.WaitGroup
	var serial atomic.Int64
	for range walkers {
		all.Go(func() {
			for i := serial.Add(1); i <= int64(n); i = serial.Add(1) {
				w.step(p, fmt.Sprint("command ", i, "."))
			}
		})
	}
	all.Wait()
	w.faults.Store(false)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err = p.Close(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.must("I4", len(w.all) == 0 && err == nil, "%d containers are left, %v", len(w.all), err)
	w.must("I9", w.foreign.running && w.foreign.id == -1, "the foreign container: %+v", w.foreign)
	w.chains(box.Drain())
}

// config is one of some settings, alike in names.
func (w *world) config(variant int) Config {
	c := Config{Kind: "docker", MaxPerSession: w.max, IdleTTL: time.Duration(300+300*variant) * time.Microsecond, Backends: map[string]Spec{
		"default": {Options: &settings{Image: "d"}}, "here": {Kind: "local"}, "taken": {Options: &settings{Image: "t"}},
		"a": {Options: &settings{Image: "a"}}, "b": {Options: &settings{Image: "b"}}, "c": {Options: &settings{Image: fmt.Sprint("c", variant)}}, "cut": {Options: &settings{Image: "x", Network: "none"}},
	}}
	if variant == 2 {
		delete(c.Backends, "b")
	}
	return c
}

var names = []string{"", "default", "a", "b", "c", "a", "b", "c", "cut", "taken", "here", "nowhere"}

// step does one thing that a caller, a person or fate does.
func (w *world) step(p *Pool, command string) {
	session, name := fmt.Sprint("s", rand.IntN(2)), names[rand.IntN(len(names))]
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(20_000))*time.Microsecond)
	defer cancel()
	began := time.Now()
	what := rand.IntN(100)
	switch force := rand.IntN(2) == 0; {
	case what < 70:
		w.exec(ctx, p, session, name, command)
	case what < 80:
		w.spawn(ctx, p, session, name, command)
	case what < 82:
		_ = p.Stop(ctx, session, name, force)
	case what < 84:
		_ = p.Restart(ctx, session, name, force)
	case what < 86:
		_ = p.Remove(ctx, session, name, force)
	case what < 88:
		_ = p.Pull(ctx, session, name)
	case what < 90:
		_ = p.Up(ctx, session, name)
	case what < 92:
		release := p.Keep(session, name)
		time.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond)
		release()
	case what < 94:
		_ = p.Select(session, name)
	case what < 96:
		w.accident()
	case what < 97:
		if err := p.Configure(w.config(rand.IntN(3))); err != nil {
			w.t.Error(err)
		}
	case what < 98:
		long, done := context.WithTimeout(context.Background(), time.Minute)
		_ = p.CloseSession(long, session) // a removal may fail: Close tries again
		done()
		return
	default:
		p.List(session)
	}
	deadline, _ := ctx.Deadline()
	late := time.Since(deadline)
	w.check("I3", late < 3*time.Second || late < testwait.Within(3*time.Second), "step %d took %v", what, time.Since(began))
}

func (w *world) exec(ctx context.Context, p *Pool, session, name, command string) {
	var shown bytes.Buffer
	r := backend.Request{Session: session, Backend: name, Command: command, Sink: func(from event.Stream, data []byte) {
		if from != event.Note {
			shown.Write(data)
		}
	}}
	res, err := p.Exec(ctx, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	where, began := w.begun[command]
	w.must("host", where != "here" || name == "here" || name == "", "%q was run on this machine", name)
	w.must("I10", shown.Len() == 0 || shown.String() == command, "%s shows %q", command, shown.String())
	if err != nil {
		return
	}
	w.must("I6", began && res.Backend == where && res.Requested == name, "%s ran in %q, says %q for %q", command, where, res.Backend, res.Requested)
	w.must("I10", string(res.Output) == command, "%s gave %q", command, res.Output)
	elsewhere := name != "" && res.Backend != name
	w.must("I6", !elsewhere || len(res.Warnings) > 0, "no warning about %q for %q", res.Backend, name)
}

func (w *world) spawn(ctx context.Context, p *Pool, session, name, command string) {
	q, err := p.Start(ctx, backend.Request{Session: session, Backend: name, Command: command})
	if err != nil {
		return
	}
	if rand.IntN(2) == 0 {
		_, _ = p.Kill(ctx, session, q.ID) // the session may have ended
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.must("I6", q.Backend == w.begun[command], "%s ran in %q, says %q", command, w.begun[command], q.Backend)
}

// chains checks the transitions of every machine as they were published. A session that begins anew
// has new machines, which begin absent.
func (w *world) chains(events []event.Envelope) {
	at := map[string]event.BackendState{}
	for _, e := range events {
		c, ok := e.Event.(event.BackendChanged)
		if !ok || c.From == c.To {
			continue
		}
		key := e.Session + "/" + c.Name
		was, known := at[key]
		follows := !known || was == c.From || c.From == event.BackendAbsent
		w.must("chain", follows && c.Cause != "" && !strings.Contains(c.Cause, "unexpected"), "%s is %s, then %+v", key, was, c)
		at[key] = c.To
	}
}
