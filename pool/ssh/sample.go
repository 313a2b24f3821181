package ssh

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hermes/pool"
	"hermes/pool/runner"
)

// cpu is what /proc/stat has counted, in ticks of all processors.
type cpu struct{ busy, all, processors int64 }

// loadSince is the load between two counts; 100 is one processor.
func (c cpu) loadSince(before cpu) float64 {
	if c.all <= before.all {
		return 0
	}
	return 100 * float64(c.processors) * float64(c.busy-before.busy) / float64(c.all-before.all)
}

// betweenCounts is waited by the first Sample, which has nothing to compare with.
const betweenCounts = 250 * time.Millisecond

// Sample says what the whole host uses: it is not ours alone. The load is that since the Sample
// before.
func (b *Backend) Sample(ctx context.Context) (pool.Sample, error) {
	l, err := b.currentLink()
	if err != nil {
		return pool.Sample{}, err
	}
	b.mu.Lock()
	before := b.before
	b.mu.Unlock()
	if before.all == 0 {
		if before, _, err = l.readCounters(ctx); err != nil {
			return pool.Sample{}, err
		}
		select {
		case <-time.After(betweenCounts):
		case <-ctx.Done():
			return pool.Sample{}, ctx.Err()
		}
	}
	now, s, err := l.readCounters(ctx)
	if err != nil {
		return pool.Sample{}, err
	}
	b.mu.Lock()
	b.before = now
	b.mu.Unlock()
	s.CPUPercent = now.loadSince(before)
	return s, nil
}

// readCounters reads the host's counters once.
func (l *link) readCounters(ctx context.Context) (cpu, pool.Sample, error) {
	res, err := l.client.Run(ctx, runner.Spec{Argv: []string{"cat", "/proc/stat", "/proc/meminfo", "/proc/loadavg"}, Home: "/", MaxOutput: 1 << 20})
	if err != nil {
		return cpu{}, pool.Sample{}, fmt.Errorf("reading the host's counters: %w", err)
	}
	c, s := parseCounters(string(res.Output))
	if c.all == 0 {
		return c, s, fmt.Errorf("reading the host's counters: exit code %d: %s", res.ExitCode, cleanOutput(res.Output))
	}
	return c, s, nil
}

// parseCounters reads /proc/stat, /proc/meminfo and /proc/loadavg, one behind the other. What it
// cannot read is 0.
func parseCounters(text string) (c cpu, s pool.Sample) {
	var total, available int64
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case fields[0] == "cpu":
			for i, f := range fields[1:min(len(fields), 9)] { // guest time is in user time already
				n := parseCount(f)
				c.all += n
				if i != 3 && i != 4 { // idle, waiting for a disk
					c.busy += n
				}
			}
		case strings.HasPrefix(fields[0], "cpu"):
			c.processors++
		case fields[0] == "MemTotal:":
			total = parseCount(fields[1]) << 10
		case fields[0] == "MemAvailable:":
			available = parseCount(fields[1]) << 10
		case len(fields) == 5 && strings.Contains(fields[3], "/"):
			_, n, _ := strings.Cut(fields[3], "/")
			s.Pids = parseCount(n)
		}
	}
	s.MemoryBytes, s.MemoryLimit = max(0, total-available), total
	return c, s
}

// parseCount reads a count; 0 when it is none.
func parseCount(text string) int64 {
	var n int64
	for _, r := range text {
		if r < '0' || r > '9' || n > 1<<50 {
			return 0
		}
		n = n*10 + int64(r-'0')
	}
	return n
}
