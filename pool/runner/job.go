package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"hermes/core/crash"
)

// job is a command that runs, in the foreground or in the background.
type job struct {
	run      *Runner
	child    *child
	io       *plumbing
	out      *output
	dir      string // where it started
	warnings []string
	begun    time.Time
	inside   inside // of bubblewrap's namespace, once it has ended
	notMade  string // why there was no sandbox, and so nothing ran
}

// sandboxTries is how often bubblewrap is started for one command: the command itself begins at
// most once.
const sandboxTries = 5

// startJob starts a command. The caller must call finishCommand, and r.busy.Done after it.
func (r *Runner) startJob(s Spec, keep consumer) (*job, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if err := r.admitCommand(); err != nil {
		return nil, err
	}
	j, err := r.beginJob(&s, keep)
	if err != nil {
		r.busy.Done()
		return nil, err
	}
	return j, nil
}

func (r *Runner) beginJob(s *Spec, keep consumer) (*job, error) {
	dir, warnings, err := s.startDir()
	if err != nil {
		return nil, err
	}
	call, tag := r.nextCall()
	if c, ok := keep.(*capture); ok {
		c.spill = newSpill(s.SpillDir, tag)
	}
	j := &job{run: r, dir: dir, warnings: append(slices.Clone(s.Notes), warnings...), begun: time.Now()}
	if j.io, err = newPlumbing(s); err != nil {
		return nil, fmt.Errorf("the command was not started: %w", err)
	}
	l, err := j.io.makeLaunch(s, tag, dir)
	if err == nil {
		place, missing := r.lease.takeRow(call)
		if missing != nil {
			j.warnings = append(j.warnings, missing.Error())
		}
		j.child, err = r.forkChild(l, tag, place)
	}
	j.io.closeTheirs()
	if err != nil {
		j.io.closeOurs()
		return nil, err
	}
	j.out = &output{run: r, keep: keep, feed: newFeed(s.Sink), left: len(j.io.outs), eof: make(chan struct{})}
	if t, ok := keep.(tapped); ok {
		j.out.tap = t.tap
	}
	for _, p := range j.io.outs {
		j.out.startPump(p.file, p.stream)
	}
	if s.Stdin != nil && !s.Live {
		crash.Go("runner stdin", func() { _ = j.io.sendInput(s.Stdin, true) })
	}
	return j, nil
}

// finishCommand waits for the end, brings it about when ctx or the timeout says so, and closes
// everything but pipes that others still hold.
func (j *job) finishCommand(ctx context.Context, timeout time.Duration) (exit, error) {
	ended, timedOut := j.awaitEnd(ctx, timeout)
	var warnings []string
	if ended {
		warnings = j.endNamespace()
	} else {
		warnings = j.run.endTree(j.child)
	}
	var e exit
	err := errStuck
	if closesWithin(time.Second, j.child.exited) {
		e, err = j.child.reap()
	}
	j.out.settleAfterExit(j.run.opt.Drain)
	j.io.closeStdin()
	if err != nil {
		j.io.closeDir()
		return exit{}, err
	}
	if ended {
		j.notMade = j.whyNotMade(e)
	}
	e.timedOut, e.interrupted = !ended && timedOut, !ended && !timedOut
	e.warnings = warnings
	return e, nil
}

var errStuck = errors.New("the command could not be ended: the system does not let it go (it waits inside the kernel); it may still run")

// awaitEnd returns when the command ended by itself, or has to be ended, and why.
func (j *job) awaitEnd(ctx context.Context, timeout time.Duration) (ended, timedOut bool) {
	var late <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout - time.Since(j.begun))
		defer t.Stop()
		late = t.C
	}
	select {
	case <-j.child.exited:
	case <-late:
		timedOut = true
	case <-ctx.Done():
		timedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
	case <-j.run.ctx.Done():
	}
	// What ended by itself at the last moment was not ended by us.
	return closesWithin(0, j.child.exited), timedOut
}

func (j *job) makeResult(e exit) Result {
	r := Result{
		ExitCode: e.code, Signal: e.signal, TimedOut: e.timedOut, Interrupted: e.interrupted,
		Dir: j.dir, Warnings: append(j.warnings, e.warnings...), Took: time.Since(j.begun),
	}
	switch {
	case e.timedOut:
		r.ExitCode = ExitTimeout
	case e.interrupted:
		r.ExitCode = ExitInterrupt
	default:
		if dir := j.io.finalDir(); dir != "" {
			r.Dir = dir
		}
	}
	j.io.closeDir()
	return r
}

// outlet is our end of something that the command prints to.
type outlet struct {
	file   *os.File
	stream Stream
}
