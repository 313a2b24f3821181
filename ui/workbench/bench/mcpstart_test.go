package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/mcp"
	"hermes/core/tool"
)

// slowest is what the slowest of ten servers takes to start; the others take from 0.3 s on.
const slowest = time.Second

// startOf is what the i-th of ten servers takes to start.
func startOf(i int) time.Duration {
	const first = 300 * time.Millisecond
	return first + time.Duration(i)*(slowest-first)/9
}

// BenchmarkTenServers starts ten servers that need up to a second each, until all have listed their
// tools: at most 150 ms after the slowest.
func BenchmarkTenServers(b *testing.B) {
	ctx := context.Background()
	var took []time.Duration
	for range 5 {
		pool, err := newPool(event.NewBus())
		must(b, err)
		tools, err := tool.NewRegistry()
		must(b, err)
		m := mcp.New(mcp.Options{Pool: pool, Replace: tools.Replace, Home: b.TempDir(), Cwd: os.TempDir, Version: "bench"})
		all, now := map[string]mcp.Settings{}, time.Now()
		for i := range 10 {
			set := mcp.Settings{Name: fmt.Sprintf("srv%d", i)}
			set.Command, set.Env = os.Args[0], map[string]string{echoServer: "1", echoAt: now.Add(startOf(i)).Format(time.RFC3339Nano)}
			all[set.Name] = set
		}
		m.Apply(all)
		m.Await(ctx)
		took = append(took, time.Since(now))
		if n := len(tools.Names()); n != len(all) {
			b.Fatalf("%d tools: %+v", n, m.List())
		}
		must(b, m.Close(ctx))
		must(b, pool.Close(ctx))
	}
	gate{"ten servers of tools: all are ready", "the start of the slowest alone", 1.15}.times(b, median(took), slowest)
}

// BenchmarkFirstFrameWithServers starts the program with ten servers in its settings, and
// without: none of them starts for it.
func BenchmarkFirstFrameWithServers(b *testing.B) {
	bin, with, without := hermes(b), b.TempDir(), b.TempDir()
	settings := "mcp_servers:\n"
	for i := range 10 {
		settings += fmt.Sprintf("  srv%d: {command: %q, env: {%s: \"1\"}}\n", i, os.Args[0], echoServer)
	}
	must(b, os.WriteFile(filepath.Join(with, "config.yaml"), []byte(settings), 0o600))
	var mine, floor []time.Duration
	for i := range 20 {
		f := start(b, without, "❯", bin)
		f.stop()
		m := start(b, with, "❯", bin)
		m.stop()
		if i > 0 {
			floor, mine = append(floor, f.took), append(mine, m.took)
		}
	}
	gate{"first frame, with ten servers of tools", "the same without them", 1.1}.times(b, median(mine), median(floor))
}
