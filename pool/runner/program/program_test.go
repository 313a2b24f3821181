package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/testwait"
	"hermes/pool/runner/wire"
)

// TestMain builds the program once, as make does. With HERMES_TEST_CLIENT set this test binary is a
// client that somebody kills.
func TestMain(m *testing.M) {
	if program := os.Getenv("HERMES_TEST_CLIENT"); program != "" {
		beKilled(program)
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if dir := filepath.Dir(built.path); built.path != "" {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}

const patience = testwait.Hang

var built struct {
	once sync.Once
	path string
	err  error
}

// program returns the path of the static program.
func program(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the program is for Linux")
	}
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "hermes-runner-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "hermes-runner")
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", built.path, ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// far is a running program and the stream to it.
type far struct {
	io.Reader
	io.WriteCloser
	cmd   *exec.Cmd
	out   io.Closer
	ended chan struct{}
}

func (f *far) Close() error {
	return errors.Join(f.WriteCloser.Close(), f.out.Close())
}

// spawn starts a program; it is killed when the test ends, if it still runs.
func spawn(t testing.TB, cmd *exec.Cmd) *far {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not StdoutPipe: Wait would close it under the reader.
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = theirs
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	f := &far{Reader: out, WriteCloser: in, cmd: cmd, out: out, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(f.ended)
	}()
	t.Cleanup(func() {
		_ = f.Close()
		_ = cmd.Process.Kill()
		<-f.ended
	})
	return f
}

func connect(t testing.TB, rw io.ReadWriteCloser, o wire.Options) *wire.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := wire.Connect(ctx, rw, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, c) })
	return c
}

func shut(t testing.TB, c *wire.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
		panic("unreachable")
	}
}
