package execcode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"hermes/core/clip"

	"golang.org/x/sys/unix"
)

// interpreterFor returns what runs scripts of a folder, and what keeps them in. How far the kernel
// keeps scripts in is tried with an interpreter of this machine only: one that a project brings
// could fail on purpose until nothing is left of it.
func (e *Engine) interpreterFor(ctx context.Context, dir string, mode Mode) (python, Isolation, error) {
	fixed := e.o.Python()
	if fixed != "" {
		if err := checkRunnable(fixed); err != nil {
			return python{}, Isolation{}, fmt.Errorf("code_execution.python is %s: %w", fixed, err)
		}
		return e.firstWorking(ctx, []string{fixed})
	}
	machine := installedPythons(os.Getenv)
	if mode == Strict {
		return e.firstWorking(ctx, machine)
	}
	chosen := activatedPythons(os.Getenv, "VIRTUAL_ENV")
	if p, iso, err := e.firstWorking(ctx, chosen); err == nil || ctx.Err() != nil {
		return p, iso, err
	}
	own, iso, err := e.firstWorking(ctx, append(activatedPythons(os.Getenv, "CONDA_PREFIX"), machine...))
	if dir == "" || ctx.Err() != nil || err != nil && !errors.Is(err, errNoPython) {
		return own, iso, err
	}
	if err != nil {
		iso = bestIsolation() // all of it or nothing
	}
	ask := func(ctx context.Context, argv []string) (string, error) { return e.runBriefly(ctx, argv, iso) }
	if p, berr := e.pythons.firstUsable(ctx, projectPythons(dir), ask); berr == nil {
		return p, iso, nil
	} else if !errors.Is(berr, errNoPython) {
		e.o.Log.Info("the project's own Python is not used", "err", berr)
	}
	return own, iso, err
}

// firstWorking returns the first of the interpreters that works.
func (e *Engine) firstWorking(ctx context.Context, list []string) (python, Isolation, error) {
	p, err := e.pythons.firstUsable(ctx, list, askUnconfined)
	if err != nil {
		return python{}, Isolation{}, err
	}
	iso, err := e.levels.isolationFor(ctx, e, p)
	return p, iso, err
}

// runBriefly runs a command as a script would run, in an empty folder, and returns what it printed.
func (e *Engine) runBriefly(ctx context.Context, argv []string, iso Isolation) (string, error) {
	temp, err := newTempDir()
	if err != nil {
		return "", err
	}
	limits := Limits{Stdout: 1 << 20}.orDefaults()
	col := newCollector(limits, nil, "")
	p, err := startLocal(launch{
		argv: argv, env: e.scriptEnviron(temp.workDir(), temp, nil), dir: temp.workDir(), temp: temp, policy: e.policyOf(Project, temp.workDir(), temp.workDir()),
		iso: iso, limits: limits, sink: col.write, rules: &e.rules,
	})
	if err != nil {
		temp.remove()
		return "", err
	}
	defer p.release()
	select {
	case <-p.done():
	case <-ctx.Done():
		stop, cancel := context.WithTimeout(context.Background(), killTime)
		defer cancel()
		p.kill(stop)
		return "", ctx.Err()
	}
	out, errs := col.texts(func(b []byte) string { return strings.ToValidUTF8(string(b), "") })
	if p.status() != 0 {
		return "", fmt.Errorf("exit code %d %s", p.status(), clip.LastLine(errs))
	}
	return out, nil
}

// levels remembers what the kernel gave.
type levels struct {
	mu    sync.Mutex
	known *Isolation
	when  time.Time // of the try; zero when the file knew
	fixed bool      // it was given
}

// tryAgain is how long a level is believed that is not the best: what kept the best from working
// may have been a passing trouble.
const tryAgain = 5 * time.Minute

// forgetStale drops what was found, unless that was just now or was given, and reports whether it
// did.
func (l *levels) forgetStale(file string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || l.fixed || time.Since(l.when) < time.Minute {
		return false
	}
	l.known = nil
	changeCache(file, func(m *remembered) { m.Levels = map[string]Isolation{} })
	return true
}

// isolationFor tries what could keep a script in, the best first, with a script that does nothing.
func (l *levels) isolationFor(ctx context.Context, e *Engine, py python) (Isolation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	top := bestIsolation()
	if l.known != nil && (l.fixed || *l.known == top || time.Since(l.when) < tryAgain) {
		return *l.known, nil
	}
	system := fmt.Sprintf("%s uid %d, at most %s, landlock %d", kernelRelease(), os.Geteuid(), top, top.Landlock)
	if iso, ok := readCache(e.o.Cache).Levels[system]; ok && iso == top { // a file that asks for less is not believed
		l.known = &iso
		return iso, nil
	}
	var last error
	for _, iso := range isolationSteps(top) {
		err := e.tryIsolation(ctx, py, iso)
		if err == nil {
			l.known, l.when = &iso, time.Now()
			if iso == top {
				changeCache(e.o.Cache, func(m *remembered) { m.Levels[system] = iso })
			}
			return iso, nil
		}
		if ctx.Err() != nil {
			return iso, ctx.Err()
		}
		e.o.Log.Info("scripts cannot be kept in this way", "isolation", iso.String(), "err", err)
		last = err
	}
	return Isolation{}, fmt.Errorf("no script can be started: %w", last)
}

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// tryIsolation runs an empty script under iso.
func (e *Engine) tryIsolation(ctx context.Context, py python, iso Isolation) error {
	temp, err := newTempDir()
	if err != nil {
		return err
	}
	defer temp.remove()
	s := Script{Code: "pass", Dir: temp.workDir(), Limits: Limits{}.orDefaults(), Mode: Project}
	s.Limits.Timeout = probeTime
	col := newCollector(s.Limits, nil, "")
	p, err := startLocal(launch{
		argv: py.argv(), env: e.scriptEnviron(s.Dir, temp, nil), dir: s.Dir, temp: temp, policy: e.policyOf(s.Mode, s.Dir, temp.workDir()), iso: iso,
		limits: s.Limits, sink: col.write, rules: &e.rules,
	})
	if err != nil {
		return err
	}
	defer p.release()
	if err := sendLoader(p.ch, py); err != nil {
		p.kill(ctx)
		return err
	}
	r := run{e: e, s: s, p: p, line: newLine(p.ch), out: col, init: iso.PIDs}
	if res := r.driveScript(ctx); res.Status != Success {
		return fmt.Errorf("exit code %d: %s", res.ExitCode, res.Error)
	}
	return nil
}
