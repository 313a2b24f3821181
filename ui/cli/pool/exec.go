package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hermes/core/backend"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/ui/cli/base"
)

// beginBeside starts back ends beside what else goes on, and keeps them up until the returned
// function is called.
func (w *poolWork) beginBeside(ctx context.Context, names []string, failures chan<- error) func() {
	if len(names) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	crash.Go("pool up", func() {
		defer close(done)
		if err := w.forEach(names, func(name string) error { return w.pool.Up(ctx, w.session, name) }); err != nil && ctx.Err() == nil {
			failures <- err
			return
		}
		for _, name := range names {
			defer w.pool.Keep(w.session, name)()
		}
		<-ctx.Done()
	})
	return func() {
		cancel()
		<-done
	}
}

type execFlags struct {
	tty     bool
	timeout time.Duration
	dir     string
	env     []string
}

func (c *command) poolExec(f *poolFlags) *cobra.Command {
	var x execFlags
	cmd := &cobra.Command{
		Use: "exec <name> -- <command> [args...]", Short: "Run a command in a back end", ValidArgsFunction: c.completeBackends,
		Long: `Run a command in a back end. Its output, errors, input and exit code are the command's own: stdin is passed on, and a pipe may
follow. 124 means that --timeout ended it, 130 that ctrl+c did.

The arguments are given as they are; for a shell's line: hermes pool exec NAME -- sh -c "a | b".`,
		Example: `  hermes pool exec analytics -- python -c 'print(6*7)'
  tar c src | hermes pool exec analytics --workdir /workspace -- tar x
  hermes pool exec analytics -t -- top`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.asJSON {
				return base.UsageError("pool exec prints what the command prints; there is no --json")
			}
			return c.withPool(cmd, f, func(ctx context.Context, w *poolWork) error { return w.runCommand(ctx, args[0], args[1:], x) })
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&x.tty, "tty", "t", false, "give it a terminal: this one")
	fl.DurationVar(&x.timeout, "timeout", 0, "end it after this long, for example 90s")
	fl.StringVarP(&x.dir, "workdir", "w", "", "run in this `folder` of the back end")
	fl.StringArrayVarP(&x.env, "env", "e", nil, "set `NAME=value` for it; NAME alone passes on the one from here")
	return cmd
}

func (c *command) poolShell(f *poolFlags) *cobra.Command {
	var x execFlags
	cmd := &cobra.Command{
		Use: "shell <name>", Short: "Open a shell in a back end", Args: cobra.ExactArgs(1), ValidArgsFunction: c.completeBackends,
		Long: "Open a shell in a back end. The terminal is the shell's until it ends; its exit code is passed on.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.asJSON {
				return base.UsageError("pool shell prints what the shell prints; there is no --json")
			}
			if !base.IsTerminal(c.Streams.In) || !base.IsTerminal(c.Streams.Out) {
				return base.UsageError("a shell needs a terminal; in scripts use `hermes pool exec %s -- sh -c \"...\"`", args[0])
			}
			x.tty = true
			return c.withPool(cmd, f, func(ctx context.Context, w *poolWork) error { return w.runCommand(ctx, args[0], nil, x) })
		},
	}
	cmd.Flags().StringVarP(&x.dir, "workdir", "w", "", "start in this `folder` of the back end")
	cmd.Flags().StringArrayVarP(&x.env, "env", "e", nil, "set `NAME=value` for it; NAME alone passes on the one from here")
	return cmd
}

// exitNotFound is what a shell says when there is no such program.
const exitNotFound base.Exit = 127

// runCommand runs argv, or a shell for a person when there is none.
func (w *poolWork) runCommand(ctx context.Context, name string, argv []string, x execFlags) error {
	s, err := w.statusOf(name)
	if err != nil {
		return err
	}
	r := backend.Request{Session: w.session, Backend: name, Argv: argv, Dir: x.dir, Timeout: x.timeout, Env: map[string]string{}}
	if s.Traits.Local {
		r.Home = w.cwd
	}
	if argv == nil {
		r.Command, r.Shown = backend.Interactive, backend.InteractiveShown
	}
	for _, pair := range x.env {
		k, v, ok := strings.Cut(pair, "=")
		if k == "" {
			return base.UsageError("--env %s: write --env NAME=value", pair)
		}
		if !ok {
			v = w.c.Getenv(k)
		}
		r.Env[k] = v
	}
	if x.tty && (!base.IsTerminal(w.c.Streams.In) || !base.IsTerminal(w.c.Streams.Out)) {
		return base.UsageError("-t needs a terminal on both sides; leave it out in scripts")
	}
	stop := func() {}
	if base.IsTerminal(w.c.Streams.Err) {
		stop = w.showProgressUntil()
	}
	err = w.pool.Up(ctx, w.session, name) // here a back end that cannot start is an error: no other one takes its place
	stop()
	if err != nil {
		return err
	}
	if x.tty {
		return w.runOnTerminal(ctx, r)
	}
	return w.runOnStreams(ctx, r)
}

