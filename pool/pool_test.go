package pool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/pool/runner"
)

func dockers(names ...string) Config {
	c := Config{Kind: "docker", IdleTTL: -1, Backends: map[string]Spec{}}
	for _, n := range names {
		c.Backends[n] = Spec{Options: &settings{Image: n + ":latest"}}
	}
	return c
}

// states are the transitions of a back end as they were published.
func states(box *event.Mailbox, name string) (list []event.BackendState, causes []string) {
	for _, e := range box.Drain() {
		if c, ok := e.Event.(event.BackendChanged); ok && c.Name == name {
			list = append(list, c.To)
			causes = append(causes, c.Cause)
		}
	}
	return list, causes
}

func TestFirstUsesStartOnce(t *testing.T) {
	gate := make(chan struct{})
	k := &fakeKind{setup: func(f *fake) { f.gate = gate }}
	p, box := newFakePool(t, dockers(), k)
	impatient, leave := context.WithCancel(context.Background())
	left := make(chan error)
	go func() {
		_, err := p.Exec(impatient, backend.Request{Session: "s", Command: "c"})
		left <- err
	}()
	eventually(t, "the start", func() bool { f := k.get("s/default"); return f != nil && f.starts.Load() == 1 })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := exec(t, p, "s", "", "c"); err != nil {
				t.Error(err)
			}
		})
	}
	close(gate)
	all.Wait()
	f := k.get("s/default")
	if f.starts.Load() != 1 || f.runs.Load() != 16 {
		t.Errorf("%d starts, %d runs", f.starts.Load(), f.runs.Load())
	}
	got, _ := states(box, "default")
	want := []event.BackendState{event.BackendPulling, event.BackendCreating, event.BackendStarting, event.BackendReady}
	if !slices.Equal(got, want) {
		t.Errorf("states %v, want %v", got, want)
	}
}

func TestIdleStopAndWake(t *testing.T) {
	k := &fakeKind{}
	c := dockers()
	c.IdleTTL = 30 * time.Millisecond
	p, box := newFakePool(t, c, k)
	ctx, cancel := context.WithCancel(context.Background())
	busy := make(chan struct{})
	go func() {
		defer close(busy)
		_, _ = p.Exec(ctx, backend.Request{Session: "s", Command: "block"})
	}()
	eventually(t, "it is in use", func() bool { return p.List("s")[0].Refs == 1 })
	time.Sleep(3 * c.IdleTTL) // the time that must pass without a stop
	if s := p.List("s")[0]; s.State != event.BackendReady || s.Command != "block" || !s.IdleSince.IsZero() {
		t.Errorf("in use: %+v", s)
	}
	cancel()
	<-busy
	eventually(t, "it is stopped", func() bool { return p.List("s")[0].State == event.BackendStopped })
	if _, err := exec(t, p, "s", "", "c"); err != nil {
		t.Fatal(err)
	}
	f := k.get("s/default")
	if f.starts.Load() != 2 || f.stops.Load() != 1 || f.removals.Load() != 0 {
		t.Errorf("%d starts, %d stops, %d removals", f.starts.Load(), f.stops.Load(), f.removals.Load())
	}
	_, causes := states(box, "default")
	if !slices.Contains(causes, "idle for 30ms") {
		t.Errorf("causes %q", causes)
	}
}

