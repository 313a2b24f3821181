package local

import (
	"bytes"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/pool"
)

// floor runs a command the way that any Go program would.
func floor(b *testing.B, command string) {
	cmd := exec.Command("/bin/sh", "-c", command)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
}

// pooled returns the same through a pool.
func pooled(b *testing.B) func(*testing.B, string) {
	p := newPool(b, pool.Config{Backends: map[string]pool.Spec{"default": {Shell: "/bin/sh"}}})
	return func(b *testing.B, command string) {
		res, err := p.Exec(b.Context(), backend.Request{Session: "s", Command: command})
		if err != nil || res.ExitCode != 0 {
			b.Fatalf("exit code %d, %v", res.ExitCode, err)
		}
	}
}

// compare reports how much longer ours takes than the floor, at the median. The two take turns, so that both meet the same machine.
func compare(b *testing.B, command string, parallel int) {
	run := pooled(b)
	var mine, theirs []time.Duration
	for range b.N {
		theirs = append(theirs, timed(parallel, func() { floor(b, command) }))
		mine = append(mine, timed(parallel, func() { run(b, command) }))
	}
	slices.Sort(mine)
	slices.Sort(theirs)
	m, f := mine[len(mine)/2], theirs[len(theirs)/2]
	b.ReportMetric(float64(m)/float64(f), "x-floor")
	b.ReportMetric(float64(m)/1e6, "ms-p50")
	b.ReportMetric(float64(f)/1e6, "ms-floor-p50")
	b.ReportMetric(0, "ns/op")
}

func timed(parallel int, f func()) time.Duration {
	var all sync.WaitGroup
	begun := time.Now()
	for range parallel {
		all.Go(f)
	}
	all.Wait()
	return time.Since(begun)
}

func BenchmarkWarmTrue(b *testing.B)    { compare(b, "true", 1) }
func BenchmarkEightAtOnce(b *testing.B) { compare(b, "true", 8) }
func BenchmarkTenMiB(b *testing.B)      { compare(b, "head -c 10485760 /dev/zero", 1) }
