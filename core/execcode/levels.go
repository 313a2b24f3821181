package execcode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// interpreter returns what runs scripts of a folder, and what keeps them in. How far the kernel keeps scripts in is tried with an interpreter
// of this machine only: one that a project brings could fail on purpose until nothing is left of it.
func (e *Engine) interpreter(ctx context.Context, dir string, mode Mode) (python, Isolation, error) {
	fixed := e.o.Python()
	if fixed != "" {
		if err := runnable(fixed); err != nil {
			return python{}, Isolation{}, fmt.Errorf("code_execution.python is %s: %w", fixed, err)
		}
		return e.trusted(ctx, []string{fixed})
	}
	machine := installed(os.Getenv)
	if mode == Strict {
		return e.trusted(ctx, machine)
	}
	chosen := activated(os.Getenv, "VIRTUAL_ENV")
	if p, iso, err := e.trusted(ctx, chosen); err == nil || ctx.Err() != nil {
		return p, iso, err
	}
	own, iso, err := e.trusted(ctx, append(activated(os.Getenv, "CONDA_PREFIX"), machine...))
	if dir == "" || ctx.Err() != nil || err != nil && !errors.Is(err, errNoPython) {
		return own, iso, err
	}
	if err != nil {
		iso = best() // all of it or nothing
	}
	ask := func(ctx context.Context, argv []string) (string, error) { return e.ask(ctx, argv, iso) }
	if p, berr := e.pythons.find(ctx, brought(dir), ask); berr == nil {
		return p, iso, nil
	} else if !errors.Is(berr, errNoPython) {
		e.o.Log.Info("the project's own Python is not used", "err", berr)
	}
	return own, iso, err
}

// trusted returns the first of the interpreters that works.
func (e *Engine) trusted(ctx context.Context, list []string) (python, Isolation, error) {
	p, err := e.pythons.find(ctx, list, unkept)
	if err != nil {
		return python{}, Isolation{}, err
	}
	iso, err := e.levels.of(ctx, e, p)
	return p, iso, err
}

// ask runs a command as a script would run, in an empty folder, and returns what it printed.
func (e *Engine) ask(ctx context.Context, argv []string, iso Isolation) (string, error) {
	temp, err := newTempDir()
	if err != nil {
		return "", err
	}
	limits := Limits{Stdout: 1 << 20}.orDefaults()
	col := newCollector(limits, nil, "")
	p, err := startLocal(launch{
		argv: argv, env: e.environ(temp.work(), temp), dir: temp.work(), temp: temp, policy: e.policyOf(Project, temp.work(), temp.work()),
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
		return "", fmt.Errorf("exit code %d %s", p.status(), lastLine(errs))
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

// tryAgain is how long a level is believed that is not the best: what kept the best from working may have been a passing trouble.
const tryAgain = 5 * time.Minute

// forget drops what was found, unless that was just now or was given, and reports whether it did.
func (l *levels) forget(file string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || l.fixed || time.Since(l.when) < time.Minute {
		return false
	}
	l.known = nil
	remember(file, func(m *remembered) { m.Levels = map[string]Isolation{} })
	return true
}

// of tries what could keep a script in, the best first, with a script that does nothing.
func (l *levels) of(ctx context.Context, e *Engine, py python) (Isolation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	top := best()
	if l.known != nil && (l.fixed || *l.known == top || time.Since(l.when) < tryAgain) {
		return *l.known, nil
	}
	system := fmt.Sprintf("%s uid %d, at most %s, landlock %d", kernelRelease(), os.Geteuid(), top, top.Landlock)
	if iso, ok := recall(e.o.Cache).Levels[system]; ok && iso == top { // a file that asks for less is not believed
		l.known = &iso
		return iso, nil
	}
	var last error
	for _, iso := range steps(top) {
		err := e.try(ctx, py, iso)
		if err == nil {
			l.known, l.when = &iso, time.Now()
			if iso == top {
				remember(e.o.Cache, func(m *remembered) { m.Levels[system] = iso })
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

// try runs an empty script under iso.
func (e *Engine) try(ctx context.Context, py python, iso Isolation) error {
	temp, err := newTempDir()
	if err != nil {
		return err
	}
	defer temp.remove()
	s := Script{Code: "pass", Dir: temp.work(), Limits: Limits{}.orDefaults(), Mode: Project}
	s.Limits.Timeout = probeTime
	col := newCollector(s.Limits, nil, "")
	p, err := startLocal(launch{
		argv: py.argv(), env: e.environ(s.Dir, temp), dir: s.Dir, temp: temp, policy: e.policyOf(s.Mode, s.Dir, temp.work()), iso: iso,
		limits: s.Limits, sink: col.write, rules: &e.rules,
	})
	if err != nil {
		return err
	}
	defer p.release()
	if err := load(p.ch, py); err != nil {
		p.kill(ctx)
		return err
	}
	r := run{e: e, s: s, p: p, line: newLine(p.ch), out: col, init: iso.PIDs}
	if res := r.drive(ctx); res.Status != Success {
		return fmt.Errorf("exit code %d: %s", res.ExitCode, res.Error)
	}
	return nil
}
