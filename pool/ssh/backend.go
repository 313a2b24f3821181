package ssh

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"hermes/core/crash"
	"hermes/core/event"
	"hermes/pool"
	"hermes/pool/runner"
	"hermes/pool/runner/wire"
	"hermes/pool/ssh/guard"
)

// Backend is one far host. All methods are safe for concurrent use.
type Backend struct {
	kind  *Kind
	spec  fullSpec
	rules *guard.Rules

	mu       sync.Mutex
	link     *link    // nil when down
	warnings []string // told with the next command
	before   cpu      // of the last Sample
}

// Start connects and brings the runner up.
func (b *Backend) Start(ctx context.Context, r pool.Report) error {
	b.dropConnection()
	s, err := readSettings(b.kind.opt.Home, b.kind.opt.ReadHere)
	if err != nil {
		return err
	}
	t, err := s.resolveTarget(ctx, b.spec)
	if err != nil {
		return err
	}
	r.Step(event.BackendStarting, "connecting to "+t.String())
	crash.Go("ssh runner", func() { // unpacking takes a moment, which connecting takes as well
		_, _ = b.kind.opt.Program("linux", "amd64")
		_, _ = b.kind.opt.Program("linux", "arm64")
	})
	c, err := dialTarget(ctx, t)
	if err != nil {
		return err
	}
	l, err := b.startRunner(ctx, c, t, r)
	if err != nil {
		c.Close()
		return err
	}
	if err := b.checkWorkdir(ctx, l); err != nil {
		return errors.Join(err, l.close(ctx))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.link, b.warnings = l, c.warnings
	b.before = cpu{}
	return nil
}

// startRunner puts the runner there and starts it.
func (b *Backend) startRunner(ctx context.Context, c *connection, t target, r pool.Report) (*link, error) {
	p, err := c.probeHost(ctx, b.kind.opt.Program)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.alias, err)
	}
	if err := c.installRunner(ctx, &p, func(done int64) { r.Progress("the runner", done, int64(p.program.Size)) }); err != nil {
		return nil, fmt.Errorf("%s: %w", t.alias, err)
	}
	l, err := c.startServer(ctx, p, t, b.kind.opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.alias, err)
	}
	return l, nil
}

// checkWorkdir says so when the configured directory is not there, before any command lands
// elsewhere.
func (b *Backend) checkWorkdir(ctx context.Context, l *link) error {
	dir := b.startDir(l)
	if b.spec.Workdir == "" || l.isDir(ctx, dir) {
		return nil
	}
	return fmt.Errorf("workdir %s does not exist on the host: make it there, or correct workdir of the back end", dir)
}

// startDir is where sessions start: the configured directory, else the login's home.
func (b *Backend) startDir(l *link) string {
	dir := b.spec.Workdir
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/') {
		dir = strings.TrimPrefix(rest, "/")
	}
	if path.IsAbs(dir) {
		return dir
	}
	return path.Join(l.home, dir)
}

// dropConnection lets go of a connection that is of no use any more.
func (b *Backend) dropConnection() {
	b.mu.Lock()
	l := b.link
	b.link = nil
	b.mu.Unlock()
	if l != nil {
		l.conn.Close()
	}
}

// Stop ends what runs there, the runner, and the connection.
func (b *Backend) Stop(ctx context.Context) error {
	b.mu.Lock()
	l := b.link
	b.link = nil
	b.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.close(ctx)
}

// Remove is Stop: the host is not ours to remove anything from. The runner in the cache stays.
func (b *Backend) Remove(ctx context.Context) error { return b.Stop(ctx) }

// Idles is true: a connection holds a process on the host.
func (b *Backend) Idles() bool { return true }

// Gone tells when the connection is lost.
func (b *Backend) Gone() <-chan error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link == nil {
		return nil
	}
	return b.link.gone
}

// currentLink returns the connection.
func (b *Backend) currentLink() (*link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link == nil {
		return nil, &pool.NotStarted{Err: errors.New("there is no connection to the host: the command was not started")}
	}
	return b.link, nil
}

// prepareCommand judges a command and completes it.
func (b *Backend) prepareCommand(s runner.Spec) (*link, runner.Spec, error) {
	judge := b.rules.Argv(s.Argv)
	if s.Command != "" {
		judge = b.rules.Command(s.Command)
	}
	if judge != nil {
		return nil, s, judge // not a NotStarted: nobody else shall run it
	}
	l, err := b.currentLink()
	if err != nil {
		return nil, s, err
	}
	if s.Shell = b.spec.Shell; s.Command != "" && s.Shell == "" && l.client.Info().Shell == "" {
		return nil, s, errors.New("the host has neither bash nor sh: run a program with its arguments instead of a command line")
	}
	s.Env = extraEnvironment(b.spec)
	s.Home = b.startDir(l) // the caller's wish is a folder of our machine, or what the configuration says
	if s.Dir != "" && !path.IsAbs(s.Dir) && s.Dir[0] != '~' {
		s.Dir = path.Join(l.home, s.Dir)
	}
	return l, s, nil
}

// Run runs a command to its end.
func (b *Backend) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	l, s, err := b.prepareCommand(s)
	if err != nil {
		return runner.Result{}, err
	}
	res, err := l.client.Run(ctx, s)
	if err != nil {
		return res, b.poolError(err)
	}
	res.Warnings = append(b.takeWarnings(), res.Warnings...)
	return res, nil
}

// Spawn starts a command in the background.
func (b *Backend) Spawn(s runner.Spec) (pool.Process, error) {
	l, s, err := b.prepareCommand(s)
	if err != nil {
		return nil, err
	}
	p, err := l.client.Start(s)
	if err != nil {
		return nil, b.poolError(err) // a nil *Process in the interface would not be nil
	}
	if more := b.takeWarnings(); len(more) > 0 {
		return warned{p, more}, nil
	}
	return p, nil
}

// warned is a process whose start had something to say about the connection.
type warned struct {
	*wire.Process
	more []string
}

func (w warned) Warnings() []string { return append(w.more, w.Process.Warnings()...) }

func (b *Backend) takeWarnings() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.warnings
	b.warnings = nil
	return w
}

// poolError makes an error of the protocol one of the pool.
func (b *Backend) poolError(err error) error {
	var never *wire.NotStarted
	if errors.As(err, &never) {
		return &pool.NotStarted{Err: never.Err}
	}
	return err
}

var (
	_ pool.Backend = (*Backend)(nil)
	_ pool.Sampler = (*Backend)(nil)
)
