package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testskip"
	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
)

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// inspect returns the back end's container; nil when there is none.
func inspect(t testing.TB, b *Backend) *capi.InspectResponse {
	t.Helper()
	got, err := dockertest.Engine(t).ContainerInspect(t.Context(), b.name())
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return &got
}

// eventually polls until ok.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testwait.Hang); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came: %s", what)
		}
	}
}

func lost(t testing.TB, b *Backend) string {
	t.Helper()
	select {
	case err := <-b.Gone():
		return err.Error()
	case <-time.After(testwait.Hang):
		t.Fatal("the loss was not noticed")
		return ""
	}
}

// 1
func TestTheSameNameIsTheSameContainer(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t)
	p := r.pool(map[string]pool.Spec{"default": {}, "other": {}})
	ask := func(name, command string) string {
		t.Helper()
		res, err := p.Exec(t.Context(), backend.Request{Session: "s", Backend: name, Command: command})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Output)
	}
	ask("default", "echo kept >/root/file")
	first := ask("default", "cat /proc/1/cpuset; cat /root/file")
	if again := ask("default", "cat /proc/1/cpuset; cat /root/file"); again != first || !strings.HasSuffix(first, "kept\n") {
		t.Errorf("first %q, then %q", first, again)
	}
	if other := ask("other", "cat /proc/1/cpuset; cat /root/file 2>&1"); strings.Contains(other, "kept") || strings.Split(other, "\n")[0] == strings.Split(first, "\n")[0] {
		t.Errorf("another name: %q", other)
	}
	if got := ask("default", "pwd; echo $FROM_IMAGE; hostname; id -u"); got != "/workspace\nyes\ndefault\n0\n" {
		t.Errorf("where commands run: %q", got)
	}
}

// 2
func TestConcurrentFirstCallsMakeOneContainer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.pool(map[string]pool.Spec{"default": {}})
	cli := dockertest.Engine(t)
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Hang)
	defer cancel()
	messages, failed := cli.Events(ctx, events.ListOptions{Filters: filters.NewArgs(
		filters.Arg("event", "create"), filters.Arg("label", labelOwner+"="+r.kind.homeOwner()), filters.Arg("label", labelRole+"="+roleBackend))})
	echo := func(session string) {
		if res, err := p.Exec(ctx, backend.Request{Session: session, Command: "echo here"}); err != nil || string(res.Output) != "here\n" {
			t.Errorf("%v %q", err, res.Output)
		}
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { echo("s") })
	}
	all.Wait()
	echo("last") // events come in their order: after that of this container none of the others is to come
	created := map[string]int{}
	for created["last"] == 0 {
		select {
		case m := <-messages:
			created[m.Actor.Attributes[labelSession]]++
		case err := <-failed:
			t.Fatal(err)
		}
	}
	if created["s"] != 1 {
		t.Errorf("%d containers were created", created["s"])
	}
}

// 3
func TestTwoProcessesShareOneContainer(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t)
	one, two := startOther(t, r.home, "s"), startOther(t, r.home, "s")
	a, b := one.line(), two.line()
	if !strings.HasPrefix(a, "up ") || a != b {
		t.Fatalf("one says %q, the other %q", a, b)
	}
	if got := one.run("echo shared >/root/x; echo done"); got != `ran "done\n" <nil>` {
		t.Error(got)
	}
	if got := two.run("cat /root/x"); got != `ran "shared\n" <nil>` {
		t.Error(got)
	}
	// The one that made it goes; the other one stays.
	one.kill()
	time.Sleep(3 * time.Second) // longer than the grace of the first stream's end
	if got := two.run("cat /root/x"); got != `ran "shared\n" <nil>` {
		t.Error("after the first process was killed:", got)
	}
}

