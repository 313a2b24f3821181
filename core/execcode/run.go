package execcode

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/core/clip"
	"hermes/core/crash"
	"hermes/core/deadline"
	"hermes/core/tool"
)

const (
	maxCode = 1 << 20
	// killGrace is between SIGTERM and SIGKILL of a script that ran out of time; a person who
	// interrupts waits less, because the agent does: after 0.8 s it leaves a call behind.
	killGrace      = 5 * time.Second
	interruptGrace = 400 * time.Millisecond
	killTime       = 10 * time.Second      // for SIGKILL to take effect
	watchEvery     = 25 * time.Millisecond // a bomb of root's makes thousands of processes in a fifth of a second
)

// Run runs a script to its end.
func (e *Engine) Run(ctx context.Context, s Script) Result {
	began := time.Now()
	s.Limits = s.Limits.orDefaults()
	s.Mode = cmp.Or(s.Mode, Project)
	s.Tools = callableTools(s.Tools)
	res := e.runScript(ctx, s)
	res.Seconds = math.Round(time.Since(began).Seconds()*1000) / 1000
	return res
}

func (e *Engine) runScript(ctx context.Context, s Script) Result {
	switch {
	case len(s.Code) > maxCode:
		return notStarted("the script has %d bytes, more than %d: put data into a file and read that", len(s.Code), maxCode)
	case strings.ContainsRune(s.Code, 0):
		return notStarted("the script contains a NUL byte: write it as \\x00 inside of a string")
	case !utf8.ValidString(s.Code):
		return notStarted("the script is not valid UTF-8")
	}
	if s.Kernel {
		return e.runKernel(ctx, s)
	}
	if s.Reset {
		e.kernels.dropMatching(func(k kernelKey) bool { return k.session == s.Session && k.backend == s.Backend })
	}
	col := newCollector(s.Limits, s.Output, "")
	p, err := e.startInterpreter(ctx, s, col.write)
	if err != nil {
		return e.failureResult(ctx, err)
	}
	defer p.release()
	r := run{e: e, s: s, p: p, line: newLine(p.channel()), out: col, init: isInit(p)}
	return r.driveScript(ctx)
}

// notStarted is the result of a script that was not started.
func notStarted(format string, args ...any) Result {
	return Result{Status: Failure, Error: fmt.Sprintf(format, args...), ExitCode: 1, Isolation: nothingRun}
}

const nothingRun = "none: nothing was run"

// Began says whether anything of the script may have run.
func (r Result) Began() bool { return r.Isolation != nothingRun }

func (e *Engine) failureResult(ctx context.Context, err error) Result {
	if ctx.Err() != nil {
		res := notStarted("%s", textInterrupted)
		res.Status, res.Output, res.ExitCode = Interrupted, textInterrupted, 130
		return res
	}
	return notStarted("%v", err)
}

func isInit(p process) bool {
	l, ok := p.(*local)
	return ok && l.iso.PIDs
}

// run is one script in a process.
type run struct {
	e      *Engine
	s      Script
	p      process
	line   *line
	out    *collector
	init   bool   // the process is the init of a namespace
	mark   string // of a kernel: what ends each stream
	kernel bool
	again  bool // a kernel has run a script before
	alive  bool // set when a kernel can take the next script
}

// served is how the channel's side of a run ended.
type served struct {
	code int
	done bool
}

// driveScript hands the script over, answers its calls and waits for its end, the timeout's or
// ctx's.
func (r *run) driveScript(ctx context.Context) Result {
	calls, cancel := context.WithCancel(ctx)
	defer cancel()
	clock := deadline.New(r.s.Limits.Timeout)
	defer clock.Stop()
	d := &dispatcher{line: r.line, call: r.s.Call, names: toolNames(r.s.Tools), limit: r.s.Limits.Calls, clock: clock, open: map[int64]bool{}, stays: r.kernel}
	over := make(chan served, 1)
	crash.Go("script calls", func() {
		var end served
		if r.sendJob() == nil {
			end.code, end.done = d.serveCalls(calls)
		}
		over <- end
	})
	status, code, why := r.awaitEnd(ctx, clock, over, cancel)
	cancel()
	res := r.makeResult(status, code, why)
	res.Calls = d.callCount()
	return res
}

