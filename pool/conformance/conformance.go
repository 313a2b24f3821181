// Package conformance is the table of behaviours that every kind of back end passes: what a caller
// of backend.Pool may rely on wherever a command runs. A kind calls Run from a test of its own.
package conformance

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testwait"
)

// Place is a back end under test.
type Place struct {
	Pool    backend.Pool
	Backend string        // its name in the pool
	Grace   time.Duration // between TERM and KILL; short, so that the table is quick
	Fresh   func() string // a new empty directory inside the back end
	Sweeps  bool          // it finds what left its group, its session and its parents
	Ends    bool          // nothing outlives its command, not even what was started for that
	// Home is where sessions start when that is not what a request says: the folders of this
	// machine mean nothing elsewhere.
	Home string
	// Sessions is how many sessions two hundred calls are spread over, where each has a back end of
	// its own; 0 means 200.
	Sessions int
}

// Maker returns a Place that is taken down when the test ends.
type Maker func(t testing.TB) Place

// Run runs the whole table.
func Run(t *testing.T, make Maker) {
	RunBehaviour(t, make)
	if !testing.Short() {
		runGroups(t, make, endurance)
	}
}

// RunBehaviour runs the table without the endurance tests: for a kind's second shell or second
// image.
func RunBehaviour(t *testing.T, make Maker) {
	runGroups(t, make, streams, endings, state, fileOperations)
}

// alone are the tests that measure time, or the whole process: nothing runs beside them.
var alone = map[string]bool{
	"a polite command ends at once":                        true,
	"a child in the background does not hold the call":     true,
	"a child in the background does not hold the terminal": true,
	"a gibibyte in flat memory":                            true,
	"a thousand calls leave nothing behind":                true,
}

func runGroups(t *testing.T, make Maker, groups ...map[string]func(*testing.T, *world)) {
	for _, group := range groups {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				if !alone[name] {
					t.Parallel() // each has a pool of its own
				}
				place := make(t)
				test(t, &world{Place: place, t: t, session: "s1"})
			})
		}
	}
}

// world is a Place with the words that the tests are written in.
type world struct {
	Place
	t       *testing.T
	session string
}

// homeFor is where a session starts whose requests wish for dir.
func (w *world) homeFor(dir string) string { return cmp.Or(w.Home, dir) }

func (w *world) newRequest(command string) backend.Request {
	return backend.Request{Session: w.session, CallID: "call-" + w.t.Name(), Backend: w.Backend, Command: command}
}

// runCommand runs a command that the pool must be able to run.
func (w *world) runCommand(command string, change ...func(*backend.Request)) backend.Result {
	w.t.Helper()
	return w.runCtx(context.Background(), command, change...)
}

func (w *world) runCtx(ctx context.Context, command string, change ...func(*backend.Request)) backend.Result {
	w.t.Helper()
	r := w.newRequest(command)
	for _, f := range change {
		f(&r)
	}
	res, err := w.Pool.Exec(ctx, r)
	if err != nil {
		w.t.Fatalf("%.80q: %v", command, err)
	}
	if res.Backend != w.Backend {
		w.t.Fatalf("%.80q ran in %q, want %q", command, res.Backend, w.Backend)
	}
	return res
}

// outputOf is the output of a command that must succeed.
func (w *world) outputOf(command string, change ...func(*backend.Request)) string {
	w.t.Helper()
	res := w.runCommand(command, change...)
	if res.ExitCode != 0 {
		w.t.Fatalf("%.80q: exit code %d: %s", command, res.ExitCode, res.Output)
	}
	return string(res.Output)
}

func (w *world) wantEqual(what string, got, want any) {
	w.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("%s: got %.200q, want %.200q", what, fmt.Sprint(got), fmt.Sprint(want))
	}
}

// lives tests in shell whether process $p lives. A dead one that its parent has not collected yet
// can still be signalled; one that is collected between the first question and the second is asked
// about again.
const lives = `kill -0 $p 2>/dev/null && ! grep -q '^State:.*[ZX]' /proc/$p/status 2>/dev/null && kill -0 $p 2>/dev/null`

// isAlive says whether the process whose number is in file lives inside the back end.
func (w *world) isAlive(file string) bool {
	w.t.Helper()
	return w.runCommand("p=$(cat "+file+"); "+lives).ExitCode == 0
}

// wantQuick wants f to take less than limit, at least once in five times: other programs may hold
// the machine for a moment.
func (w *world) wantQuick(what string, limit time.Duration, f func()) {
	w.t.Helper()
	w.wantBest(what, limit, func() time.Duration {
		begun := time.Now()
		f()
		return time.Since(begun)
	})
}

// wantBest is wantQuick for what measures itself.
func (w *world) wantBest(what string, limit time.Duration, f func() time.Duration) {
	w.t.Helper()
	best := time.Hour
	for range 5 {
		if best = min(best, f()); best < limit {
			return
		}
	}
	if allowed := testwait.Within(limit); best >= allowed { // they may hold it all the time
		w.t.Errorf("%s took %v at best, %v at most were allowed", what, best, allowed)
	}
}

// eventually polls until ok, at most patience.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// patience is for a machine that others hold too: what works takes none of it.
const patience = testwait.Hang

// recorder is a Sink that keeps everything.
type recorder struct {
	mu   sync.Mutex
	data map[event.Stream]string
	all  strings.Builder
}

func (r *recorder) takeOutput(s event.Stream, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.data == nil {
		r.data = map[event.Stream]string{}
	}
	r.data[s] += string(data)
	r.all.Write(data)
}

func (r *recorder) outputOn(s event.Stream) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data[s]
}

// processOutput returns all output that a background process has printed so far and still keeps.
func (w *world) processOutput(id string) string {
	w.t.Helper()
	data, _, _, err := w.Pool.Output(w.session, id, 0, 0)
	if err != nil {
		w.t.Fatalf("Output: %v", err)
	}
	return string(data)
}

func (w *world) startProcess(command string, change ...func(*backend.Request)) backend.Process {
	w.t.Helper()
	r := w.newRequest(command)
	for _, f := range change {
		f(&r)
	}
	p, err := w.Pool.Start(context.Background(), r)
	if err != nil {
		w.t.Fatalf("Start(%q): %v", command, err)
	}
	return p
}

func (w *world) awaitProcess(id string) backend.Process {
	w.t.Helper()
	p, err := w.Pool.Wait(context.Background(), w.session, id, patience)
	if err != nil || p.Running {
		w.t.Fatalf("Wait(%s): running %v, %v", id, p.Running, err)
	}
	return p
}

func withTimeout(d time.Duration) func(*backend.Request) {
	return func(r *backend.Request) { r.Timeout = d }
}
