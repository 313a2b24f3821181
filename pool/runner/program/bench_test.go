package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"hermes/core/testskip"
	"hermes/pool/runner"
	"hermes/pool/runner/wire"
)

// farSpec runs the same on both sides.
func farSpec(t testing.TB, command string) runner.Spec {
	return runner.Spec{Command: command, Shell: "/bin/sh", Env: runner.Environ(os.Environ(), false), Home: t.TempDir()}
}

func local(t testing.TB) *runner.Runner {
	r := runner.New(runner.Options{})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	return r
}

func BenchmarkCall(b *testing.B) {
	spec := farSpec(b, "true")
	r, c := local(b), connect(b, spawn(b, serveCommand(b)), wire.Options{})
	for name, run := range map[string]func(context.Context, runner.Spec) (runner.Result, error){"local": r.Run, "wire": c.Run} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := run(context.Background(), spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOutput(b *testing.B) {
	const size = 64 << 20
	spec := farSpec(b, "head -c 67108864 /dev/zero")
	r, c := local(b), connect(b, spawn(b, serveCommand(b)), wire.Options{})
	for name, run := range map[string]func(context.Context, runner.Spec) (runner.Result, error){"local": r.Run, "wire": c.Run} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if res, err := run(context.Background(), spec); err != nil || res.Total != size {
					b.Fatal(res.Total, err)
				}
			}
		})
	}
}

// A warm call over the wire costs little more than one in process. The two take turns, and the
// medians are compared, so that what else the machine does hits both.
func TestAWarmCallCostsLittleMore(t *testing.T) {
	spec := farSpec(t, "true")
	r, c := local(t), connect(t, spawn(t, serveCommand(t)), wire.Options{})
	const wanted = 1.6
	ratio := 0.0
	for range 5 {
		var here, far []time.Duration
		for range 100 {
			here = append(here, timed(t, r.Run, spec))
			far = append(far, timed(t, c.Run, spec))
		}
		ratio = median(far).Seconds() / median(here).Seconds()
		t.Logf("local %v, wire %v: ratio %.2f", median(here), median(far), ratio)
		if ratio <= wanted {
			return
		}
	}
	t.Errorf("a warm call costs %.2f times one in process, want %.1f at most", ratio, wanted)
}

func timed(t *testing.T, run func(context.Context, runner.Spec) (runner.Result, error), s runner.Spec) time.Duration {
	begun := time.Now()
	if _, err := run(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	return time.Since(begun)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// The conformance table watches our memory; this is that of the program.
func TestAGibibyteInFlatMemoryOverThere(t *testing.T) {
	testskip.LongWithoutRace(t, "a gibibyte of output")
	f := spawn(t, serveCommand(t))
	c := connect(t, f, wire.Options{})
	beside := make(chan struct{})
	go func() { // others are answered meanwhile
		defer close(beside)
		for range 50 {
			if _, err := c.Run(context.Background(), farSpec(t, "true")); err != nil {
				t.Error(err)
			}
		}
	}()
	res, err := c.Run(context.Background(), farSpec(t, "head -c 1073741824 /dev/zero"))
	if err != nil || res.Total != 1<<30 {
		t.Fatalf("%d bytes, %v", res.Total, err)
	}
	receive(t, "the calls beside", beside)
	p, err := c.Start(farSpec(t, "head -c 1073741824 /dev/zero"))
	if err != nil {
		t.Fatal(err)
	}
	receive(t, "the end in the background", p.Done())
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kb int
	if _, err := fmt.Sscan(string(peak), &kb); err != nil || kb > 32<<10 {
		t.Errorf("the program took %d kB at its peak, %v", kb, err)
	}
	t.Logf("peak of the program: %d kB", kb)
}
