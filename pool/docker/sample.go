package docker

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	capi "github.com/docker/docker/api/types/container"

	"hermes/pool"
)

// usage is the newest measurement, for the share of processors is the difference between two.
type usage struct {
	at  time.Time
	cpu uint64 // nanoseconds
}

const (
	firstPause = 200 * time.Millisecond // between the two measurements of a first sample
	staleUsage = 30 * time.Second
)

// Sample measures the container once. The engine is asked for single measurements: its own pairs
// take two seconds.
func (b *Backend) Sample(ctx context.Context) (pool.Sample, error) {
	c := b.currentConnection()
	if c == nil {
		return pool.Sample{}, errDown
	}
	b.mu.Lock()
	before := b.usage
	b.mu.Unlock()
	if time.Since(before.at) > staleUsage {
		first, err := c.measureUsage(ctx)
		if err != nil {
			return pool.Sample{}, err
		}
		before = usage{first.Read, first.CPUStats.CPUUsage.TotalUsage}
		select {
		case <-time.After(firstPause):
		case <-ctx.Done():
			return pool.Sample{}, ctx.Err()
		}
	}
	now, err := c.measureUsage(ctx)
	if err != nil {
		return pool.Sample{}, err
	}
	b.mu.Lock()
	b.usage = usage{now.Read, now.CPUStats.CPUUsage.TotalUsage}
	b.mu.Unlock()
	return sampleOf(before, now), nil
}

func (c *connection) measureUsage(ctx context.Context) (capi.StatsResponse, error) {
	var s capi.StatsResponse
	cli, err := c.engine.connectClient(ctx)
	if err != nil {
		return s, err
	}
	got, err := cli.ContainerStatsOneShot(ctx, c.id)
	if err != nil {
		return s, c.engine.explainError(err)
	}
	defer got.Body.Close()
	if err := json.NewDecoder(got.Body).Decode(&s); err != nil {
		return s, err
	}
	if s.Read.IsZero() {
		return s, errors.New("the container does not run")
	}
	return s, nil
}

// sampleOf is what two measurements say. Memory is without what the kernel would give back at once,
// as docker stats shows it.
func sampleOf(before usage, now capi.StatsResponse) pool.Sample {
	s := pool.Sample{Pids: int64(now.PidsStats.Current), PidsLimit: memoryLimit(now.PidsStats.Limit), MemoryLimit: memoryLimit(now.MemoryStats.Limit)}
	wall := now.Read.Sub(before.at)
	if used := now.CPUStats.CPUUsage.TotalUsage; wall > 0 && used >= before.cpu {
		s.CPUPercent = 100 * float64(used-before.cpu) / float64(wall.Nanoseconds())
	}
	m := now.MemoryStats
	cache, v1 := m.Stats["total_inactive_file"]
	if !v1 {
		cache = m.Stats["inactive_file"] // cgroup v2
	}
	if cache < m.Usage {
		m.Usage -= cache
	}
	s.MemoryBytes = int64(m.Usage)
	return s
}

// memoryLimit is 0 where the kernel says a number that nobody can reach.
func memoryLimit(n uint64) int64 {
	if n >= 1<<60 {
		return 0
	}
	return int64(n)
}
