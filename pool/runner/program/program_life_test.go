package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/core/testwait"
	"hermes/pool/runner"
	"hermes/pool/runner/wire"
)

// stubborn says its number and those of a child that ignores TERM and of one in a session of its
// own, and ends by no asking.
const stubborn = `trap '' TERM
sh -c 'trap "" TERM; while :; do sleep 1; done' & a=$!
setsid sh -c 'trap "" TERM; while :; do sleep 1; done' & b=$!
echo $$ $a $b; while :; do sleep 1; done`

func serveCommand(t testing.TB, flags ...string) *exec.Cmd {
	cmd := exec.Command(program(t), append([]string{"serve"}, flags...)...)
	cmd.Dir = t.TempDir()
	return cmd
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// gone waits until none of the processes lives, and returns how long that took.
func gone(t *testing.T, pids []int) time.Duration {
	t.Helper()
	begun := time.Now()
	for _, pid := range pids {
		for alive(pid) {
			if time.Since(begun) > patience {
				t.Fatalf("process %d still lives", pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return time.Since(begun)
}

func numbers(t *testing.T, line string) (pids []int) {
	t.Helper()
	for f := range strings.FieldsSeq(line) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func TestKillingTheClientEndsAllWithinTheGraceAndTwoSeconds(t *testing.T) {
	client := exec.Command(os.Args[0])
	client.Env = append(os.Environ(), "HERMES_TEST_CLIENT="+program(t), "HERMES_TEST_COMMAND="+stubborn)
	client.Stderr = os.Stderr
	out, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pids := numbers(t, line)
	_ = client.Process.Kill()
	_ = client.Wait()
	took := gone(t, pids)
	if len(pids) != 4 || took < 500*time.Millisecond || took > testwait.Within(3*time.Second) {
		t.Errorf("%d processes ended %v after the kill, want within 1 s of grace and 2 s", len(pids), took)
	}
}

func TestTermEndsPolitelyAndFast(t *testing.T) {
	f := spawn(t, serveCommand(t))
	c := connect(t, f, wire.Options{})
	kept := filepath.Join(t.TempDir(), "kept")
	p, err := c.Start(runner.Spec{Command: "trap 'echo asked >" + kept + "; exit' TERM; echo up; while :; do sleep 0.01; done"})
	if err != nil {
		t.Fatal(err)
	}
	for out := []byte(nil); len(out) == 0; out, _, _ = p.Output(0, 0) {
		time.Sleep(5 * time.Millisecond)
	}
	begun := time.Now()
	_ = f.cmd.Process.Signal(syscall.SIGTERM)
	receive(t, "the end of the program", f.ended)
	if took := time.Since(begun); took > testwait.Within(3*time.Second) {
		t.Errorf("it took %v", took)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error("the command was not asked")
	}
	if cause := receive(t, "the loss", c.Gone()); !strings.Contains(cause.Error(), "told to end") {
		t.Errorf("cause: %v", cause)
	}
	receive(t, "the end of the process", p.Done())
	if code, _ := p.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestSilenceIsNoticedByBothSides(t *testing.T) {
	f := spawn(t, serveCommand(t, "-grace", "300ms"))
	c := connect(t, f, wire.Options{Heartbeat: 100 * time.Millisecond})
	_ = f.cmd.Process.Signal(syscall.SIGSTOP)
	_, err := c.Run(context.Background(), runner.Spec{Command: "true"})
	var lost *wire.Lost
	if !errors.As(err, &lost) || !strings.Contains(err.Error(), "sign of life") {
		t.Errorf("Run: %v", err)
	}
	receive(t, "the loss", c.Gone())
	_ = f.cmd.Process.Signal(syscall.SIGCONT)
	receive(t, "the end of the program", f.ended)
}

func TestAClientThatSaysNothingIsLost(t *testing.T) {
	f := spawn(t, serveCommand(t, "-grace", "300ms"))
	still := &deaf{far: f}
	c := connect(t, still, wire.Options{Heartbeat: 100 * time.Millisecond})
	res := make(chan error, 1)
	go func() {
		_, err := c.Run(context.Background(), runner.Spec{Command: "sleep 100"})
		res <- err
	}()
	still.mute.Store(true)
	receive(t, "the end of the program, whose stream is still open", f.ended)
	receive(t, "the end of the call", res)
}

func TestASecondHermesJoins(t *testing.T) {
	name := fmt.Sprintf("hermes-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	f := spawn(t, serveCommand(t, "-grace", "500ms", "-socket", name))
	first := connect(t, f, wire.Options{SHA256: fileHash(t)})
	joined := func() (*far, *wire.Client) {
		j := spawn(t, exec.Command(program(t), "join", name))
		return j, connect(t, j, wire.Options{SHA256: fileHash(t)})
	}
	_, second := joined()
	for _, c := range []*wire.Client{first, second} {
		if c.Info().PID != f.cmd.Process.Pid {
			t.Errorf("process %d answers, want %d", c.Info().PID, f.cmd.Process.Pid)
		}
	}
	shut(t, first) // the first goes; the second keeps it alive
	if res, err := second.Run(context.Background(), runner.Spec{Command: "sleep 1; echo here"}); err != nil || string(res.Output) != "here\n" {
		t.Errorf("%q, %v", res.Output, err)
	}
	third, c := joined()
	p, err := c.Start(runner.Spec{Command: "echo $$; exec sleep 100"})
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for ; len(out) == 0; out, _, _ = p.Output(0, 0) {
		time.Sleep(5 * time.Millisecond)
	}
	_ = third.cmd.Process.Kill() // lost: what it started ends though others are there
	gone(t, numbers(t, string(out)))
	if _, err := second.Run(context.Background(), runner.Spec{Command: "true"}); err != nil {
		t.Error(err)
	}
	shut(t, second)
	receive(t, "the end of the program", f.ended)
	if out, err := exec.Command(program(t), "join", name).CombinedOutput(); err == nil || !strings.Contains(string(out), "nothing serves") {
		t.Errorf("join afterwards: %q, %v", out, err)
	}
}

func TestWhatIsNotTheRunnerIsShown(t *testing.T) {
	for script, want := range map[string]string{
		"echo 'exec: format error' >&2; echo sh: hermes-runner: not found": "not found",
		"exit 1":         "did not answer",
		"exec sleep 100": "in time",
		"exec yes":       "too much",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		other := exec.Command("sh", "-c", script)
		other.Stderr = new(strings.Builder)
		c, err := wire.Connect(ctx, spawn(t, other), wire.Options{})
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", script, c, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := wire.Connect(ctx, spawn(t, serveCommand(t)), wire.Options{SHA256: strings.Repeat("0", 64)})
	if err == nil || !strings.Contains(err.Error(), "not the runner of this hermes") {
		t.Errorf("another program: %v", err)
	}
}

func TestNoiseOfALoginIsSkipped(t *testing.T) {
	c := connect(t, spawn(t, exec.Command("sh", "-c", `echo Welcome; printf 'no newline'; exec "$0" serve`, program(t))), wire.Options{})
	i := c.Info()
	if i.OS != "linux" || i.Arch != runtime.GOARCH || i.UID != os.Getuid() || i.Version != wire.Version || i.Shell == "" || i.SHA256 != fileHash(t) {
		t.Errorf("%+v", i)
	}
}
