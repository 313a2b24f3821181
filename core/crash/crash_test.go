package crash

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain is also the program that crashes: a panic in a guarded goroutine ends the process, so it
// needs one of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CRASH_HERE"); dir != "" {
		SetDir(dir)
		SetClean(func(text string) string { return strings.ReplaceAll(text, "canary", "[gone]") })
		OnPanic(func() { os.Stdout.WriteString("first hook\n") })
		OnPanic(func() { panic("a hook that panics itself") })
		remove := OnPanic(func() { os.Stdout.WriteString("removed hook\n") })
		remove()
		Go("the worker", func() { panic("something broke: canary") })
		select {}
	}
	os.Exit(m.Run())
}

func TestPanicInAGoroutineGivesTheTerminalBackAndWritesAFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crashes")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CRASH_HERE="+dir)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()

	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Fatalf("ended with %v, want exit code 2\n%s", err, errs.String())
	}
	if got := out.String(); got != "first hook\n" {
		t.Errorf("hooks printed %q", got)
	}
	if !strings.Contains(errs.String(), "crashed in the worker: something broke") || !strings.Contains(errs.String(), dir) {
		t.Errorf("standard error does not say what happened and where the details are:\n%s", errs.String())
	}
	files, _ := filepath.Glob(filepath.Join(dir, "crash-*.txt"))
	if len(files) != 1 {
		t.Fatalf("%d crash files, want 1", len(files))
	}
	text, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(text), "crash_test.go") {
		t.Errorf("the crash file has no stack: %v\n%s", err, text)
	}
	if strings.Contains(string(text)+errs.String(), "canary") || !strings.Contains(string(text), "[gone]") {
		t.Errorf("a secret is shown: %s", text)
	}
	if info, _ := os.Stat(files[0]); info.Mode().Perm() != 0o600 {
		t.Errorf("the crash file can be read by others: %v", info.Mode())
	}
}

func TestGuardWithoutAPanicDoesNothing(t *testing.T) {
	exit = func(int) { t.Error("the process would have ended") }
	defer func() { exit = os.Exit }()
	func() { defer Guard("calm") }()
}

func TestCrashFileGoesToTheTemporaryFolderWithoutADir(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path, err := writeReport("", "x", "why", []byte("stack"))
	if err != nil || !strings.HasPrefix(path, os.TempDir()) {
		t.Fatalf("path %q, error %v", path, err)
	}
}
