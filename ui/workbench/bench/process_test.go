package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"hermes/core"
	"hermes/core/backend"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/pool"
	"hermes/pool/local"
	"hermes/ui"
	"hermes/ui/uitest"
	"hermes/ui/workbench"
)

// hermes is the built program: .ci/bench names it.
func hermes(b *testing.B) string {
	b.Helper()
	path := os.Getenv("HERMES_BIN")
	if path == "" {
		b.Fatal("HERMES_BIN does not name the built program; `make bench` does")
	}
	return path
}

// running is a program on a pseudo-terminal that answers what programs ask at the start.
type running struct {
	cmd   *exec.Cmd
	tty   *os.File
	begun time.Time
	took  time.Duration // until the first frame was complete
	bytes atomic.Int64
	ended chan struct{}
}

// start runs a program until its output ends a frame that shows mark.
func start(b *testing.B, home, mark, path string) *running {
	b.Helper()
	cmd := exec.Command(path)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "HERMES_HOME=" + home, "HERMES_MODEL=offline", "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	r := &running{cmd: cmd, begun: time.Now(), ended: make(chan struct{})}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	must(b, err)
	r.tty = tty
	shown := make(chan time.Duration, 1)
	go r.read(mark, shown)
	select {
	case r.took = <-shown:
	case <-time.After(20 * time.Second):
		r.stop()
		b.Fatalf("%s never showed %q", path, mark)
	}
	return r
}

func (r *running) read(mark string, shown chan<- time.Duration) {
	defer close(r.ended)
	var all []byte
	buf := make([]byte, 64<<10)
	seen := false
	for {
		n, err := r.tty.Read(buf)
		if err != nil {
			return // the other side has closed
		}
		r.bytes.Add(int64(n))
		if seen {
			continue
		}
		r.answer(buf[:n])
		all = append(all, buf[:n]...)
		// A frame in a synchronized update is there when the update ends.
		open := bytes.LastIndex(all, []byte("\x1b[?2026h")) > bytes.LastIndex(all, []byte("\x1b[?2026l"))
		if seen = bytes.Contains(all, []byte(mark)) && !open; seen {
			shown <- time.Since(r.begun)
		}
	}
}

// answer does what a terminal does, at once: the floor must not wait for a time-out.
func (r *running) answer(chunk []byte) {
	if bytes.Contains(chunk, []byte("\x1b]11;?")) {
		_, _ = r.tty.WriteString("\x1b]11;rgb:0000/0000/0000\x1b\\")
	}
	if bytes.Contains(chunk, []byte("\x1b[6n")) {
		_, _ = r.tty.WriteString("\x1b[1;1R")
	}
}

func (r *running) stop() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	r.tty.Close()
	<-r.ended
}

// empty builds the floor of all programs here.
func empty(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "empty")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./empty").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// BenchmarkFirstFrame starts both programs in turns, on homes that were used before.
func BenchmarkFirstFrame(b *testing.B) {
	bin, floorBin, home := hermes(b), empty(b), b.TempDir()
	var mine, floor []time.Duration
	for i := range 20 {
		f := start(b, home, "ready", floorBin)
		f.stop()
		m := start(b, home, "❯", bin)
		m.stop()
		if i > 0 { // the first start makes the home and warms the page cache
			floor, mine = append(floor, f.took), append(mine, m.took)
		}
	}
	gate{"first frame, 120x40, from exec", "an empty program of the same stack", 2}.times(b, median(mine), median(floor))
}

// BenchmarkIdle looks at the whole program from outside while nothing happens.
func BenchmarkIdle(b *testing.B) {
	home := b.TempDir()
	m, f := start(b, home, "❯", hermes(b)), start(b, b.TempDir(), "ready", empty(b))
	defer m.stop()
	defer f.stop()
	time.Sleep(3 * time.Second)
	before := m.bytes.Load()
	time.Sleep(5 * time.Second)
	none(b, "idle: bytes written to the terminal", "in 5 seconds, from outside", m.bytes.Load()-before)
	mine, floor := pss(b, m), pss(b, f)
	gate{"idle: resident memory (PSS)", "an empty program of the same stack", 0}.row(b, fmt.Sprintf("%.1f MiB", mine), fmt.Sprintf("%.1f MiB", floor), mine/floor)
}

// pss is the memory of a process in MiB, what it shares with others counted by its share.
func pss(b *testing.B, r *running) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", r.cmd.Process.Pid))
	if err != nil {
		b.Skip("only Linux tells the memory of a process by shares")
	}
	for line := range strings.Lines(string(data)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "Pss: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	b.Fatal("smaps_rollup names no Pss")
	return 0
}

// BenchmarkIdleMessages counts what the event loop of the whole program takes while nothing
// happens.
func BenchmarkIdleMessages(b *testing.B) {
	home := b.TempDir()
	c, _ := config.Load(config.Options{Home: home, Env: []string{"HERMES_MODEL=offline"}})
	s := uitest.Drive(b, ui.Options{}, 120, 40, func(ctx context.Context, opt ui.Options, started func(*ui.Program)) error {
		return workbench.Run(ctx, workbench.Options{UI: opt, Started: started, Core: core.Options{
			Bus: event.NewBus(), Config: c, Cwd: home,
			Pool: func(bus *event.Bus, _ *config.Config) (core.Pool, error) { return newPool(bus) },
		}})
	})
	s.WaitFor("asks for risky things")
	s.Settle()
	time.Sleep(time.Second) // what opening leaves behind
	before := s.Program.Taken()
	time.Sleep(5 * time.Second)
	none(b, "idle: messages taken by the event loop", "in 5 seconds, the whole program", s.Program.Taken()-before)
}

// fixed is a pool whose settings do not change.
type fixed struct{ *pool.Pool }

func (fixed) Reconfigure(*config.Config) error { return nil }

func newPool(bus *event.Bus) (core.Pool, error) {
	p, err := pool.New(pool.Config{Backends: map[string]pool.Spec{"default": {Shell: "/bin/sh"}}}, map[string]pool.Kind{"local": local.New()}, bus)
	return fixed{p}, err
}

// BenchmarkPool runs commands in the warm local back end.
func BenchmarkPool(b *testing.B) {
	p, err := newPool(event.NewBus())
	must(b, err)
	defer func() { must(b, p.Close(context.Background())) }()
	for _, bm := range []struct {
		what, command string
		parallel      int
		rounds        int
		budget        float64
	}{
		{"local back end: sh -c true", "true", 1, 100, 2},
		{"local back end: 8 at a time", "true", 8, 40, 2},
		{"local back end: 10 MiB of output", "head -c 10485760 /dev/zero", 1, 15, 3},
	} {
		mine, floor := versus(bm.rounds, func() {
			atOnce(bm.parallel, func() {
				res, err := p.Exec(b.Context(), backend.Request{Session: "s", Command: bm.command})
				if err != nil || res.ExitCode != 0 {
					b.Errorf("exit code %d, %v", res.ExitCode, err)
				}
			})
		}, func() {
			atOnce(bm.parallel, func() {
				if _, err := exec.Command("/bin/sh", "-c", bm.command).CombinedOutput(); err != nil {
					b.Error(err)
				}
			})
		})
		gate{bm.what, "os/exec of the same", bm.budget}.times(b, mine, floor)
	}
}

func atOnce(n int, f func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(f)
	}
	all.Wait()
}