func TestAFailedStart(t *testing.T) {
	k := &fakeKind{setup: func(f *fake) {
		if strings.HasSuffix(f.id, "/broken") {
			f.err = errors.New("image not found")
		}
	}}
	p, box := newFakePool(t, dockers("broken"), k)
	for range 3 {
		res, err := exec(t, p, "s", "broken", "c")
		if err != nil || res.Backend != "default" || res.Requested != "broken" || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "image not found") {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	if n := k.get("s/broken").starts.Load(); n != 1 {
		t.Errorf("%d starts within the backoff", n)
	}
	if got, _ := states(box, "broken"); !slices.Equal(got, []event.BackendState{event.BackendFailed}) {
		t.Errorf("states %v", got)
	}
}

func TestAFailedDefaultIsAnError(t *testing.T) {
	k := &fakeKind{setup: func(f *fake) { f.err = errors.New("no engine") }}
	p, _ := newFakePool(t, dockers("other"), k)
	for _, name := range []string{"", "other"} {
		if _, err := exec(t, p, "s", name, "c"); err == nil || !strings.Contains(err.Error(), "no engine") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Once a command may have started there is no second try anywhere.
func TestNoSecondRun(t *testing.T) {
	k := &fakeKind{}
	p, _ := newFakePool(t, dockers("other"), k)
	if _, err := exec(t, p, "s", "other", "break"); err == nil || !strings.Contains(err.Error(), "backend 'other'") {
		t.Error(err)
	}
	if k.get("s/default") != nil || k.get("s/other").runs.Load() != 1 {
		t.Error("it was tried again")
	}
}

func TestAKindThatIsNotThere(t *testing.T) {
	k := &fakeKind{shared: true}
	c := Config{Backends: map[string]Spec{"box": {Kind: "docker", Options: &settings{Image: "i"}}}}
	p, err := New(c, map[string]Kind{"local": k}, event.NewBus())
	if err != nil {
		t.Fatal(err)
	}
	const why = "kind docker is not available in this version"
	res, err := exec(t, p, "s", "box", "c")
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%+v, %v", res, err)
	}
	if k.get("/default") != nil {
		t.Error("this machine was used instead")
	}
	box := p.List("s")[1]
	if box.Name != "box" || box.State != event.BackendFailed || !strings.Contains(box.Cause, why) {
		t.Errorf("%+v", box)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestAnUnknownName(t *testing.T) {
	p, _ := newFakePool(t, dockers("analytics"), &fakeKind{})
	const want = "backend 'xxx' not found. Available: default, analytics"
	var note string
	r := backend.Request{Session: "s", Backend: "xxx", Command: "c", Sink: func(s event.Stream, data []byte) { note += string(s) + string(data) }}
	res, err := p.Exec(context.Background(), r)
	if err != nil || res.Backend != "default" || !slices.Equal(res.Warnings, []string{want}) {
		t.Errorf("%+v, %v", res, err)
	}
	if note != "note["+want+"]\n" {
		t.Errorf("shown: %q", note)
	}
}

func TestSessionsAreApart(t *testing.T) {
	k := &fakeKind{}
	p, _ := newFakePool(t, dockers(), k)
	for _, s := range []string{"a", "b"} {
		for range 2 {
			if _, err := exec(t, p, s, "", s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d := p.sessionDir("a", "default"); d != "/dir/of/a" {
		t.Errorf("directory of a: %s", d)
	}
	if err := p.CloseSession(context.Background(), "a"); err != nil {
		t.Error(err)
	}
	if a, b := k.get("a/default"), k.get("b/default"); a.removals.Load() != 1 || b.removals.Load() != 0 {
		t.Errorf("removed: %d of a, %d of b", a.removals.Load(), b.removals.Load())
	}
	if p.sessionDir("a", "default") != "" {
		t.Error("the directory of an ended session is remembered")
	}
}

func TestSelect(t *testing.T) {
	p, box := newFakePool(t, dockers("other"), &fakeKind{})
	if err := p.Select("s", "nope"); err == nil || !strings.Contains(err.Error(), "Available: default, other") {
		t.Error(err)
	}
	for range 2 {
		if err := p.Select("s", "other"); err != nil {
			t.Fatal(err)
		}
	}
	said := 0
	for _, e := range box.Drain() {
		if _, ok := e.Event.(event.BackendSelected); ok && e.Session == "s" {
			said++
		}
	}
	if said != 1 {
		t.Errorf("published %d times", said)
	}
	if res, err := exec(t, p, "s", "", "c"); err != nil || res.Backend != "other" {
		t.Errorf("%+v, %v", res, err)
	}
	if l := p.List("s"); !l[1].Selected || l[0].Selected || !l[0].Default {
		t.Errorf("%+v", l)
	}
}

func TestCloseEndsWhatRunsAndWhatStarts(t *testing.T) {
	k := &fakeKind{setup: func(f *fake) {
		if strings.HasSuffix(f.id, "/slow") {
			f.gate = make(chan struct{})
		}
	}}
	p, _ := newFakePool(t, dockers("slow"), k)
	ended := make(chan error, 2)
	for _, name := range []string{"default", "slow"} {
		go func() {
			_, err := p.Exec(context.Background(), backend.Request{Session: "s", Backend: name, Command: "block"})
			ended <- err
		}()
	}
	eventually(t, "both are under way", func() bool {
		a, b := k.get("s/default"), k.get("s/slow")
		return a != nil && b != nil && a.runs.Load() == 1 && b.starts.Load() == 1
	})
	if err := p.Close(context.Background()); err != nil {
		t.Error(err)
	}
	<-ended
	<-ended
	if a := k.get("s/default"); a.removals.Load() != 1 {
		t.Error("what ran is not removed")
	}
	if _, err := exec(t, p, "s", "", "c"); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A session ends with its calls, and a call that ends late does not bring it back.
func TestCloseSessionEndsItsCalls(t *testing.T) {
	k := &fakeKind{}
	p, _ := newFakePool(t, dockers(), k)
	type end struct {
		res backend.Result
		err error
	}
	ended := make(chan end, 1)
	go func() {
		res, err := p.Exec(context.Background(), backend.Request{Session: "s", Command: "block"})
		ended <- end{res, err}
	}()
	eventually(t, "it runs", func() bool { f := k.get("s/default"); return f != nil && f.runs.Load() == 1 })
	if _, err := exec(t, p, "other", "", "c"); err != nil {
		t.Fatal(err)
	}
	if err := p.CloseSession(context.Background(), "s"); err != nil {
		t.Error(err)
	}
	if k.get("s/default").interrupted.Load() != 1 {
		t.Error("CloseSession returned before the call had ended")
	}
	if e := <-ended; e.err != nil || e.res.ExitCode != runner.ExitInterrupt {
		t.Errorf("%+v", e)
	}
	p.mu.Lock()
	_, back := p.sessions["s"]
	p.mu.Unlock()
	if back || len(p.Processes("s")) != 0 || p.sessionDir("s", "default") != "" {
		t.Error("asking about a session that is gone, or a call that ends late, brings it back")
	}
	if k.get("s/default").removals.Load() != 1 || k.get("other/default").removals.Load() != 0 {
		t.Error("not the session's own back end was removed, and only that")
	}
	if _, err := exec(t, p, "s", "", "c"); err != nil {
		t.Errorf("the session begins anew: %v", err)
	}
}

// Once a back end is to be removed, nothing uses or stops it.
func TestNothingMovesBesideARemoval(t *testing.T) {
	k := &fakeKind{}
	c := dockers()
	c.IdleTTL = time.Nanosecond
	p, _ := newFakePool(t, c, k)
	m, _ := p.findMachine("s", "default")
	m.mu.Lock()
	m.state, m.gone, m.idle = event.BackendReady, errClosed, time.Now().Add(-time.Hour) // as remove leaves it before it moves on
	m.mu.Unlock()
	m.stopIfIdle()
	if _, err := m.acquireUse(context.Background(), "s", "c"); !errors.Is(err, errClosed) {
		t.Errorf("acquire: %v", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.job != nil || m.state != event.BackendReady {
		t.Errorf("it is %s, at work: %v", m.state, m.job != nil)
	}
}
