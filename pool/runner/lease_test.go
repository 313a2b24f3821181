package runner

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// promised is how long commands may outlive us, on a machine that has time for the keeper.
const promised = 2 * time.Second

// floor is how long the keeper's work takes on this machine now, at the least: eight looks at all
// processes, and rests between.
func floor(t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	look := "grep -lsF -e nobody /proc/[0-9]*/environ /proc/[0-9]*/limits; grep -HsE nobody /proc/[0-9]*/stat; sleep 0.08"
	_ = exec.Command("sh", "-c", "for i in 1 2 3 4 5 6 7 8; do "+look+"; done").Run() // grep has found nothing
	return time.Since(begun)
}

// family is a command that leaves its process numbers in a file: a child that ignores TERM, one in
// a session of its own, and on Linux one that also lost its parent and its environment.
const family = `
[ ! -d /proc/self ] || env -i PATH="$PATH" setsid sh -c 'sh -c "echo \$\$ >>pids; exec sleep 4711" &'
command -v setsid >/dev/null || setsid() { perl -MPOSIX -e 'POSIX::setsid(); exec @ARGV' "$@"; }
sh -c 'trap "" TERM; echo $$ >>pids; while :; do sleep 1; done' &
setsid sh -c 'echo $$ >>pids; exec sleep 4711' &
echo $$ >>pids
wait`

var familySize = map[bool]int{true: 4, false: 3}[runtime.GOOS == "linux"]

// TestHelperIsKilled is not a test of its own: it is the program that TestNothingOutlivesUs kills.
func TestHelperIsKilled(t *testing.T) {
	dir := os.Getenv("HERMES_TEST_KILLED")
	if dir == "" {
		return
	}
	r := New(Options{})
	s := Spec{Env: os.Environ(), Home: dir}
	s.Command = "sh -c 'echo $$ >daemon; exec sleep 4711' & while ! [ -s daemon ]; do sleep 0.01; done"
	mustRun(t, r, s)
	s.Command = family
	if _, err := r.Start(s); err != nil {
		t.Fatal(err)
	}
	fmt.Println("keeper", r.lease.keeper.pid)
	_, _ = r.Run(context.Background(), s)
}

