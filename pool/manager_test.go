package pool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/pool/runner"
)

// running starts a command that blocks, and returns what becomes of it.
func running(t *testing.T, p *Pool, session, name string) <-chan backend.Result {
	t.Helper()
	out := make(chan backend.Result, 1)
	go func() {
		res, err := p.Exec(context.Background(), backend.Request{Session: session, Backend: name, Command: "block"})
		if err != nil {
			t.Error(err)
		}
		out <- res
	}()
	eventually(t, name+" is in use", func() bool {
		return slices.ContainsFunc(p.List(session), func(s backend.Status) bool { return s.Name == name && s.Command == "block" })
	})
	return out
}

func stateOf(p *Pool, session, name string) event.BackendState {
	for _, s := range p.List(session) {
		if s.Name == name {
			return s.State
		}
	}
	return ""
}

func TestVerbsRefuseWhatIsInUse(t *testing.T) {
	k := &fakeKind{}
	p, box := newFakePool(t, dockers("a"), k)
	ctx := context.Background()
	for verb, do := range map[string]func(force bool) error{
		"stopped":   func(force bool) error { return p.Stop(ctx, "s", "a", force) },
		"restarted": func(force bool) error { return p.Restart(ctx, "s", "a", force) },
		"removed":   func(force bool) error { return p.Remove(ctx, "s", "a", force) },
	} {
		out := running(t, p, "s", "a")
		if err := do(false); err == nil || err.Error() != `backend 'a' is in use: "block". Force ends that` {
			t.Errorf("%s in use: %v", verb, err)
		}
		if err := do(true); err != nil {
			t.Errorf("%s by force: %v", verb, err)
		}
		res := <-out
		if want := "backend 'a': " + verb + " by hand while this ran"; !slices.Contains(res.Warnings, want) || res.ExitCode != runner.ExitInterrupt {
			t.Errorf("the command's result: %+v, want %q", res, want)
		}
	}
	if f := k.get("s/a"); f.removals.Load() != 1 {
		t.Errorf("%d removals", f.removals.Load())
	}
	if err := p.Stop(ctx, "s", "nowhere", false); err == nil || err.Error() != "backend 'nowhere' not found. Available: default, a" {
		t.Error(err)
	}
	if err := p.Pull(ctx, "s", "a"); err == nil || !strings.Contains(err.Error(), "no image to fetch") {
		t.Error(err)
	}
	if _, causes := states(box, "a"); !slices.Contains(causes, "stopped by hand") || !slices.Contains(causes, "removed by hand") {
		t.Errorf("causes %q", causes)
	}
}

// A person does not wait out a failure.
func TestUpEndsTheWait(t *testing.T) {
	k := &fakeKind{setup: func(f *fake) { f.err = errors.New("bad image") }}
	p, _ := newFakePool(t, dockers(), k)
	ctx := context.Background()
	for n := range 3 {
		if err := p.Up(ctx, "s", ""); err == nil || !strings.Contains(err.Error(), "bad image") {
			t.Error(err)
		}
		if _, err := exec(t, p, "s", "", "c"); err == nil || !strings.Contains(err.Error(), "the next try is in 1s") {
			t.Error(err)
		}
		if got := int(k.get("s/default").starts.Load()); got != n+1 {
			t.Errorf("%d starts after %d by hand", got, n+1)
		}
	}
}

// A start that nobody waits for any more can be stopped; one that a command waits for is in use.
func TestStopDuringAStart(t *testing.T) {
	gate := make(chan struct{})
	k := &fakeKind{setup: func(f *fake) { f.gate = gate }}
	p, _ := newFakePool(t, dockers("a"), k)
	ended := make(chan error, 1)
	go func() { ended <- p.Up(context.Background(), "s", "a") }()
	eventually(t, "it starts", func() bool { return stateOf(p, "s", "a") == event.BackendStarting })
	if err := p.Stop(context.Background(), "s", "a", false); err == nil || !strings.Contains(err.Error(), "is being started for a command") {
		t.Error(err)
	}
	if err := p.Stop(context.Background(), "s", "a", true); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "stopped by hand") {
		t.Error(err)
	}
	close(gate)
	if err := p.Up(context.Background(), "s", "a"); err != nil {
		t.Error("it waits after that, as if it had failed: ", err)
	}
}

func TestWhatIsLostComesBack(t *testing.T) {
	k := &fakeKind{setup: func(f *fake) { f.gone = make(chan error, 1) }}
	p, box := newFakePool(t, dockers("a"), k)
	if res, err := exec(t, p, "s", "a", "c"); err != nil || len(res.Warnings) != 0 {
		t.Fatal(res, err)
	}
	k.get("s/a").gone <- errors.New("removed by somebody else")
	eventually(t, "it is lost", func() bool { return stateOf(p, "s", "a") == event.BackendLost })
	res, err := exec(t, p, "s", "a", "c")
	const want = "backend 'a' was made anew (removed by somebody else): files that were not in a mount are gone"
	if err != nil || !slices.Equal(res.Warnings, []string{want}) {
		t.Errorf("%q, %v", res.Warnings, err)
	}
	if res, _ := exec(t, p, "s", "a", "c"); len(res.Warnings) != 0 {
		t.Errorf("said twice: %q", res.Warnings)
	}
	if got, causes := states(box, "a"); !slices.Contains(got, event.BackendLost) || !slices.Contains(causes, "brought back") {
		t.Errorf("%v, %q", got, causes)
	}
}

