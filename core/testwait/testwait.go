// Package testwait is for tests only: how long they wait. A test judges what a program does, and a
// machine that others hold too does it later. So what hangs is told from what is slow by a wait
// that no slow machine reaches, and a bound is that of a machine at rest times the load of this
// one.
package testwait

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Hang is how long a test waits for what has to come, before it says that it hangs. What works
// takes none of it.
const Hang = 2 * time.Minute

// Within is how long something may take now that takes at most rest on a machine that does nothing
// else: longer by as much as programs want each core. Only Linux tells how many do; elsewhere it is
// ten times as long.
func Within(rest time.Duration) time.Duration {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 10 * rest
	}
	return scaleByLoad(rest, string(data), runtime.NumCPU())
}

// scaleByLoad reads the mean load of the last minute and what runs at this moment, whichever is
// more: "20.00 12.10 5.03 23/410 8123", see proc_loadavg(5). What cannot be read counts as a load
// of ten for each core.
func scaleByLoad(rest time.Duration, loadavg string, cores int) time.Duration {
	unread := 10 * rest
	f := strings.Fields(loadavg)
	if len(f) < 4 {
		return unread
	}
	mean, err := strconv.ParseFloat(f[0], 64)
	if err != nil {
		return unread
	}
	running, _, _ := strings.Cut(f[3], "/")
	now, err := strconv.ParseFloat(running, 64)
	if err != nil {
		return unread
	}
	return time.Duration(float64(rest) * max(1, max(mean, now)/float64(cores)))
}
