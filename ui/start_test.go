package ui_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"

	"hermes/core/testwait"
	_ "hermes/ui"
)

// TestStartAsksTheTerminalNothing starts this test binary, which imports what the program imports,
// on a terminal that never answers.
func TestStartAsksTheTerminalNothing(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestEnvironmentIsRestored$", "-test.v")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "CI=")
	begin := time.Now()
	f, err := pty.Start(cmd)
	if err != nil {
		t.Fatalf("no pseudo-terminal: %v", err)
	}
	defer f.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(f) // ends with an error when the other side closes
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.Bytes())
	}
	if bytes.Contains(out.Bytes(), []byte("\x1b]1")) || bytes.Contains(out.Bytes(), []byte("\x1b[6n")) {
		t.Errorf("the terminal was asked: %q", out.Bytes())
	}
	if took := time.Since(begin); took > testwait.Within(4*time.Second) {
		t.Errorf("the start took %v: something waits for an answer", took)
	}
}

func TestEnvironmentIsRestored(t *testing.T) {
	if v := os.Getenv("CI"); v == "hermes is starting" {
		t.Error("CI is still set")
	}
}