func toolNames(tools []tool.Spec) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.Name
	}
	return out
}

// sendJob sends the job.
func (r *run) sendJob() error {
	text, err := stubModule(r.s.Tools)
	if err != nil {
		return err
	}
	file := "/hermes/script.py"
	if l, ok := r.p.(*local); ok {
		file = path.Join(l.temp.workDir(), "script.py")
	}
	j := job{Code: r.s.Code, File: file, Stub: text, Path: r.e.projectPaths(r.s), Mark: strings.TrimPrefix(r.mark, "\x00"), Kernel: r.kernel, Init: r.init}
	if r.again {
		return r.line.writeJSON(j.kernelFrame())
	}
	_, err = r.line.ch.Write(j.loaderBlock())
	return err
}

// awaitEnd waits for one of the ends of a run and brings the process to it.
func (r *run) awaitEnd(ctx context.Context, clock *deadline.Clock, over chan served, cancel func()) (status Status, code int, why string) {
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	before := countProcesses()
	ch := over
	for {
		select {
		case <-r.p.done():
			return statusOf(r.p.status()), r.p.status(), ""
		case end := <-ch:
			if end.done && r.kernel {
				r.alive = true
				return statusOf(end.code), end.code, ""
			}
			ch = nil // the script closed its channel; it may go on without
		case <-clock.C:
			cancel()
			r.stopScript(over, killGrace)
			return TimedOut, 124, fmt.Sprintf(textTimeout, int(r.s.Limits.Timeout.Seconds()))
		case <-ctx.Done():
			r.stopScript(over, interruptGrace)
			return Interrupted, 130, textInterrupted
		case <-watch.C:
			if l, ok := r.p.(*local); ok && hasTooMany(l.cmd.Process.Pid, l.iso, r.s.Limits.Procs, before) {
				cancel()
				r.kill()
				return Failure, 137, fmt.Sprintf("the script was killed: it had more than %d processes", r.s.Limits.Procs)
			}
		}
	}
}

func statusOf(code int) Status {
	if code == 0 {
		return Success
	}
	return Failure
}

// stopScript ends a script that was told to: a kernel's is interrupted first, so that its variables
// survive.
func (r *run) stopScript(over <-chan served, grace time.Duration) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	if r.kernel {
		r.p.interrupt()
	} else {
		r.p.terminate()
		over = nil
	}
	for {
		select {
		case <-r.p.done():
			return
		case end := <-over:
			if end.done {
				r.alive = true
				return
			}
			over = nil
		case <-timer.C:
			r.kill()
			return
		}
	}
}

func (r *run) kill() {
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	r.p.kill(ctx)
}

// makeResult makes the result of what happened and what was printed.
func (r *run) makeResult(status Status, code int, why string) Result {
	if r.alive {
		select {
		case <-r.out.over:
		case <-time.After(drainTime):
		}
	}
	out, errs := r.out.texts(r.e.o.Clean)
	res := Result{Status: status, Output: out, ExitCode: code, Error: why, Isolation: r.p.isolation(), Backend: r.s.Backend}
	if status == Success {
		return res
	}
	if strings.TrimSpace(errs) != "" {
		res.Output = joinLines(out, "--- stderr ---\n"+strings.TrimRight(errs, "\n"))
	}
	if why != "" && status != Failure {
		res.Output = joinLines(res.Output, why)
	}
	if why == "" {
		res.Error = cmp.Or(clip.LastLine(errs), exitText(code))
	}
	return res
}

func joinLines(a, b string) string {
	if a == "" || strings.HasSuffix(a, "\n") {
		return a + b
	}
	return a + "\n" + b
}

func exitText(code int) string {
	text := fmt.Sprintf("Script exited with code %d", code)
	switch code {
	case 134:
		text += " (it aborted)"
	case 137:
		text += " (killed, often because memory ran out)"
	case 139:
		text += " (it crashed: segmentation fault)"
	case 153:
		text += " (it wrote a file larger than the limit)"
	}
	return text
}
