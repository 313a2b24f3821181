package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"hermes/core/backend"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/pool/runner"
)

// lease is a back end that is held ready for one command.
type lease struct {
	*heldUse
	m     *machine
	notes []string // warnings
}

// attemptOrFallBack runs one command in the place that it is meant for, or else in the one that may
// stand in for that. Run begins the command; on success the caller releases the lease.
func (p *Pool) attemptOrFallBack(ctx context.Context, s *session, r backend.Request, run func(*lease) error) (*lease, error) {
	name, warning, err := p.chooseBackend(r.Session, r.Backend)
	if err != nil {
		return nil, err
	}
	if r.Files && warning != "" {
		return nil, errors.New(warning)
	}
	var notes []string
	if warning != "" {
		notes = append(notes, warning)
	}
	l, err := p.runOrRetryOnce(ctx, s, r, name, notes, run)
	if err == nil || r.Files || ctx.Err() != nil || !neverBegan(err) || errors.Is(err, errClosed) {
		return l, err
	}
	c := p.config()
	failed, ok := c.Backends[name]
	if def := c.Backends[c.Default]; ok && name != c.Default {
		if why := refuseFallback(c.Fallback, failed, def); why != "" {
			return nil, fmt.Errorf("%w. It was not run elsewhere: %s", err, why)
		}
		p.tellFallback(s, name, err)
		return p.runOrRetryOnce(ctx, s, r, c.Default, append(notes, fmt.Sprintf("%v: '%s' ran it instead", err, c.Default)), run)
	}
	return nil, err
}

// neverBegan says that a command certainly did not begin.
func neverBegan(err error) bool {
	var no *NotStarted
	return errors.As(err, &no)
}

// runOrRetryOnce tries to run one command in one back end, and once more when the back end turns
// out to be gone before the command began.
func (p *Pool) runOrRetryOnce(ctx context.Context, s *session, r backend.Request, name string, notes []string, run func(*lease) error) (*lease, error) {
	for again := false; ; again = true {
		l, err := p.holdBackend(ctx, s, r, name)
		if err != nil {
			return nil, &NotStarted{err}
		}
		l.notes = slices.Concat(notes, l.warnings)
		if err = l.beginCommand(r, run); err == nil {
			return l, nil
		}
		why := l.forceReason()
		switch {
		case why != "" && neverBegan(err):
			return nil, errors.New(why + ": the command was not started")
		case ctx.Err() != nil || !neverBegan(err):
			return nil, fmt.Errorf("backend '%s': %w", name, err)
		}
		l.m.loseEpoch(l.epoch, err)
		if again {
			return nil, &NotStarted{fmt.Errorf("backend '%s' was lost twice before the command began: %w", name, err)}
		}
	}
}

// beginCommand begins the command. Unless that succeeds the back end is let go, also when a Sink
// panics.
func (l *lease) beginCommand(r backend.Request, run func(*lease) error) (err error) {
	begun := false
	defer func() {
		if !begun {
			l.release()
		}
	}()
	showWarnings(r, l.notes)
	err = run(l)
	begun = err == nil
	return err
}

// holdBackend makes a back end ready for one command and holds it.
func (p *Pool) holdBackend(ctx context.Context, s *session, r backend.Request, name string) (*lease, error) {
	m, err := p.machineOf(s, name)
	if err != nil {
		return nil, err
	}
	u, err := p.holdWhenUp(ctx, m, r.Session, shownCommand(r))
	if err != nil {
		return nil, err
	}
	return &lease{heldUse: u, m: m}, nil
}

// holdWhenUp holds a back end as soon as the session may have it up and it is.
func (p *Pool) holdWhenUp(ctx context.Context, m *machine, session, command string) (*heldUse, error) {
	admitted, err := p.admitCall(ctx, m)
	if err != nil {
		return nil, err
	}
	defer admitted()
	return m.acquireUse(ctx, session, command)
}

// tellFallback says on the screen that the default stands in for a back end, once for each failure.
func (p *Pool) tellFallback(s *session, name string, err error) {
	p.mu.Lock()
	news := !s.told[name]
	s.told[name] = true
	p.mu.Unlock()
	if def := p.config().Default; news {
		n := event.Notice{Level: event.Warn, Text: err.Error(), Hint: fmt.Sprintf("'%s' runs its commands until it can be started again", def)}
		p.bus.Publish(event.Header{Session: s.uid}, n)
	}
}

// shownCommand is what a panel shows of a command.
func shownCommand(r backend.Request) string {
	return cmp.Or(r.Shown, r.Command, strings.Join(r.Argv, " "))
}

