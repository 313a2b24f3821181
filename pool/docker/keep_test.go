package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"

	"hermes/core/backend"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/docker/dockertest"
)

// kept is a pool whose containers outlive it, one of several processes of a data folder.
func (r *rig) kept(keep time.Duration) *pool.Pool {
	r.t.Helper()
	spec := pool.Spec{Options: &Settings{Image: dockertest.Busybox(r.t)}}
	p, err := pool.New(pool.Config{Kind: Name, Fallback: pool.FallbackError, Keep: keep, Backends: map[string]pool.Spec{"default": spec}},
		map[string]pool.Kind{Name: r.kind}, r.bus)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func closed(t *testing.T, p *pool.Pool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func in(t *testing.T, p *pool.Pool, session, command string) backend.Result {
	t.Helper()
	res, err := p.Exec(t.Context(), backend.Request{Session: session, Command: command})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (r *rig) left(keep time.Duration) []backend.Leftover {
	r.t.Helper()
	list, err := r.kind.Leftovers(r.t.Context(), []pool.Spec{{Keep: keep}})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func TestWhatAnEarlierProcessMadeIsFoundAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.kept(time.Hour)
	in(t, p, "s", "echo x >/root/f; (trap '' TERM; sleep 4714) &")
	in(t, p, "other", "true")
	closed(t, p)
	for _, l := range r.left(time.Hour) {
		if l.State != "exited" || l.Live || !l.Kept {
			t.Errorf("after the end: %+v", l)
		}
	}
	next := newRigIn(t, r.home)
	if gone, err := next.kind.Prune(t.Context(), []pool.Spec{{Keep: time.Hour}}, false); err != nil || len(gone) != 0 {
		t.Errorf("a start removed %+v, %v", gone, err)
	}
	p = next.kept(time.Hour)
	if res := in(t, p, "s", "cat /root/f"); string(res.Output) != "x\n" || len(res.Warnings) != 0 {
		t.Errorf("%q %q", res.Output, res.Warnings)
	}
	closed(t, p)
	p = newRigIn(t, r.home).kept(time.Hour)
	if err := p.CloseSession(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	if list := r.left(time.Hour); len(list) != 1 || list[0].Session != "other" {
		t.Errorf("after the session's end: %+v", list)
	}
	closed(t, p)
}

func TestWhatIsKeptTooLongGoesAndIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.kept(time.Hour)
	in(t, p, "s", "echo x >/root/f")
	closed(t, p)
	next := newRigIn(t, r.home)
	var mu sync.Mutex
	var told []string
	next.kind.Sweep([]pool.Spec{{Keep: time.Nanosecond}}, func(text string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, text)
	})
	eventually(t, "somebody is told", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(told) == 1 && strings.Contains(told[0], "session s") && strings.Contains(told[0], "terminal.keep")
	})
	p = next.kept(time.Hour)
	res := in(t, p, "s", "cat /root/f")
	if res.ExitCode == 0 || !slices.ContainsFunc(res.Warnings, func(w string) bool {
		return strings.Contains(w, "was made anew") && strings.Contains(w, "terminal.keep")
	}) {
		t.Errorf("%q %q", res.Output, res.Warnings)
	}
	if res := in(t, p, "s", "true"); len(res.Warnings) != 0 {
		t.Errorf("it is said twice: %q", res.Warnings)
	}
	if err := p.CloseSession(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	if res := in(t, p, "s", "true"); len(res.Warnings) != 0 { // it begins anew: nothing was lost
		t.Errorf("%q", res.Warnings)
	}
	if err := p.CloseSession(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	closed(t, p)
}

// At most ten are kept on an engine, and whoever starts next is told which one went.
func TestNoMoreThanTenAreKept(t *testing.T) {
	testskip.Long(t, "eleven containers")
	t.Parallel()
	r := newRig(t)
	for i := range keptMost + 1 {
		p := r.kept(time.Hour)
		in(t, p, fmt.Sprintf("s%02d", i), "true")
		closed(t, p)
	}
	if n := len(r.left(time.Hour)); n != keptMost+1 {
		t.Fatalf("%d are there", n)
	}
	next, told := newRigIn(t, r.home), make(chan string, 2*keptMost)
	next.kind.Sweep([]pool.Spec{{Keep: time.Hour}}, func(text string) { told <- text })
	select {
	case text := <-told:
		if !strings.Contains(text, "session s00") || !strings.Contains(text, "at most 10 containers") {
			t.Errorf("told %q", text)
		}
	case <-time.After(testwait.Hang):
		t.Fatal("nobody is told")
	}
	list := next.left(time.Hour)
	if len(list) != keptMost || slices.ContainsFunc(list, func(l backend.Leftover) bool { return l.Session == "s00" }) {
		t.Errorf("left: %+v", list)
	}
	for i := range keptMost {
		p := next.kept(time.Hour)
		if err := p.CloseSession(t.Context(), fmt.Sprintf("s%02d", i+1)); err != nil {
			t.Error(err)
		}
		closed(t, p)
	}
}

// At most 20 GB are kept on an engine. The files are holes, which engines measure by their length.
func TestNoMoreThanTwentyGigabytesAreKept(t *testing.T) {
	testskip.Long(t, "containers that are measured")
	t.Parallel()
	r := newRig(t)
	for i := range 3 {
		p := r.kept(time.Hour)
		in(t, p, fmt.Sprintf("s%d", i), "dd if=/dev/zero of=/root/large bs=1 count=1 seek=9G 2>/dev/null")
		closed(t, p)
	}
	next, told := newRigIn(t, r.home), make(chan string, 3)
	next.kind.Sweep([]pool.Spec{{Keep: time.Hour}}, func(text string) { told <- text })
	select {
	case text := <-told:
		if !strings.Contains(text, "session s0") || !strings.Contains(text, "at most 20 GB") {
			t.Errorf("told %q", text)
		}
	case <-time.After(testwait.Hang):
		t.Fatal("nobody is told")
	}
	if list := next.left(time.Hour); len(list) != 2 || slices.ContainsFunc(list, func(l backend.Leftover) bool { return l.Session == "s0" }) {
		t.Errorf("left: %+v", list)
	}
	for _, session := range []string{"s1", "s2"} {
		p := next.kept(time.Hour)
		if err := p.CloseSession(t.Context(), session); err != nil {
			t.Error(err)
		}
		closed(t, p)
	}
}

// What a killed process left running is stopped, not removed.
func TestAfterAKillNothingRunsOnAndWorkIsKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := startOther(t, r.home, "dead")
	o.line() // it is up
	if got := o.run("echo x >/root/f"); got != `ran "" <nil>` {
		t.Fatal(got)
	}
	o.kill()
	if gone, err := r.kind.Prune(t.Context(), []pool.Spec{{Keep: time.Hour}}, false); err != nil || len(gone) != 0 {
		t.Errorf("removed %+v, %v", gone, err)
	}
	if list := r.left(time.Hour); len(list) != 1 || list[0].State != "exited" || !list[0].Kept {
		t.Errorf("%+v", list)
	}
	p := r.kept(time.Hour)
	if res := in(t, p, "dead", "cat /root/f"); string(res.Output) != "x\n" {
		t.Errorf("%q %q", res.Output, res.Warnings)
	}
	closed(t, p)
}

func TestTheOldestGoFirst(t *testing.T) {
	now := time.Now()
	one := func(name string, age time.Duration, size int64, running bool) resting {
		return resting{Leftover: backend.Leftover{Name: name}, since: now.Add(-age), size: size, running: running}
	}
	for _, c := range []struct {
		what string
		kept []resting
		want string
	}{
		{"few", []resting{one("a", 1, 1, false), one("b", 2, 1, false)}, ""},
		{"too many", []resting{one("a", 3, 1, false), one("b", 1, 1, false), one("c", 2, 1, false), one("d", 9, 1, true)}, "[d: c:oldest a:oldest]"},
		{"too large", []resting{one("a", 1, 60, false), one("b", 2, 60, false)}, "[b:oldest]"},
		{"one is never too large", []resting{one("a", 1, 600, false)}, ""},
		{"what runs is stopped", []resting{one("a", 1, 1, true)}, "[a:]"},
	} {
		var got []string
		for _, r := range overflowing(c.kept, 2, 100) {
			why := ""
			if strings.Contains(r.why, "oldest") {
				why = "oldest"
			}
			got = append(got, r.Name+":"+why)
		}
		if text := strings.TrimSuffix(fmt.Sprint(got), "[]"); text != c.want {
			t.Errorf("%s: %s, want %s", c.what, text, c.want)
		}
	}
}

// TestAKeptContainerIsWokenWithoutItsImagesTag: the tag may be gone, or name another image; what
// was made in the container is there.
func TestAKeptContainerIsWokenWithoutItsImagesTag(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	cli := dockertest.Engine(t)
	tag := dockertest.OwnBusybox(t, "once")
	open := func(r *rig) *pool.Pool {
		spec := pool.Spec{Options: &Settings{Image: tag, Pull: PullNever}}
		p, err := pool.New(pool.Config{Kind: Name, Fallback: pool.FallbackError, Keep: time.Hour, Backends: map[string]pool.Spec{"default": spec}},
			map[string]pool.Kind{Name: r.kind}, r.bus)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := open(r)
	in(t, p, "s", "echo x >/root/f")
	closed(t, p)
	if _, err := cli.ImageRemove(ctx, tag, image.RemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	p = open(newRigIn(t, r.home))
	if res := in(t, p, "s", "cat /root/f"); string(res.Output) != "x\n" {
		t.Errorf("%q %q", res.Output, res.Warnings)
	}
	closed(t, p)
}
