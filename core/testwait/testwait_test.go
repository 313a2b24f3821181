package testwait

import (
	"testing"
	"time"
)

func TestABoundGrowsWithTheLoad(t *testing.T) {
	for loadavg, want := range map[string]time.Duration{
		"0.00 0.00 0.00 1/410 8123":  time.Second, // itself
		"20.00 9.10 5.03 2/410 8123": 10 * time.Second,
		"0.50 9.10 5.03 41/410 8123": 20500 * time.Millisecond,
		"":                           10 * time.Second,
		"x 9.10 5.03 41/410 8123":    10 * time.Second,
		"0.50 9.10 5.03 none 8123":   10 * time.Second,
	} {
		if got := scaleByLoad(time.Second, loadavg, 2); got != want {
			t.Errorf("%q: %v, want %v", loadavg, got, want)
		}
	}
	if got := Within(time.Second); got < time.Second {
		t.Errorf("here a second is %v", got)
	}
}
