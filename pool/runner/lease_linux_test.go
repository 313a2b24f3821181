package runner

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The signals of a terminal do not reach the keeper, and it holds nothing of ours but what it
// needs.
func TestTheKeeperIsDeafAndPoor(t *testing.T) {
	t.Setenv("MY_SECRET", "canary-31f0")
	r := newRunner(t)
	mustRun(t, r, script(t, "true"))
	at := fmt.Sprintf("/proc/%d/", r.lease.keeper.pid)
	eventually(t, "it ignores HUP, INT and TERM", func() bool {
		status, _ := os.ReadFile(at + "status")
		_, text, _ := bytes.Cut(status, []byte("SigIgn:\t"))
		var mask uint64
		_, _ = fmt.Sscanf(string(text), "%x", &mask)
		const want = 1<<(syscall.SIGHUP-1) | 1<<(syscall.SIGINT-1) | 1<<(syscall.SIGTERM-1)
		return mask&want == want
	})
	stat, _ := os.ReadFile(at + "stat")
	if p, ok := parseStat(r.lease.keeper.pid, stat); !ok || p.session != p.pid || p.group != p.pid {
		t.Errorf("it is not in a session of its own: %+v", p)
	}
	if env, _ := os.ReadFile(at + "environ"); bytes.Contains(env, []byte("canary-31f0")) {
		t.Error("it has our environment")
	}
	open := descriptors(t, r.lease.keeper.pid)
	for fd, to := range descriptors(t, os.Getpid()) {
		if open[fd] == to && len(fd) > 1 {
			delete(open, fd) // what whoever started the test left open for all
		}
	}
	if len(open) > 4 || open["1"] != os.DevNull || open["2"] != os.DevNull || !strings.HasPrefix(open["0"], "pipe:") {
		t.Errorf("it holds %v", open)
	}
}

// No command holds the pipe open: one that outlives us would keep the keeper from its work.
func TestNoCommandHoldsTheLease(t *testing.T) {
	r := newRunner(t)
	mustRun(t, r, script(t, "true"))
	pipe, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", r.lease.hold.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]Spec{
		"in a shell":       script(t, "exec sleep 4711"),
		"without a shell":  {Argv: []string{"sleep", "4711"}, Env: os.Environ()},
		"with a terminal":  {Command: "exec sleep 4711", Env: os.Environ(), Size: &Size{Rows: 24, Cols: 80}},
		"with an input":    {Command: "exec sleep 4711", Env: os.Environ(), Live: true},
		"with a long text": {Command: "exec sleep 4711 #" + strings.Repeat("x", maxInline), Env: os.Environ()},
	} {
		p, err := r.Start(s)
		if err != nil {
			t.Fatal(err)
		}
		for fd, to := range descriptors(t, p.job.child.pid) {
			if to == pipe || strings.Contains(to, "hermes-lease") {
				t.Errorf("a command %s holds %s as %s", what, to, fd)
			}
		}
	}
}

// descriptors returns what a process has open, by number.
func descriptors(t *testing.T, pid int) map[string]string {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]string{}
	for _, e := range list {
		open[e.Name()], _ = os.Readlink(filepath.Join(dir, e.Name()))
	}
	return open
}

// shells are those that may be the sh of a machine.
var shells = map[string][]string{"dash": {"dash"}, "bash": {"bash", "--posix"}, "busybox": {"busybox", "sh"}, "ksh": {"ksh"}, "mksh": {"mksh"}}

// Every shell, with every grep that a machine may have, or with none, ends a call and what left its
// group, and nothing of another call.
func TestTheScriptInEveryShell(t *testing.T) {
	tried := 0
	for name, argv := range shells {
		if _, err := exec.LookPath(argv[0]); err != nil {
			continue
		}
		tried++
		for tools, path := range toolboxes(t) {
			t.Run(name+" with "+tools, func(t *testing.T) {
				t.Parallel()
				tryScript(t, argv, path, tools != "no tools at all")
			})
		}
	}
	if tried == 0 {
		t.Error("no shell was tried")
	}
}