// What certainly did not begin is tried once more, and then by the default.
func TestNotStarted(t *testing.T) {
	for absent, want := range map[int32]struct {
		backend string
		starts  int32
	}{1: {"a", 2}, 2: {"default", 2}} {
		k := &fakeKind{setup: func(f *fake) {
			if strings.HasSuffix(f.id, "/a") {
				f.absent.Store(absent)
			}
		}}
		p, _ := newFakePool(t, dockers("a"), k)
		res, err := exec(t, p, "s", "a", "c")
		if err != nil || res.Backend != want.backend || k.get("s/a").starts.Load() != want.starts {
			t.Errorf("absent %d times: ran in %q after %d starts, %v", absent, res.Backend, k.get("s/a").starts.Load(), err)
		}
	}
}

func TestTheMostBackEndsOfASession(t *testing.T) {
	k, here := &fakeKind{}, &fakeKind{shared: true}
	c := dockers("a", "b", "c")
	c.MaxPerSession, c.Backends["here"] = 2, Spec{Kind: "local"}
	bus := event.NewBus()
	box := bus.Subscribe(event.Limits{})
	defer box.Close()
	p, err := New(c, map[string]Kind{"docker": k, "local": here}, bus)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	for _, name := range []string{"default", "here", "a", "b", "a", "c"} { // b has idled for the longest then
		if res, err := exec(t, p, "s", name, "c"); err != nil || res.Backend != name || len(res.Warnings) > 0 {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
	}
	for name, want := range map[string]event.BackendState{
		"default": event.BackendStopped, "here": event.BackendReady, "a": event.BackendReady, "b": event.BackendStopped, "c": event.BackendReady,
	} {
		if got := stateOf(p, "s", name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if _, causes := states(box, "b"); !slices.Contains(causes, "made way for 'c': a session has at most 2 up") {
		t.Errorf("causes %q", causes)
	}
	first, second := running(t, p, "s", "default"), running(t, p, "s", "c")
	res, err := exec(t, p, "s", "b", "c")
	const want = "backend 'b' was not started: this session has 2 up, which is the most that it may have (terminal.max_backends_per_session), and all are in use (c, default): 'default' ran it instead"
	if err != nil || res.Backend != "default" || !slices.Equal(res.Warnings, []string{want}) {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := exec(t, p, "other", "b", "c"); err != nil || res.Backend != "b" {
		t.Errorf("another session: %+v, %v", res, err)
	}
	if err := p.Stop(context.Background(), "s", "default", true); err != nil {
		t.Error(err)
	}
	<-first
	first = running(t, p, "s", "a")
	if res, err := exec(t, p, "s", "b", "c"); err == nil || !strings.Contains(err.Error(), "2 up, which is the most") {
		t.Errorf("the default counts too: %+v, %v", res, err)
	}
	for _, name := range []string{"a", "c"} {
		if err := p.Stop(context.Background(), "s", name, true); err != nil {
			t.Error(err)
		}
	}
	<-first
	<-second
}

func TestKeepHoldsItUp(t *testing.T) {
	c := dockers()
	c.IdleTTL = 20 * time.Millisecond
	p, _ := newFakePool(t, c, &fakeKind{})
	release := p.Keep("s", "")
	if _, err := exec(t, p, "s", "", "c"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * c.IdleTTL) // the time that must pass without a stop
	if s := p.List("s")[0]; s.State != event.BackendReady || !s.IdleSince.IsZero() {
		t.Errorf("%+v", s)
	}
	release()
	release()
	eventually(t, "it is stopped", func() bool { return stateOf(p, "s", "default") == event.BackendStopped })
}

func TestConfigure(t *testing.T) {
	k := &fakeKind{}
	p, box := newFakePool(t, dockers("a", "b", "old"), k)
	for _, name := range []string{"a", "b", "old"} {
		if _, err := exec(t, p, "s", name, "c"); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Select("s", "old"); err != nil {
		t.Fatal(err)
	}
	busy, first := running(t, p, "s", "b"), k.get("s/b")
	c := dockers("a", "b", "new")
	c.IdleTTL = time.Hour
	c.Backends["b"] = Spec{Options: &settings{Image: "other"}}
	if err := p.Configure(c); err != nil {
		t.Fatal(err)
	}
	if res, err := exec(t, p, "s", "new", "c"); err != nil || res.Backend != "new" {
		t.Errorf("a new name: %+v, %v", res, err)
	}
	if k.get("s/a").stops.Load() != 0 || p.List("s")[1].IdleTTL != time.Hour {
		t.Error("another idle time stopped it, or is not taken")
	}
	if k.get("s/b") != first && first.stops.Load() != 0 || stateOf(p, "s", "b") != event.BackendReady {
		t.Error("what is in use was changed")
	}
	eventually(t, "the old one is down", func() bool { return k.get("s/old").stops.Load() == 1 })
	res, err := exec(t, p, "s", "", "c")
	if want := "backend 'old' not found. Available: default, a, b, new"; err != nil || res.Backend != "default" || !slices.Equal(res.Warnings, []string{want}) {
		t.Errorf("the selected one is gone: %+v, %v", res, err)
	}
	if err := p.Stop(context.Background(), "s", "b", true); err != nil {
		t.Fatal(err)
	}
	<-busy
	eventually(t, "b is what it is now", func() bool { return p.List("s")[2].Image == "other" })
	if _, err := exec(t, p, "s", "b", "c"); err != nil {
		t.Error(err)
	}
	if f := k.get("s/b"); f == first || f.runs.Load() != 1 {
		t.Error("the old settings run it")
	}
	notices := 0
	for _, e := range box.Drain() {
		if n, ok := e.Event.(event.Notice); ok && strings.Contains(n.Text, "'old' not found") {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("%d notices of the selected back end", notices)
	}
	if err := p.Configure(Config{Backends: map[string]Spec{"Bad": {}}}); err == nil || len(p.List("s")) != 4 {
		t.Error("bad settings are taken")
	}
}

// An unknown name is no way from a container onto this machine.
func TestAnUnknownNameBesideThisMachine(t *testing.T) {
	bus := event.NewBus()
	here := &fakeKind{shared: true}
	c := Config{Backends: map[string]Spec{"box": {Kind: "docker", Options: &settings{Image: "i"}}}}
	p, err := New(c, map[string]Kind{"docker": &fakeKind{}, "local": here}, bus)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	if _, err := exec(t, p, "s", "bxo", "c"); err == nil || !strings.Contains(err.Error(), "backend 'bxo' not found. Available: default, box") {
		t.Error(err)
	}
	if here.get("/default") != nil {
		t.Error("this machine ran it")
	}
	if err := p.Configure(Config{}); err != nil {
		t.Fatal(err)
	}
	if res, err := exec(t, p, "s", "bxo", "c"); err != nil || res.Backend != "default" || len(res.Warnings) != 1 {
		t.Errorf("this machine alone: %+v, %v", res, err)
	}
}

// Whatever hangs, Close ends in its time, and what does not hang is removed.
func TestCloseWithAHungEngine(t *testing.T) {
	hang := make(chan struct{})
	k := &fakeKind{setup: func(f *fake) {
		if strings.HasSuffix(f.id, "/a") {
			f.hang = hang
		}
	}}
	p, err := New(dockers("a"), map[string]Kind{"docker": k}, event.NewBus())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "default"} {
		if _, err := exec(t, p, "s", name, "c"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Within(time.Second)) // default is removed in that
	defer cancel()
	began := time.Now()
	if err := p.Close(ctx); err == nil || !strings.Contains(err.Error(), "removing backend 'a'") || strings.Contains(err.Error(), "'default'") {
		t.Error(err)
	}
	if took := time.Since(began); took > testwait.Within(10*time.Second) || k.get("s/default").removals.Load() != 1 {
		t.Errorf("after %v, default removed %d times", took, k.get("s/default").removals.Load())
	}
	close(hang)
}

// The same notice is not given at each command that the default runs instead.
func TestAFallbackIsToldOnce(t *testing.T) {
	k := &fakeKind{setup: func(f *fake) {
		if strings.HasSuffix(f.id, "/broken") {
			f.err = errors.New("no such image")
		}
	}}
	p, box := newFakePool(t, dockers("broken"), k)
	for range 3 {
		if _, err := exec(t, p, "s", "broken", "c"); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, e := range box.Drain() {
		if notice, ok := e.Event.(event.Notice); ok && notice.Level == event.Warn && strings.Contains(notice.Text, "no such image") && e.Session == "s" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d notices", n)
	}
}

// A default that could reach more does not stand in, and the error says what to change.
func TestAWiderDefaultDoesNotStandIn(t *testing.T) {
	k := &fakeKind{setup: func(f *fake) {
		if strings.HasSuffix(f.id, "/cut") {
			f.err = errors.New("no such image")
		}
	}}
	c := dockers()
	c.Backends["cut"] = Spec{Options: &settings{Image: "i", Network: "none"}}
	p, _ := newFakePool(t, c, k)
	_, err := exec(t, p, "s", "cut", "c")
	if err == nil || !strings.Contains(err.Error(), "no such image") || !strings.Contains(err.Error(), "Give the default `network: none`") {
		t.Error(err)
	}
	if k.get("s/default") != nil {
		t.Error("the default ran it")
	}
}