// Exec runs a command to its end. Cancelling ctx ends its whole tree and returns the partial
// result.
func (p *Pool) Exec(ctx context.Context, r backend.Request) (backend.Result, error) {
	s, err := p.enterSession(r.Session)
	if err != nil {
		return backend.Result{}, err
	}
	defer p.leaveSession(s)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	var res runner.Result
	l, err := p.attemptOrFallBack(ctx, s, r, func(l *lease) (err error) {
		mine, end := context.WithCancel(ctx)
		defer end()
		l.bindForceEnd(end)
		res, err = l.backend.Run(mine, p.runnerSpec(r, l.spec))
		return err
	})
	if err != nil {
		return backend.Result{}, err
	}
	defer l.release()
	if !r.Files {
		p.rememberDir(s, l.spec.Name, res.Dir, r.Order)
	}
	if why := l.forceReason(); why != "" {
		res.Warnings = append(res.Warnings, why)
	}
	return commandResult(r, l, res), nil
}

// Start runs a command in the background; it outlives ctx and ends with the session.
func (p *Pool) Start(ctx context.Context, r backend.Request) (backend.Process, error) {
	s, err := p.enterSession(r.Session)
	if err != nil {
		return backend.Process{}, err
	}
	entered := true
	defer func() {
		if entered {
			p.leaveSession(s)
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	r.Sink = inTurn(r.Sink)
	var run Process
	l, err := p.attemptOrFallBack(ctx, s, r, func(l *lease) (err error) {
		spec := p.runnerSpec(r, l.spec)
		spec.Live = r.Stdin == nil
		run, err = l.backend.Spawn(spec)
		return err
	})
	if err != nil {
		return backend.Process{}, err
	}
	proc := p.adoptProcess(s, r, l.spec.Name, run, append(l.notes, run.Warnings()...))
	l.bindForceEnd(func() { crash.Go("pool end process", proc.forceEnd(l.forceReason())) })
	entered = false // whoever watches it leaves
	crash.Go("pool process", func() {
		defer p.leaveSession(s)
		<-run.Done()
		proc.recordEnd()
		l.release()
		p.publishEnd(proc)
	})
	if s.ctx.Err() != nil { // closed meanwhile: nobody else will end it
		_ = run.Kill(ctx)
	}
	showWarnings(r, run.Warnings())
	return proc.status(), nil
}

// showWarnings shows warnings where the output is shown, before it.
func showWarnings(r backend.Request, warnings []string) {
	if r.Sink == nil {
		return
	}
	for _, w := range warnings {
		r.Sink(event.Note, []byte("["+w+"]\n"))
	}
}

// inTurn makes a Sink one that warnings and output may reach from two sides.
func inTurn(sink func(event.Stream, []byte)) func(event.Stream, []byte) {
	if sink == nil {
		return nil
	}
	var mu sync.Mutex
	return func(from event.Stream, data []byte) {
		mu.Lock()
		defer mu.Unlock()
		sink(from, data)
	}
}

// runnerSpec translates a request. Where the session is at home on this machine means nothing
// elsewhere.
func (p *Pool) runnerSpec(r backend.Request, at Spec) runner.Spec {
	current := p.sessionDir(r.Session, at.Name)
	if !at.about.Local {
		r.Home = at.Workdir
	}
	s := runner.Spec{
		Session: r.Session,
		Command: r.Command, Argv: r.Argv, Extra: r.Env, Stdin: r.Stdin, Timeout: r.Timeout,
		Dir: current, Home: r.Home, MaxOutput: r.MaxOutput, SpillDir: r.SpillDir, Merge: r.Merge, Channel: r.Channel, Lasting: r.Lasting, Files: r.Files,
	}
	if r.Dir != "" {
		s.Dir, s.Strict = r.Dir, true
		if !path.IsAbs(r.Dir) && r.Dir[0] != '~' && (current != "" || r.Home != "") {
			s.Dir = path.Join(cmp.Or(current, r.Home), r.Dir)
		}
	}
	if r.PTY != nil {
		s.Size = terminalSize(*r.PTY)
	}
	if r.Sink != nil {
		s.Sink = func(from runner.Stream, data []byte) { r.Sink(eventStream(from), data) }
	}
	return s
}

// terminalSize makes a terminal size that exists: a pane can be laid out with none.
func terminalSize(s backend.Size) *runner.Size {
	clamp := func(n int) uint16 { return uint16(min(max(n, 1), 10_000)) }
	return &runner.Size{Rows: clamp(s.Rows), Cols: clamp(s.Cols)}
}

func eventStream(s runner.Stream) event.Stream {
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

func commandResult(r backend.Request, l *lease, res runner.Result) backend.Result {
	return backend.Result{
		Backend: l.spec.Name, Requested: r.Backend,
		Output: res.Output, Total: res.Total, Truncated: res.Truncated, Cut: res.Cut, Spill: res.Spill, SpillCut: res.SpillCut,
		ExitCode: res.ExitCode, Signal: res.Signal, TimedOut: res.TimedOut, Interrupted: res.Interrupted,
		Dir: res.Dir, Warnings: append(l.notes, res.Warnings...), Took: res.Took,
	}
}
