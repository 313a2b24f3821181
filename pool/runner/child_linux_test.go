package runner

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestHelperDies is not a test of its own: it is the program that TestChildrenDieWithUs kills.
func TestHelperDies(t *testing.T) {
	if os.Getenv("HERMES_TEST_HELPER") == "" {
		return
	}
	r := New(Options{})
	p, err := r.Start(Spec{Command: "exec sleep 300", Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	// The thread that this ran on ends: a child bound to it would die now, and the test would see
	// no process at all.
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		runtime.LockOSThread()
	}()
	<-gone
	_, _ = os.Stdout.WriteString("pid " + strconv.Itoa(p.job.child.pid) + "\n")
	<-p.Done()
}

func TestChildrenDieWithUs(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestHelperDies$")
	cmd.Env = append(os.Environ(), "HERMES_TEST_HELPER=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(buf[:n]), "pid ")))
	if err != nil {
		t.Fatalf("%q: %v", buf[:n], err)
	}
	if !lives(pid) {
		t.Fatal("the child is not there")
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	eventually(t, "the child is gone", func() bool { return !lives(pid) })
}