// 4
func TestAKilledProcessLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := startOther(t, r.home, "s")
	id, ok := strings.CutPrefix(o.line(), "up ")
	if !ok {
		t.Fatal("it did not come up")
	}
	o.run("sleep 300 >/dev/null 2>&1 & setsid sleep 300 >/dev/null 2>&1 & echo x >/root/kept")
	cli := dockertest.Engine(t)
	o.kill()
	begun := time.Now()
	eventually(t, "the container ends", func() bool {
		got, err := cli.ContainerInspect(t.Context(), id)
		return errdefs.IsNotFound(err) || (err == nil && !got.State.Running)
	})
	if took := time.Since(begun); took > testwait.Within(4*time.Second+slack) {
		t.Errorf("it ran %v after the kill; the grace is 2 s", took)
	}
	// The next process takes it up, with its files.
	b := r.open("s", pool.Spec{})
	up(t, b)
	if got := inspect(t, b); got.ID != id {
		t.Errorf("another container: %s, was %s", got.ID, id)
	}
	if got := output(t, b, "cat /root/kept"); got != "x\n" {
		t.Errorf("its files: %q", got)
	}
}

// slack is how much later things may be because others use the machine.
const slack = 3 * time.Second

// 4
func TestTheNextStartRemovesWhatACrashLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead, living := startOther(t, r.home, "dead"), startOther(t, r.home, "living")
	deadID, livingID := strings.TrimPrefix(dead.line(), "up "), strings.TrimPrefix(living.line(), "up ")
	dead.kill() // its container still runs, within the grace
	list, err := r.kind.Leftovers(t.Context(), []pool.Spec{{}})
	if err != nil || len(list) != 2 {
		t.Fatalf("%v %+v", err, list)
	}
	for _, l := range list {
		if l.Live != (l.ID == livingID) || l.Backend != "default" || l.Created.IsZero() || l.Session == "" {
			t.Errorf("%+v", l)
		}
	}
	gone, err := r.kind.Prune(t.Context(), nil, true)
	if err != nil || len(gone) != 1 || gone[0].ID != deadID {
		t.Errorf("removed %+v, %v", gone, err)
	}
	if got := living.run("echo alive"); got != `ran "alive\n" <nil>` {
		t.Error(got)
	}
	if _, err := dockertest.Engine(t).ContainerInspect(t.Context(), deadID); !errdefs.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// 5
func TestAnIdleContainerStopsAndWakesWithItsFiles(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t)
	p := r.pool(map[string]pool.Spec{"default": {IdleTTL: time.Second}})
	exec := func(command string) string {
		t.Helper()
		res, err := p.Exec(t.Context(), backend.Request{Session: "s", Command: command})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Output)
	}
	state := func() event.BackendState { return p.List("s")[0].State }
	exec("mkdir /opt; echo installed >/opt/package; sleep 2") // longer than the time to idle
	if got := state(); got != event.BackendReady {
		t.Errorf("after a call longer than the time to idle: %s", got)
	}
	proc, err := p.Start(t.Context(), backend.Request{Session: "s", Command: "until [ -e /root/end ]; do sleep 0.1; done"})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if got := state(); got != event.BackendReady {
			t.Fatalf("while a process runs in the background: %s", got)
		}
	}
	exec(": >/root/end")
	if _, err := p.Wait(t.Context(), "s", proc.ID, 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it stops", func() bool { return state() == event.BackendStopped })
	if got := exec("cat /opt/package"); got != "installed\n" {
		t.Errorf("after it woke: %q", got)
	}
}

// 6
func TestTheLongestIdleContainerMakesRoom(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	img := dockertest.Busybox(t)
	p, err := pool.New(pool.Config{Kind: Name, MaxPerSession: 2, Backends: map[string]pool.Spec{
		"default": {Options: &Settings{Image: img}}, "a": {Options: &Settings{Image: img}}, "b": {Options: &Settings{Image: img}}, "c": {Options: &Settings{Image: img}},
	}}, map[string]pool.Kind{Name: r.kind}, r.bus)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close(context.Background()) }()
	for _, name := range []string{"a", "b", "c"} {
		if res, err := p.Exec(t.Context(), backend.Request{Session: "s", Backend: name, Command: "true"}); err != nil || res.Backend != name {
			t.Fatalf("%s: %v, ran in %s", name, err, res.Backend)
		}
	}
	for _, s := range p.List("s") {
		want := map[string]event.BackendState{"a": event.BackendStopped, "b": event.BackendReady, "c": event.BackendReady, "default": event.BackendAbsent}[s.Name]
		if s.State != want {
			t.Errorf("%s is %s, want %s", s.Name, s.State, want)
		}
	}
}

