package conformance

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testskip"
)

// much is how many bytes pass in flat memory: the race detector makes each of them ten times as
// expensive, a minute for each kind of back end.
func much() int64 {
	if testskip.UnderRace {
		return 1 << 27
	}
	return 1 << 30
}

// endurance: much of everything.
var endurance = map[string]func(*testing.T, *world){
	"a gibibyte in flat memory": func(t *testing.T, w *world) {
		w.outputOf("true")
		before := residentMemory(t)
		peak, stop := watchResident(t)
		dir := t.TempDir()
		var shown int64
		res := w.runCommand(fmt.Sprintf("head -c %d /dev/zero", much()), func(r *backend.Request) {
			r.SpillDir = dir
			r.Sink = func(_ event.Stream, data []byte) { shown += int64(len(data)) }
		})
		stop()
		w.wantEqual("total", res.Total, much())
		if grew := peak() - before; grew > 48<<20 {
			t.Errorf("memory grew by %d MB", grew>>20)
		}
		info, err := os.Stat(res.Spill)
		w.wantNoError(err)
		w.wantEqual("spilled", info.Size(), 64<<20)
		w.wantEqual("mode", info.Mode().Perm(), os.FileMode(0o600))
	},
	"two hundred calls at once": func(t *testing.T, w *world) {
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				session := fmt.Sprintf("session-%d", i%w.sessionCount())
				r := backend.Request{Session: session, Backend: w.Backend, Command: fmt.Sprintf("echo out %d; echo err %d >&2; cd /usr; exit %d", i, i, i%7)}
				res, err := w.Pool.Exec(t.Context(), r)
				lines := strings.Split(strings.TrimSpace(string(res.Output)), "\n")
				if err != nil || res.ExitCode != i%7 || len(lines) != 2 || res.Dir != "/usr" || !strings.HasSuffix(lines[0], fmt.Sprint(" ", i)) {
					t.Errorf("call %d: %v, exit code %d, directory %s, output %q", i, err, res.ExitCode, res.Dir, res.Output)
				}
			})
		}
		all.Wait()
		for _, s := range w.Pool.List(w.session) {
			w.wantEqual("references of "+s.Name, s.Refs, 0)
		}
	},
	"a thousand calls leave nothing behind": func(t *testing.T, w *world) {
		for range 20 {
			w.outputOf("echo warm; echo up >&2")
		}
		goroutines, files := countResources()
		for range 1000 {
			w.outputOf("echo x")
		}
		w.eventually("goroutines and files are back", func() bool {
			g, f := countResources()
			return g <= goroutines+2 && f <= files+2
		})
	},
}

func (w *world) sessionCount() int {
	if w.Sessions > 0 {
		return w.Sessions
	}
	return 200
}

func countResources() (goroutines, files int) {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if list, err := os.ReadDir(dir); err == nil {
			return runtime.NumGoroutine(), len(list)
		}
	}
	return runtime.NumGoroutine(), 0
}

// residentMemory is the memory that this process occupies, in bytes; what Go holds where the system
// does not tell.
func residentMemory(t testing.TB) int64 {
	t.Helper()
	var pages, rss int64
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(data), &pages, &rss); err == nil {
			return rss * int64(os.Getpagesize())
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// watchResident samples memory until stop; peak is the most that was seen.
func watchResident(t testing.TB) (peak func() int64, stop func()) {
	t.Helper()
	var most int64
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, residentMemory(t))
			case <-quit:
				return
			}
		}
	}()
	return func() int64 { return most }, func() { close(quit); <-done }
}
