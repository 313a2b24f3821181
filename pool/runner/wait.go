package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hermes/core/crash"
)

// awaitGroup waits for wg until ctx is done.
func awaitGroup(ctx context.Context, wg *sync.WaitGroup, what string) error {
	done := make(chan struct{})
	crash.Go("runner close", func() {
		wg.Wait()
		close(done)
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("closing the runner: %s in time: %w", what, ctx.Err())
	}
}

// closesWithin reports whether c closes within d.
func closesWithin(d time.Duration, c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
	}
	if d <= 0 {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}