// toolboxes returns values of PATH: one with everything, one with a grep that stops at the first
// NUL as busybox's does, an empty one.
func toolboxes(t *testing.T) map[string]string {
	t.Helper()
	weak, none := t.TempDir(), t.TempDir()
	const grep = "#!/bin/sh\ncase $* in *environ*) exit 1 ;; esac\nexec %s \"$@\"\n"
	for tool, text := range map[string]string{"grep": grep, "sleep": "#!/bin/sh\nexec %s \"$@\"\n"} {
		real, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(weak, tool), fmt.Appendf(nil, text, real), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{"all tools": os.Getenv("PATH"), "a weak grep": weak, "no tools at all": none}
}

// testTag begins the tags of what the script ends in tests.
const testTag = "0123456789abcdef"

// Who has ended and is not collected yet is not waited for: where the first process is slow, that
// took longer than all the rest.
func TestTheScriptDoesNotWaitForTheDead(t *testing.T) {
	path := t.TempDir()
	slept := filepath.Join(path, "slept")
	grep, err := exec.LookPath("grep")
	if err == nil {
		err = os.Symlink(grep, filepath.Join(path, "grep"))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(path, "sleep"), []byte("#!/bin/sh\necho \"$@\" >>"+slept+"\n"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	const call = testTag + "dead-0000000012"
	cmd := exec.Command("sh", "-c", numberItself(call)+"echo up; read -r _")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		t.Fatalf("%q, %v", line, err)
	}
	_ = in.Close()
	eventually(t, "it has ended", func() bool { return !lives(cmd.Process.Pid) })
	if me := (proc{pid: cmd.Process.Pid}); !me.hasTag(call) {
		t.Error("it has no number any more, so that nothing is tried")
	}
	runScript(t, []string{"sh"}, path, testTag+"dead", cmd.Process.Pid)
	if data, err := os.ReadFile(slept); err == nil {
		t.Errorf("the script waited: %q", data)
	}
}

func tryScript(t *testing.T, shell []string, path string, limits bool) {
	const tag = testTag
	own := strconv.Itoa(os.Getpid()) + t.Name()
	dir := t.TempDir()
	mine, other := victim(t, dir, tag+own+"-0000000012"), victim(t, t.TempDir(), tag+own+"-0000000013")
	runScript(t, shell, path, tag+own, mine[0])
	for _, pid := range mine {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if !limits && !bytes.Contains(env, []byte(tagName)) {
			continue // who cleared it is found with a grep only
		}
		if lives(pid) {
			t.Errorf("%d of %v lives", pid, mine)
		}
	}
	for _, pid := range other {
		if !lives(pid) {
			t.Errorf("%d of another call is gone", pid)
		}
	}
}

// runScript runs the keeper's script, as after the death of a Runner, for its call 12 that began
// with a process.
func runScript(t *testing.T, shell []string, path, tag string, pid int) {
	t.Helper()
	table, err := newTable()
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	_, _ = fmt.Fprintf(table, blank+rowFormat+blank, 12, pid)
	_, _ = table.Seek(0, 0)

	bin, err := exec.LookPath(shell[0])
	if err != nil {
		t.Fatal(err)
	}
	keeper := exec.Command(bin, append(shell[1:], "-s", "hermes-keeper", tag, markPrefix(tag))...)
	keeper.Env = append([]string{"PATH=" + path}, keeperEnv()[1:]...)
	keeper.Stdin = strings.NewReader(keeperScript)
	keeper.ExtraFiles = []*os.File{table}
	var errs strings.Builder
	keeper.Stderr = &errs
	if err := keeper.Run(); err != nil || errs.Len() > 0 {
		t.Errorf("%v: %s", err, &errs)
	}
}

// victim starts the family with a tag, as the leader of a session, and returns its processes, the
// leader first.
func victim(t *testing.T, dir, tag string) []int {
	t.Helper()
	cmd := exec.Command("sh", "-c", numberItself(tag)+family)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), tagName + "=" + tag, "LAST=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	pids := []int{cmd.Process.Pid}
	eventually(t, "all are up", func() bool {
		pids = append(pids[:1], pidsIn(filepath.Join(dir, "pids"))...)
		return len(pids) == 1+familySize
	})
	t.Cleanup(func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-ended
	})
	return pids
}