// 7, 9
func TestFallbacks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p, err := pool.New(pool.Config{Kind: Name, Backends: map[string]pool.Spec{
		"default": {Options: &Settings{Image: dockertest.Busybox(t)}}, "broken": {Options: &Settings{Image: "127.0.0.1:1/no/such:image"}},
	}}, map[string]pool.Kind{Name: r.kind}, r.bus)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close(context.Background()) }()
	for name, want := range map[string]string{"xxx": "backend 'xxx' not found. Available: default, broken", "broken": "cannot reach 127.0.0.1:1"} {
		res, err := p.Exec(t.Context(), backend.Request{Session: "s", Backend: name, Command: "cat /proc/1/cmdline"})
		if err != nil || res.Backend != "default" || !strings.Contains(string(res.Output), runnerFile) || !strings.Contains(strings.Join(res.Warnings, "\n"), want) {
			t.Errorf("%s: %v, in %s, %q, warnings %q", name, err, res.Backend, res.Output, res.Warnings)
		}
	}
}

// 9
func TestABrokenDefaultIsAnErrorAndNeverTheHost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.pool(map[string]pool.Spec{"default": {Options: &Settings{Image: "hermes-test/does-not-exist:1", Pull: PullNever}}})
	proof := t.TempDir() + "/proof"
	_, err := p.Exec(t.Context(), backend.Request{Session: "s", Command: "touch " + proof})
	if err == nil || !strings.Contains(err.Error(), "pull: never") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("it ran on the host")
	}
}

// 10, 11: the table of behaviours looks from the inside; this is the view of the engine.
func TestNothingIsLeftOfATree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.open("s", pool.Spec{})
	up(t, b)
	count := func() int {
		top, err := dockertest.Engine(t).ContainerTop(t.Context(), b.conn.id, nil)
		if err != nil {
			t.Fatal(err)
		}
		return len(top.Processes)
	}
	output(t, b, "true")
	before := count()
	res, err := b.Run(t.Context(), runner.Spec{
		Timeout: time.Second,
		Command: `trap '' TERM; i=0; while [ $i -lt 200 ]; do sleep 300 & i=$((i+1)); done; setsid sh -c 'trap "" TERM; sleep 300' & wait; sleep 300`,
	})
	if err != nil || res.ExitCode != runner.ExitTimeout {
		t.Fatalf("%v %+v", err, res)
	}
	if after := count(); after > before {
		t.Errorf("%d processes before, %d after", before, after)
	}
	if got := output(t, b, "echo fine"); got != "fine\n" {
		t.Error(got)
	}
}

// 15: the runner is the first process: nothing in the container can kill it.
func TestCommandsCannotEndTheRunner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.open("s", pool.Spec{})
	up(t, b)
	for _, command := range []string{"kill -9 1", "kill -9 $PPID", "kill -9 -1", "kill -STOP 1"} {
		_, err := b.Run(t.Context(), runner.Spec{Command: command, Timeout: 10 * time.Second})
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		if got := output(t, b, "echo fine"); got != "fine\n" {
			t.Errorf("after %s: %q", command, got)
		}
	}
}