// runOnStreams runs a command with its streams on ours. Its standard output comes through a socket
// of its own, so that a slow reader slows it down and loses nothing.
func (w *poolWork) runOnStreams(ctx context.Context, r backend.Request) error {
	var mu sync.Mutex
	r.Sink = func(s event.Stream, data []byte) {
		mu.Lock()
		defer mu.Unlock()
		out := w.c.Streams.Err
		if s == event.Stdout {
			out = w.c.Streams.Out
		}
		_, _ = out.Write(data)
	}
	piped := r
	piped.Channel, piped.Argv = true, append([]string{"/bin/sh", "-c", `exec "$@" >&3 3>&-`, "sh"}, r.Argv...)
	p, err := w.pool.Start(ctx, piped)
	if err != nil && strings.Contains(err.Error(), "/bin/sh") { // an image without a shell
		if p, err = w.pool.Start(ctx, r); err != nil && strings.Contains(err.Error(), "no such program") {
			return base.Failed(exitNotFound, "%w", err)
		}
	}
	if err != nil {
		return err
	}
	drained := make(chan struct{})
	if ch, err := w.pool.Channel(r.Session, p.ID); err == nil {
		crash.Go("exec output", func() {
			defer close(drained)
			if _, err := io.Copy(w.c.Streams.Out, ch); err != nil {
				_, _ = w.pool.Kill(context.WithoutCancel(ctx), r.Session, p.ID) // nobody reads: as SIGPIPE would
			}
		})
		defer ch.Close()
	} else {
		close(drained)
	}
	w.passInput(r.Session, p.ID)
	return w.awaitOutcome(ctx, r, p.ID, drained)
}

// passInput passes our standard input on, until its end. Nobody waits for it: a read of a terminal
// cannot be ended.
func (w *poolWork) passInput(session, id string) {
	crash.Go("exec input", func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := w.c.Streams.In.Read(buf)
			if n > 0 && w.pool.Write(session, id, buf[:n], false) != nil {
				return
			}
			if err != nil {
				_ = w.pool.Write(session, id, nil, true) // one that has ended does not miss it
				return
			}
		}
	})
}

// awaitOutcome waits for the end, which ctrl+c brings about, and makes it ours.
func (w *poolWork) awaitOutcome(ctx context.Context, r backend.Request, id string, drained <-chan struct{}) error {
	p, err := w.pool.Wait(ctx, r.Session, id, 0)
	if ctx.Err() != nil {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), base.CloseTime)
		defer cancel()
		_, err = w.pool.Kill(end, r.Session, id)
		return errors.Join(base.SilentExit(base.ExitInterrupted), err)
	}
	if err != nil {
		return err
	}
	select { // what it left running in the background may hold the socket for ever
	case <-drained:
	case <-time.After(2 * time.Second):
	case <-ctx.Done():
	}
	if p.ExitCode != 0 {
		if p.ExitCode == 124 && r.Timeout > 0 {
			w.c.Note("hermes: the command took longer than %v and was ended", r.Timeout)
		}
		return base.SilentExit(base.Exit(p.ExitCode))
	}
	return nil
}

// runOnTerminal runs a command with this terminal as its own.
func (w *poolWork) runOnTerminal(ctx context.Context, r backend.Request) error {
	in, out := w.c.Streams.In.(*os.File), w.c.Streams.Out.(*os.File)
	size := func() backend.Size {
		cols, rows, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return backend.Size{Rows: 24, Cols: 80}
		}
		return backend.Size{Rows: rows, Cols: cols}
	}
	now := size()
	r.PTY = &now
	r.Sink = func(s event.Stream, data []byte) {
		if s == event.Note {
			data = []byte(strings.ReplaceAll(string(data), "\n", "\r\n"))
		}
		_, _ = out.Write(data)
	}
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("the terminal cannot be passed on: %w", err)
	}
	restore := func() { _ = term.Restore(int(in.Fd()), old) }
	defer restore()
	defer crash.OnPanic(restore)()
	p, err := w.pool.Start(ctx, r)
	if err != nil {
		return err
	}
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	ended := make(chan struct{})
	defer close(ended)
	defer signal.Stop(sizes)
	crash.Go("exec size", func() {
		for {
			select {
			case <-sizes:
				_ = w.pool.Resize(r.Session, p.ID, size())
			case <-ended:
				return
			}
		}
	})
	w.passInput(r.Session, p.ID)
	all := make(chan struct{})
	close(all)
	return w.awaitOutcome(ctx, r, p.ID, all)
}
