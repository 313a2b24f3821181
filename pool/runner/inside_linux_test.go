package runner

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What a Runner started knows it, whatever a script does to its environment; nobody else does.
func TestAProgramKnowsThatARunnerStartedIt(t *testing.T) {
	if Inside() {
		t.Skip("these tests run in a call of another Hermes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := "env -i " + askInside + "=1 " + self
	for name, text := range map[string]string{
		"plain":           askInside + "=1 " + self,
		"a clean env":     ask,
		"a child of sh":   "unset " + tagName + "; sh -c '" + ask + "; true'",
		"left its parent": ": > out; (setsid " + ask + " > out 2>&1 &) ; until grep -q . out; do :; done; cat out",
	} {
		if res := mustRun(t, newRunner(t), script(t, text)); strings.TrimSpace(string(res.Output)) != "inside: true" {
			t.Errorf("%s: %q", name, res.Output)
		}
	}
}

// A program that lowers the number does not get rid of it so.
func TestALoweredNumberIsAMark(t *testing.T) {
	if _, usual := locksLimit(1); usual {
		t.Skip("this machine limits the locks of every process")
	}
	for limit, want := range map[string]bool{"ulimit -x 5": true, "true": Inside()} {
		cmd := exec.Command("bash", "-c", limit+"; echo ready; exec cat")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		in, _ := cmd.StdinPipe()   // before the start
		out, _ := cmd.StdoutPipe() // both always work
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if got := (proc{pid: cmd.Process.Pid}).readMark().differsFrom(mark{}); got != want {
			t.Errorf("%q: %v", limit, got)
		}
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnEmptyTagIsNone(t *testing.T) {
	for env, want := range map[string]bool{
		"A=1\x00" + tagName + "=x-1\x00": true, scriptTag + "=s": true,
		tagName + "=\x00B=2\x00": false, "X" + tagName + "=1\x00": false, "": false,
	} {
		if len(tagsIn([]byte(env))) > 0 != want {
			t.Errorf("%q: not %v", env, want)
		}
	}
}

// Every start of Hermes asks whether it is inside: that reads of those above it, however many
// processes there are.
func TestInsideReadsNothingOfOtherProcesses(t *testing.T) {
	if got := parentOf(os.Getpid()); got != os.Getppid() {
		t.Errorf("the parent is %d, want %d", got, os.Getppid())
	}
	if got := parentOf(1 << 30); got != 0 {
		t.Errorf("what is not there has the parent %d", got)
	}
	alone := testing.AllocsPerRun(5, func() { Inside() })
	for range 40 {
		cmd := exec.Command("cat")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	}
	if among := testing.AllocsPerRun(5, func() { Inside() }); among > alone+40 {
		t.Errorf("%v allocations, among 40 other processes %v", alone, among)
	}
}