// 17
func TestLossesBehindOurBack(t *testing.T) {
	testskip.Long(t, "real containers")
	t.Parallel()
	r := newRig(t)
	cli := dockertest.Engine(t)
	second := 1
	for cause, strike := range map[string]func(id string) error{
		"removed behind our back": func(id string) error {
			return cli.ContainerRemove(context.Background(), id, capi.RemoveOptions{Force: true})
		},
		"stopped behind our back": func(id string) error {
			return cli.ContainerStop(context.Background(), id, capi.StopOptions{Timeout: &second})
		},
		"paused behind our back": func(id string) error { return cli.ContainerPause(context.Background(), id) },
	} {
		t.Run(cause, func(t *testing.T) {
			b := r.open(cause, pool.Spec{})
			up(t, b)
			output(t, b, "echo kept >/root/x; echo ran >>/root/runs")
			failed := make(chan error, 1)
			go func() {
				res, err := b.Run(context.Background(), runner.Spec{Command: "echo ran >>/root/runs; sleep 60"})
				if err == nil && res.Signal == "SIGTERM" && strings.HasPrefix(cause, "stopped") {
					err = errors.New(cause + ": the runner was asked, and asked it: it may still have run") // a stop is polite
				}
				failed <- err
			}()
			eventually(t, "the command runs", func() bool { return strings.Count(output(t, b, "cat /root/runs"), "ran") == 2 })
			if err := strike(b.conn.id); err != nil {
				t.Fatal(err)
			}
			if got := lost(t, b); !strings.Contains(got, cause) {
				t.Errorf("cause %q", got)
			}
			select {
			case err := <-failed:
				var never *pool.NotStarted
				if err == nil || errors.As(err, &never) || !strings.Contains(err.Error(), "may still have run") || !strings.Contains(err.Error(), cause) {
					t.Errorf("the command's error: %v", err)
				}
			case <-time.After(testwait.Hang):
				t.Error("the command did not return")
			}
			up(t, b)
			got := output(t, b, "cat /root/x /root/runs 2>&1")
			if cause != "removed behind our back" && got != "kept\nran\nran\n" {
				t.Errorf("after it came back: %q", got)
			}
		})
	}
}

// 19
func TestChangedSettingsMakeANewContainer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.open("s", pool.Spec{Env: map[string]string{"A": "1"}})
	up(t, b)
	id := b.conn.id
	output(t, b, "echo x >/root/x")
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Variables travel with commands: changing them keeps the container.
	b = r.reopen(b, pool.Spec{Env: map[string]string{"A": "2"}})
	up(t, b)
	if got := output(t, b, "echo $A; cat /root/x"); b.conn.id != id || got != "2\nx\n" {
		t.Errorf("after a variable changed: %q, same container %v", got, b.conn.id == id)
	}
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	b = r.reopen(b, pool.Spec{Options: &Settings{Memory: 64 << 20, Network: "none"}})
	told := up(t, b)
	if b.conn.id == id || !strings.Contains(told.text(), "settings changed: limits, network") {
		t.Errorf("steps: %q", told.text())
	}
	res := run(t, b, "cat /root/x")
	if res.ExitCode == 0 || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "made anew") {
		t.Errorf("%q, warnings %q", res.Output, res.Warnings)
	}
	// While another process uses it nothing is changed.
	sibling := newRigIn(t, r.home)
	other := sibling.open("s", pool.Spec{Options: &Settings{Memory: 128 << 20, Network: "none"}})
	err := other.Start(t.Context(), &steps{})
	if err == nil || !strings.Contains(err.Error(), "other settings (limits) and another hermes uses it") {
		t.Errorf("%v", err)
	}
	if got := output(t, b, "echo fine"); got != "fine\n" {
		t.Error(got)
	}
}

// reopen is the same back end with another configuration.
func (r *rig) reopen(b *Backend, s pool.Spec) *Backend {
	b.use.unlock()
	b.use = nil
	s.Name, own(&s).Image = b.spec.Name, b.spec.Image
	return r.open(b.session, s)
}

// 21
func TestForeignContainersAreNotTouched(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cli := dockertest.Engine(t)
	b := r.open("s", pool.Spec{})
	names := map[string]map[string]string{
		b.name():                           nil, // our name, not ours
		"hermes-default-" + "0000deadbeef": {labelApp: appName, labelOwner: "somebody-else", labelRole: roleBackend},
		"hermes-box-" + "0000deadbeef":     {labelApp: appName},
	}
	for name, labels := range names {
		made, err := cli.ContainerCreate(t.Context(), &capi.Config{Image: dockertest.Busybox(t), Cmd: []string{"true"}, Labels: labels}, nil, nil, nil, name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cli.ContainerRemove(context.Background(), made.ID, capi.RemoveOptions{Force: true}) }()
	}
	if err := b.Start(t.Context(), &steps{}); err == nil || !strings.Contains(err.Error(), "not this session's") {
		t.Errorf("starting under a name that is taken: %v", err)
	}
	gone, err := r.kind.Prune(t.Context(), nil, true)
	if err != nil || len(gone) != 0 {
		t.Errorf("pruned %+v, %v", gone, err)
	}
	if err := b.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	for name := range names {
		if _, err := cli.ContainerInspect(t.Context(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
