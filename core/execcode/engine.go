package execcode

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hermes/core/backend"
	"hermes/core/crash"
)

// Options of an Engine. Env is required.
type Options struct {
	// Env is the environment of scripts, cleaned: see childenv. It is asked for at every run.
	Env func() []string
	// Python returns the interpreter that the settings name; "" means that one is looked for.
	Python func() string
	// Homes are folders of the program that no script may read.
	Homes []string
	// Pool runs scripts in other back ends. May be nil.
	Pool backend.Pool
	// Clean makes printed bytes text for a model: valid UTF-8, no control sequences. nil repairs
	// the UTF-8 only.
	Clean func([]byte) string
	// Cache is a file that keeps what was found out about Python and the kernel for the next start;
	// "" keeps nothing.
	Cache string
	// Isolation is used without trying when it is set: for measurements of what it costs.
	Isolation *Isolation
	Log       *slog.Logger
}

// Engine runs scripts. All methods are safe for concurrent use.
type Engine struct {
	o       Options
	pythons pythons
	levels  levels
	rules   ruleCache
	kernels kernels
	swept   sync.Once
}

// New returns an engine. It starts nothing and looks at nothing.
func New(o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Python == nil {
		o.Python = func() string { return "" }
	}
	if o.Clean == nil {
		o.Clean = func(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
	}
	e := &Engine{o: o, levels: levels{known: o.Isolation, fixed: o.Isolation != nil}, pythons: pythons{file: o.Cache}}
	e.kernels.all = map[kernelKey]*kernel{}
	return e
}

// Close ends all kernels.
func (e *Engine) Close() {
	e.kernels.closeAll()
	e.rules.close()
}

// Forget ends the kernels of a session.
func (e *Engine) Forget(session string) { e.kernels.dropSession(session) }

// Report is what Probe found.
type Report struct {
	Python    string // path of the interpreter
	Version   string // "3.11"
	Isolation Isolation
}

// Probe says what a script in dir would run on; the error says why none can. The first call takes
// some 100 ms, later ones nothing.
func (e *Engine) Probe(ctx context.Context, dir string) (Report, error) {
	py, iso, err := e.interpreterFor(ctx, dir, Project)
	if err != nil {
		return Report{}, err
	}
	return Report{Python: py.path, Version: fmt.Sprintf("%d.%d", py.version[0], py.version[1]), Isolation: iso}, nil
}

// startInterpreter starts an interpreter for a script, here or in its back end. Its channel is
// open; it waits for a job.
func (e *Engine) startInterpreter(ctx context.Context, s Script, out sink) (process, error) {
	e.swept.Do(func() { crash.Go("script leftovers", sweepTemp) })
	if s.Backend != "" {
		return e.startRemote(ctx, s, out)
	}
	p, err := e.startHere(ctx, s, out)
	if err != nil && ctx.Err() == nil && e.levels.forgetStale(e.o.Cache) { // what held when it was tried may have been switched off since
		p, err = e.startHere(ctx, s, out)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// startHere starts an interpreter on this machine.
func (e *Engine) startHere(ctx context.Context, s Script, out sink) (*local, error) {
	py, iso, err := e.interpreterFor(ctx, s.Dir, s.Mode)
	if err != nil {
		return nil, err
	}
	temp, err := newTempDir()
	if err != nil {
		return nil, fmt.Errorf("no temporary folder for the script: %w", err)
	}
	dir := s.Dir
	if s.Mode == Strict {
		dir = temp.workDir()
	} else if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		temp.remove()
		return nil, fmt.Errorf("the session's folder %s is not there any more", dir)
	}
	p, err := startLocal(launch{
		argv: py.argv(), env: e.scriptEnviron(dir, temp, s.Env), dir: dir, temp: temp, policy: e.policyOf(s.Mode, dir, temp.workDir()), iso: iso,
		limits: s.Limits, sink: out, rules: &e.rules,
	})
	if err != nil {
		temp.remove()
		return nil, err
	}
	if err := sendLoader(p.ch, py); err != nil {
		p.kill(context.Background())
		p.release()
		return nil, fmt.Errorf("the script's Python ended at once: %w", err)
	}
	return p, nil
}

// sendLoader gives an interpreter what runs before a script.
func sendLoader(ch *os.File, py python) error {
	_, err := ch.Write(loaderBlock('m', py.code))
	return err
}

// scriptEnviron is the script's environment.
func (e *Engine) scriptEnviron(dir string, temp *tempDir, passed map[string]string) []string {
	var env []string
	for _, kv := range append(e.o.Env(), environOf(passed)...) {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "TMPDIR", "PWD", "OLDPWD":
		default:
			env = append(env, kv)
		}
	}
	return append(env, "TMPDIR="+temp.workDir(), "PWD="+dir, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1")
}

// environOf are variables as lines NAME=value, sorted.
func environOf(vars map[string]string) []string {
	out := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out
}

// projectPaths are added to sys.path of a project's script, behind everything else: nothing of the
// project takes the place of a module that Python itself needs.
func (e *Engine) projectPaths(s Script) []string {
	if s.Mode == Strict || s.Backend != "" {
		return nil
	}
	out := []string{s.Dir}
	for _, kv := range e.o.Env() {
		if list, ok := strings.CutPrefix(kv, "PYTHONPATH="); ok {
			out = append(out, filepath.SplitList(list)...)
		}
	}
	return out
}
