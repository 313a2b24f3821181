package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"hermes/pool"
	"hermes/pool/docker/dockertest"
	"hermes/pool/runner"
)

// The table of the pool: everything is measured in one run against what the docker command and this
// machine's own shell need for the same, and each ratio has a limit. HERMES_BENCH=1 go test -run
// TestBench -v ./pool/docker prints it, as make bench does; with HERMES_BENCH_ASSERT=1 a limit that
// is missed fails.
func TestBench(t *testing.T) {
	if os.Getenv("HERMES_BENCH") != "1" {
		t.Skip("set HERMES_BENCH=1 to measure")
	}
	m := &meter{t: t, rig: newRig(t), cli: dockertest.Engine(t), ref: dockertest.Busybox(t)}
	m.box = m.rig.open("bench", pool.Spec{})
	up(t, m.box)
	m.id = m.box.conn.id
	for range 20 {
		m.warm()
	}
	fmt.Printf("%-36s %10s %10s %8s %8s\n", "containers", "hermes", "other", "ratio", "at most")
	m.calls()
	m.crowd()
	m.flood()
	m.kills()
	m.lives()
}

type meter struct {
	t   *testing.T
	rig *rig
	cli *client.Client
	ref string
	box *Backend
	id  string
}

// row prints one line. A ratio above its limit is told, and fails only where everything must hold.
func (m *meter) row(name string, ours, other time.Duration, limit float64) {
	m.t.Helper()
	m.ratio(name, ours.Round(10*time.Microsecond).String(), other.Round(10*time.Microsecond).String(), float64(ours)/float64(other), limit)
}

func (m *meter) ratio(name, ours, other string, ratio, limit float64) {
	m.t.Helper()
	verdict := ""
	if ratio > limit {
		verdict = "  MISSED"
		if os.Getenv("HERMES_BENCH_ASSERT") == "1" {
			m.t.Errorf("%s: %.3f, at most %.3f", name, ratio, limit)
		}
	}
	fmt.Printf("%-36s %10s %10s %8.3f %8.3f%s\n", name, ours, other, ratio, limit, verdict)
}

// p50 is the median of n calls of f.
func p50(n int, f func()) time.Duration { return between(n, f, func() {}) }

// between is the p50 of f, without what undo costs after each.
func between(n int, f, undo func()) time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		begun := time.Now()
		f()
		all[i] = time.Since(begun)
		undo()
	}
	slices.Sort(all)
	return all[n/2]
}

func (m *meter) must(err error) {
	if err != nil {
		m.t.Helper()
		m.t.Fatal(err)
	}
}

func (m *meter) warm() {
	res, err := m.box.Run(context.Background(), runner.Spec{Command: "true"})
	if err != nil || res.ExitCode != 0 {
		m.t.Fatal(err, res.ExitCode)
	}
}

func (m *meter) docker(args ...string) {
	if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
		m.t.Fatalf("docker %v: %v %.200s", args, err, out)
	}
}

func (m *meter) local() { m.must(exec.Command("sh", "-c", "true").Run()) }

// apiExec is what a client without a runner does: an exec of its own for each call.
func (m *meter) apiExec() {
	ctx := context.Background()
	made, err := m.cli.ContainerExecCreate(ctx, m.id, capi.ExecOptions{Cmd: []string{"sh", "-c", "true"}, AttachStdout: true})
	m.must(err)
	h, err := m.cli.ContainerExecAttach(ctx, made.ID, capi.ExecAttachOptions{})
	m.must(err)
	_, err = io.Copy(io.Discard, h.Reader)
	m.must(err)
	h.Close()
	_, err = m.cli.ContainerExecInspect(ctx, made.ID)
	m.must(err)
}

func (m *meter) calls() {
	before := cpuTime()
	warm := p50(300, m.warm)
	cpu := (cpuTime() - before) / 300
	m.row("warm true / docker exec", warm, p50(30, func() { m.docker("exec", m.id, "sh", "-c", "true") }), 0.06)
	m.row("warm true / exec by the API", warm, p50(30, m.apiExec), 0.10)
	m.row("warm true / sh -c true here", warm, p50(200, m.local), 2.5)
	m.row("our CPU for a warm call / 0.3 ms", cpu, 300*time.Microsecond, 1)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perSecond is how many calls eight callers finish in a second.
func perSecond(total int, f func()) float64 {
	begun := time.Now()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range total / 8 {
				f()
			}
		})
	}
	all.Wait()
	return float64(total) / time.Since(begun).Seconds()
}