// killed runs the helper until all its commands are up, kills it, and returns their processes, the
// keeper and the daemon.
func killed(t *testing.T) (family []int, keeper, daemon int) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestHelperIsKilled$")
	cmd.Env = append(os.Environ(), "HERMES_TEST_KILLED="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if _, err := fmt.Sscanf(line, "keeper %d", &keeper); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	eventually(t, "two commands are up", func() bool {
		family = pidsIn(filepath.Join(dir, "pids"))
		return len(family) == 2*familySize
	})
	daemon = pidsIn(filepath.Join(dir, "daemon"))[0]
	t.Cleanup(func() { _ = syscall.Kill(daemon, syscall.SIGKILL) })
	for _, pid := range append(family, keeper, daemon) {
		if !lives(pid) {
			t.Errorf("%d is not there", pid)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return family, keeper, daemon
}

func pidsIn(path string) (pids []int) {
	data, _ := os.ReadFile(path)
	for word := range strings.FieldsSeq(string(data)) {
		pid, _ := strconv.Atoi(word)
		pids = append(pids, pid)
	}
	return pids
}

// The death that nobody can handle ends the commands in the foreground and in the background,
// whatever they did to get away. What a command left behind when it ended lives on, and holds
// nothing that the keeper waits for.
func TestNothingOutlivesUs(t *testing.T) {
	family, keeper, daemon := killed(t)
	begun := time.Now()
	eventually(t, "commands and keeper are gone", func() bool {
		if runtime.GOOS != "linux" {
			return !lives(keeper)
		}
		return !slices.ContainsFunc(append(family, keeper), lives)
	})
	took := time.Since(begun)
	if least := floor(t); took > max(promised, 3*least) {
		t.Errorf("they were gone after %v, where the work takes %v", took, least)
	}
	if !lives(daemon) {
		t.Error("the daemon of a command that had ended is gone")
	}
}

// A process that cleared its environment, left its group and session and lost its parents ends with
// its command, however that ends.
func TestWhoClearedItsEnvironmentEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a number that is inherited")
	}
	ends := map[string]func(r *Runner, s Spec){
		"at a timeout": func(r *Runner, s Spec) {
			s.Timeout = time.Second
			if res := mustRun(t, r, s); !res.TimedOut {
				t.Errorf("%+v", res)
			}
		},
		"in the background": func(r *Runner, s Spec) {
			p, err := r.Start(s)
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is up", func() bool { return len(pidsIn(filepath.Join(s.Home, "pids"))) == familySize })
			if err := p.Kill(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"with the Runner": func(r *Runner, s Spec) {
			if _, err := r.Start(s); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is up", func() bool { return len(pidsIn(filepath.Join(s.Home, "pids"))) == familySize })
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
		},
	}
	for how, end := range ends {
		t.Run(how, func(t *testing.T) {
			r := New(Options{Grace: 200 * time.Millisecond})
			s := script(t, family)
			end(r, s)
			pids := pidsIn(filepath.Join(s.Home, "pids"))
			for _, pid := range pids {
				if lives(pid) {
					t.Errorf("%d of %v lives", pid, pids)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if len(pids) != familySize {
				t.Errorf("%v were up", pids)
			}
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Nothing before the first command, one keeper for all, and nothing after Close.
func TestTheKeeperComesAndGoes(t *testing.T) {
	mustRun(t, newRunner(t), script(t, "true")) // what a process opens once
	before := openFiles(t)
	r := New(Options{})
	if r.lease.keeper != nil || r.lease.table != nil {
		t.Error("it is there before the first command")
	}
	var keeper *child
	for range 3 {
		mustRun(t, r, script(t, "true"))
		if now := r.lease.keeper; keeper != nil && now != keeper {
			t.Error("one keeper a command")
		}
		keeper = r.lease.keeper
	}
	if !lives(keeper.pid) {
		t.Error("it does not wait")
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !closesWithin(0, keeper.exited) || lives(keeper.pid) {
		t.Error("it is there after Close")
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	eventually(t, "as many files are open as before", func() bool { return openFiles(t) <= before })
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// Somebody killed the keeper: the next command has another one, which knows what ran before it
// came.
func TestTheKeeperIsReplaced(t *testing.T) {
	r := newRunner(t)
	p, err := r.Start(script(t, "exec sleep 4711"))
	if err != nil {
		t.Fatal(err)
	}
	first := r.lease.keeper
	_ = syscall.Kill(first.pid, syscall.SIGKILL)
	<-first.exited
	mustRun(t, r, script(t, "true"))
	second := r.lease.keeper
	if second == first || !lives(second.pid) {
		t.Fatal("there is no other one")
	}
	_ = r.lease.hold.Close() // what our death would do
	<-p.Done()
	if code, _ := p.Exit(); code != 143 {
		t.Errorf("exit code %d, want the one of TERM", code)
	}
}

// A machine without what the keeper needs runs commands all the same, and says it once.
func TestWithoutAKeeper(t *testing.T) {
	r := newRunner(t)
	r.lease.tag = "\x00" // with which no program starts
	for n := range 2 {
		res := mustRun(t, r, script(t, "echo ran"))
		if string(res.Output) != "ran\n" || len(res.Warnings) != 1-n {
			t.Errorf("call %d: %q, %q", n, res.Output, res.Warnings)
		}
	}
}

// The table is as long as there were calls at once, and empty when none runs.
func TestTheTableIsReused(t *testing.T) {
	r := newRunner(t)
	mustRun(t, r, script(t, "true"))
	for call := range uint64(100) {
		rows := make([]row, 0, 8)
		for range 8 {
			place, err := r.lease.takeRow(call)
			if err != nil {
				t.Fatal(err)
			}
			place.setProcess(int(call))
			rows = append(rows, place)
		}
		for _, place := range rows {
			place.dropRow()
		}
	}
	text := make([]byte, 1000)
	n, _ := r.lease.table.ReadAt(text, 0)
	if n != 8*rowSize || strings.TrimSpace(string(text[:n])) != "" {
		t.Errorf("%d bytes: %q", n, text[:n])
	}
}

func lives(pid int) bool {
	for _, p := range listProcesses() {
		if p.pid == pid {
			return !p.dead
		}
	}
	return false
}
