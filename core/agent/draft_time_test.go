package agent

import (
	"testing"
	"time"
)

// TestThinkingTimeLeavesOutWhatIsSaidBetween: it counts from the first thought to what follows.
func TestThinkingTimeLeavesOutWhatIsSaidBetween(t *testing.T) {
	d, now := &draft{}, time.Unix(1_700_000_000, 0)
	for _, step := range []struct {
		thinks bool
		after  time.Duration
	}{{true, 0}, {true, 3 * time.Second}, {false, time.Second}, {false, time.Minute}, {true, time.Second}, {false, 2 * time.Second}} {
		now = now.Add(step.after)
		d.timeThinking(step.thinks, now)
	}
	if d.thought != 6*time.Second {
		t.Errorf("thought for %v", d.thought)
	}
}
