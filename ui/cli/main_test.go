package cli_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/testwait"
	"hermes/ui/cli"
)

// watcher is an output that says when it holds a word.
type watcher struct {
	mu   sync.Mutex
	text bytes.Buffer
	word string
	seen chan struct{}
	once sync.Once
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.text.Write(p)
	if strings.Contains(w.text.String(), w.word) {
		w.once.Do(func() { close(w.seen) })
	}
	return n, err
}

func TestInterruptStopsTheTurnAndKeepsWhatThereIs(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(context.Background())
	out, errs := &watcher{word: "waiting", seen: make(chan struct{})}, &bytes.Buffer{}
	code := make(chan int, 1)
	go func() {
		code <- cli.Main(ctx, cli.Program{Open: openFake}, []string{"run", "wait"}, cli.Streams{In: strings.NewReader(""), Out: out, Err: errs},
			[]string{"HERMES_HOME=" + t.TempDir()})
	}()
	select {
	case <-out.seen:
	case <-time.After(testwait.Hang):
		t.Fatal("the answer did not start")
	}
	cancel()
	select {
	case got := <-code:
		if got != int(cli.ExitInterrupted) {
			t.Errorf("exit code %d, want %d", got, cli.ExitInterrupted)
		}
	case <-time.After(testwait.Hang):
		t.Fatal("the turn did not stop")
	}
	if !strings.Contains(errs.String(), "go on with `hermes run -r new1`") {
		t.Errorf("stderr %q", errs)
	}
}

func TestNoWorkbenchWithoutATerminal(t *testing.T) {
	opened := false
	p := cli.Program{Workbench: func(context.Context, cli.Start, cli.Workbench) error { opened = true; return nil }}
	var out, errs bytes.Buffer
	code := cli.Main(context.Background(), p, nil, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, nil)
	if code != int(cli.ExitUsage) || opened {
		t.Errorf("code %d, opened %v: %s", code, opened, &errs)
	}
}
