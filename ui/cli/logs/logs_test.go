package logs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
	"hermes/ui/cli/base"
)

type lines chan string

func (l lines) Write(p []byte) (int, error) {
	for _, line := range strings.SplitAfter(string(p), "\n") {
		if line != "" {
			l <- line
		}
	}
	return len(p), nil
}

func TestFollowGoesOnAfterTheLogWasRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "workbench.log")
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	out := make(lines, 16)
	next := func(want string) {
		t.Helper()
		select {
		case got := <-out:
			if got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		case <-time.After(testwait.Hang):
			t.Fatalf("no %q", want)
		}
	}
	write("one\ntwo\n")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	c := &command{&base.Command{Streams: base.Streams{Out: out}}}
	go func() { done <- c.tail(ctx, path, 1, true) }()
	next("two\n")
	write("three\x1b[2J\n")
	next("three\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write("four\n")
	next("four\n")
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