func (m *meter) crowd() {
	ours, local := perSecond(800, m.warm), perSecond(800, m.local)
	cli := perSecond(40, func() { m.docker("exec", m.id, "sh", "-c", "true") })
	say := func(r float64) string { return fmt.Sprintf("%.0f/s", r) }
	m.ratio("8 at once: docker exec / ours", say(ours), say(cli), cli/ours, 1.0/15)
	m.ratio("8 at once: sh -c here / ours", say(ours), say(local), local/ours, 1/0.35)
}

func (m *meter) flood() {
	const command = "head -c 10485760 /dev/zero"
	ours := p50(20, func() {
		res, err := m.box.Run(context.Background(), runner.Spec{Command: command})
		if err != nil || res.Total != 10<<20 {
			m.t.Fatal(err, res.Total)
		}
	})
	m.row("10 MiB / docker exec", ours, p50(10, func() { m.docker("exec", m.id, "sh", "-c", command) }), 0.70)
}

// kills measures from the wish to the end of the tree, against killing it by a second exec.
func (m *meter) kills() {
	ours := make([]time.Duration, 0, 20)
	for range 20 {
		p, err := m.box.Spawn(runner.Spec{Command: "sleep 300 & sleep 300 & wait"})
		m.must(err)
		time.Sleep(20 * time.Millisecond)
		begun := time.Now()
		m.must(p.Kill(context.Background()))
		ours = append(ours, time.Since(begun))
	}
	slices.Sort(ours)
	second := p50(10, func() { m.docker("exec", m.id, "sh", "-c", "kill -9 -99999 2>/dev/null; true") })
	m.row("kill a tree / a second docker exec", ours[10], second, 0.10)
	m.row("kill a tree, p95 / 20 ms", ours[19], 20*time.Millisecond, 1)
}

func (m *meter) lives() {
	ctx := context.Background()
	serial := 0
	cold := p50(5, func() {
		serial++
		b := m.rig.open(fmt.Sprint("cold", serial), pool.Spec{Options: &Settings{Network: "none"}})
		up(m.t, b)
		_, err := b.Run(ctx, runner.Spec{Command: "true"})
		m.must(err)
	})
	name := fmt.Sprintf("hermes-bench-%d-", os.Getpid())
	theirs := 0
	other := p50(5, func() {
		theirs++
		id := name + fmt.Sprint(theirs)
		m.docker("run", "-d", "--init", "--network", "none", "--name", id, m.ref, "sleep", "1000")
		m.docker("exec", id, "sh", "-c", "true")
	})
	m.row("first call / docker run and exec", cold, other, 1.0)
	m.must(m.box.Stop(ctx))
	again := between(5, func() { up(m.t, m.box); m.warm() }, func() { m.must(m.box.Stop(ctx)) })
	m.docker("stop", "-t", "0", name+"1")
	start := between(5, func() { m.docker("start", name+"1") }, func() { m.docker("stop", "-t", "0", name+"1") })
	m.row("stopped to first call / docker start", again, start, 1.4)
	var boxes []*Backend
	for i := range 5 {
		b := m.rig.open(fmt.Sprint("end", i), pool.Spec{Options: &Settings{Network: "none"}})
		up(m.t, b)
		boxes = append(boxes, b)
	}
	begun := time.Now()
	var all sync.WaitGroup
	for _, b := range boxes {
		all.Go(func() { m.must(b.Remove(ctx)) })
	}
	all.Wait()
	five := time.Since(begun)
	one := p50(4, func() { m.docker("rm", "-f", name+fmt.Sprint(theirs)); theirs-- })
	m.row("five removed / one docker rm -f", five, one, 3)
	m.docker("rm", "-f", name+"1")
}
