package pool

import (
	"context"
	"fmt"
	"path"

	"hermes/core/backend"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/pool/runner"
)

// lease is a back end that is held ready for one command.
type lease struct {
	m        *machine
	release  func()
	warnings []string
}

// lease decides where the command runs and makes that place ready.
func (p *Pool) lease(ctx context.Context, r backend.Request) (lease, error) {
	name, warning := resolve(r.Backend, p.selected(r.Session), p.cfg.Default, p.cfg.names())
	var l lease
	if warning != "" {
		l.warnings = []string{warning}
	}
	err := p.hold(ctx, &l, r, name)
	def := p.cfg.Backends[p.cfg.Default]
	if err == nil || ctx.Err() != nil || !mayReplace(p.cfg.Backends[name], def) {
		return l, err
	}
	l.warnings = append(l.warnings, fmt.Sprintf("%v: '%s' ran it instead", err, def.Name))
	return l, p.hold(ctx, &l, r, def.Name)
}

func (p *Pool) hold(ctx context.Context, l *lease, r backend.Request, name string) (err error) {
	l.m = p.machine(r.Session, name)
	l.release, err = l.m.acquire(ctx, r.Session, gist(r))
	return err
}

// gist is what a panel shows of a command.
func gist(r backend.Request) string {
	if r.Command != "" {
		return r.Command
	}
	return fmt.Sprint(r.Argv)
}

// Exec runs a command to its end. Cancelling ctx ends its whole tree and returns the partial result.
func (p *Pool) Exec(ctx context.Context, r backend.Request) (backend.Result, error) {
	s, err := p.enter(r.Session)
	if err != nil {
		return backend.Result{}, err
	}
	defer p.leave(s)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	l, err := p.lease(ctx, r)
	if err != nil {
		return backend.Result{}, err
	}
	defer l.release()
	name := l.m.spec.Name
	warn(r, l.warnings)
	res, err := l.m.backend.Run(ctx, p.spec(r, name))
	if err != nil {
		return backend.Result{}, fmt.Errorf("backend '%s': %w", name, err)
	}
	p.remember(s, name, res.Dir)
	return result(r, l, res), nil
}

// Start runs a command in the background; it outlives ctx and ends with the session.
func (p *Pool) Start(ctx context.Context, r backend.Request) (backend.Process, error) {
	s, err := p.enter(r.Session)
	if err != nil {
		return backend.Process{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	l, err := p.lease(ctx, r)
	if err != nil {
		p.leave(s)
		return backend.Process{}, err
	}
	warn(r, l.warnings)
	spec := p.spec(r, l.m.spec.Name)
	spec.Live = r.Stdin == nil
	run, err := l.m.backend.Spawn(spec)
	if err != nil {
		l.release()
		p.leave(s)
		return backend.Process{}, fmt.Errorf("backend '%s': %w", l.m.spec.Name, err)
	}
	warn(r, run.Warnings())
	proc := p.adopt(s, r, l.m.spec.Name, run, append(l.warnings, run.Warnings()...))
	crash.Go("pool process", func() {
		defer p.leave(s)
		<-run.Done()
		proc.finish()
		l.release()
		p.ended(proc)
	})
	if s.ctx.Err() != nil { // closed meanwhile: nobody else will end it
		_ = run.Kill(ctx)
	}
	return proc.status(), nil
}

// warn shows warnings where the output is shown, before it.
func warn(r backend.Request, warnings []string) {
	if r.Sink == nil {
		return
	}
	for _, w := range warnings {
		r.Sink(event.Note, []byte("["+w+"]\n"))
	}
}

// spec translates a request.
func (p *Pool) spec(r backend.Request, name string) runner.Spec {
	current := p.dir(r.Session, name)
	s := runner.Spec{
		Command: r.Command, Argv: r.Argv, Extra: r.Env, Stdin: r.Stdin, Timeout: r.Timeout,
		Dir: current, Home: r.Home, MaxOutput: r.MaxOutput, SpillDir: r.SpillDir, Merge: r.Merge,
	}
	if r.Dir != "" {
		s.Dir, s.Strict = r.Dir, true
		if !path.IsAbs(r.Dir) && r.Dir[0] != '~' && (current != "" || r.Home != "") {
			s.Dir = path.Join(first(current, r.Home), r.Dir)
		}
	}
	if r.PTY != nil {
		s.Size = size(*r.PTY)
	}
	if r.Sink != nil {
		s.Sink = func(from runner.Stream, data []byte) { r.Sink(stream(from), data) }
	}
	return s
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// size makes a terminal size that exists: a pane can be laid out with none.
func size(s backend.Size) *runner.Size {
	clamp := func(n int) uint16 { return uint16(min(max(n, 1), 10_000)) }
	return &runner.Size{Rows: clamp(s.Rows), Cols: clamp(s.Cols)}
}

func stream(s runner.Stream) event.Stream {
	switch s {
	case runner.Stderr:
		return event.Stderr
	case runner.Terminal:
		return event.PTY
	case runner.Note:
		return event.Note
	default:
		return event.Stdout
	}
}

func result(r backend.Request, l lease, res runner.Result) backend.Result {
	return backend.Result{
		Backend: l.m.spec.Name, Requested: r.Backend,
		Output: res.Output, Total: res.Total, Truncated: res.Truncated, Cut: res.Cut, Spill: res.Spill,
		ExitCode: res.ExitCode, Signal: res.Signal, TimedOut: res.TimedOut, Interrupted: res.Interrupted,
		Dir: res.Dir, Warnings: append(l.warnings, res.Warnings...), Took: res.Took,
	}
}
