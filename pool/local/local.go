// Package local is the kind of back end that is this machine itself: the user's own files and
// programs, without a sandbox.
//
// Commands get the user's environment without what looks like a secret (env.go) and run through
// pool/runner in this process.
package local

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"hermes/core/confine"
	"hermes/core/files"
	"hermes/core/realpath"
	"hermes/pool"
	"hermes/pool/runner"
)

// Name is the kind's name in the configuration.
const Name = "local"

// Kind makes back ends that are this machine. All of them share one Runner.
type Kind struct {
	run   *runner.Runner
	shell func() string
	probe func(confine.Mode, confine.Engine) (confine.Engine, error)
	told  told
}

// New returns the kind. Close it after the pool.
func New() *Kind { return NewWith(runner.Options{}) }

// NewWith is New with other times for ending commands.
func NewWith(o runner.Options) *Kind {
	return &Kind{run: runner.New(o), shell: sync.OnceValue(findShell), probe: confine.Choose}
}

// Close ends all commands that still run.
func (k *Kind) Close(ctx context.Context) error { return k.run.Close(ctx) }

// Describe says that there is only one of this machine, whatever the session.
func (k *Kind) Describe(s pool.Spec) pool.About {
	mode := specOf(s).Sandbox
	a := pool.About{Traits: Declared().Traits, Sandbox: mode}
	if mode != "" && mode != string(confine.Off) {
		a.Where = mode + " sandbox"
	}
	return a
}

// Open describes a back end; nothing runs yet.
func (k *Kind) Open(_ string, s pool.Spec) (pool.Backend, error) {
	home := s.Workdir
	if home == "" {
		home = startDir()
	}
	return &machine{kind: k, spec: specOf(s), home: home}, nil
}

// findShell prefers bash, which is what models write for, to the plain sh that every machine has.
func findShell() string {
	if path, err := exec.LookPath("bash"); err == nil {
		return path
	}
	return "/bin/sh"
}

func startDir() string {
	if dir, err := os.Getwd(); err == nil {
		return dir
	}
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	return "/"
}

// machine is one configured name for this machine.
type machine struct {
	kind *Kind
	spec fullSpec
	home string
}

// Start has nothing to bring up; it checks what every command will need.
func (m *machine) Start(context.Context, pool.Report) error {
	info, err := os.Stat(m.home)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", m.home)
	}
	if err != nil {
		return fmt.Errorf("workdir of this machine: %w", err)
	}
	if _, err := m.confineEngine(); err != nil {
		return fmt.Errorf("terminal.sandbox is %s, and this machine cannot have that, so nothing runs here: %w. "+
			"Use a container, or set terminal.sandbox: off", m.confineMode(), err)
	}
	if _, err := exec.LookPath(m.shellPath()); err != nil {
		return fmt.Errorf("shell of this machine: %w", err)
	}
	return nil
}

func (m *machine) shellPath() string {
	if m.spec.Shell != "" {
		return m.spec.Shell
	}
	return m.kind.shell()
}

// Stop has nothing to stop.
func (m *machine) Stop(context.Context) error { return nil }

// Remove has nothing to remove.
func (m *machine) Remove(context.Context) error { return nil }

// Idles is false: this machine costs nothing when nobody uses it.
func (m *machine) Idles() bool { return false }

// Gone never tells: this machine outlives the program.
func (m *machine) Gone() <-chan error { return nil }

// Run runs a command to its end.
func (m *machine) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Files {
		return m.serveFiles(ctx, s), nil
	}
	return m.kind.run.Run(ctx, m.completeSpec(s))
}

// serveFiles answers a request about files. Tools see those of this machine without asking; a kind
// that makes its places out of this one is asked.
func (m *machine) serveFiles(ctx context.Context, s runner.Spec) runner.Result {
	home, _ := os.UserHomeDir() // without one, ~ stays as it is written
	dir := cmp.Or(s.Home, m.home)
	if s.Dir != "" {
		dir = realpath.Absolute(home, dir, s.Dir)
	}
	answer := files.Serve(ctx, files.Local{Home: home, Dir: dir}, s.Stdin)
	return runner.Result{Output: answer, Total: int64(len(answer)), Dir: s.Dir, Interrupted: ctx.Err() != nil}
}

// Spawn starts a command in the background.
func (m *machine) Spawn(s runner.Spec) (pool.Process, error) {
	p, err := m.kind.run.Start(m.completeSpec(s))
	if err != nil {
		return nil, err // a nil *Process in the interface would not be nil
	}
	return p, nil
}

func (m *machine) completeSpec(s runner.Spec) runner.Spec {
	s.Shell = m.shellPath()
	if s.Home == "" {
		s.Home = m.home
	}
	env, note := m.kind.told.commandEnv(s, m.spec)
	if note != "" {
		s.Notes = append(slices.Clone(s.Notes), note)
	}
	s.Env = runner.Environ(env, s.Size != nil, m.spec.Env, s.Extra)
	if mode := m.confineMode(); mode != "" && mode != confine.Off {
		s.Confine = &confine.Policy{Mode: mode, Project: projectOf(s.Home), Hide: m.spec.Hide, Path: pathDirs(os.Getenv("PATH")), Lasting: s.Lasting}
		s.Confine.Engine, _ = m.confineEngine() // Start said when there is none; none is Landlock's error then
	}
	return s
}

func (m *machine) confineEngine() (confine.Engine, error) {
	return m.kind.probe(m.confineMode(), confine.Engine(m.spec.SandboxEngine))
}

func (m *machine) confineMode() confine.Mode { return confine.Mode(m.spec.Sandbox) }

// projectOf is the repository around a folder, else the folder.
func projectOf(dir string) string {
	home, _ := os.UserHomeDir()
	for up := dir; up != "/" && up != "." && up != home; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			return up
		}
	}
	return dir
}

// pathDirs are the folders of PATH.
func pathDirs(path string) (out []string) {
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			out = append(out, dir)
		}
	}
	return out
}

var _ pool.Kind = (*Kind)(nil)
