package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hermes/pool"
	"hermes/pool/runner"
	"hermes/pool/runner/wire"
)

// Backend is one container of one session. It implements pool.Backend, pool.Puller and
// pool.Sampler.
type Backend struct {
	kind    *Kind
	engine  *engine
	spec    fullSpec
	session string

	mu       sync.Mutex
	conn     *connection // nil when it is not up
	use      *lock       // held from the first start to the removal
	seen     bool        // it was up: what becomes of it since then the pool knows
	warnings []string    // for the next command's result
	usage    usage
}

func (b *Backend) identity() identity {
	return identity{owner: b.kind.homeOwner(), session: b.session, backend: b.spec.Name}
}

func (b *Backend) name() string { return b.identity().containerName() }

// Container is the container's name.
func (b *Backend) Container() string { return b.name() }

// Start makes the container, if there is none, starts it, if it does not run, and connects to the
// runner in it.
func (b *Backend) Start(ctx context.Context, r pool.Report) error {
	change, err := takeLock(ctx, b.kind.changeLock(b.name()), unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer change.unlock()
	b.forgetConnection(ctx)
	if err := b.holdUse(ctx); err != nil {
		return err
	}
	if err := b.engine.awaitEngine(ctx); err != nil {
		return err
	}
	b.engine.sweepOnce(b.spec.Keep, nil)
	conn, err := b.bringUp(ctx, r)
	if err != nil {
		return b.engine.explainError(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conn, b.usage, b.seen = conn, usage{}, true
	return nil
}

func (b *Backend) holdUse(ctx context.Context) error {
	if b.use != nil && isCurrent(b.use.file, b.use.path) {
		return nil
	}
	b.use.unlock()
	use, err := takeLock(ctx, b.kind.useLock(b.name()), unix.LOCK_SH)
	b.use = use
	return err
}

// forgetConnection forgets a connection that is of no use any more.
func (b *Backend) forgetConnection(ctx context.Context) {
	b.mu.Lock()
	conn := b.conn
	b.conn = nil
	b.mu.Unlock()
	if conn != nil {
		_ = conn.endCommands(ctx)
	}
}

// currentConnection returns the connection, or nil.
func (b *Backend) currentConnection() *connection {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.conn
}

// Stop ends what runs in the container, and the container; its files stay. When another process
// uses it too it only leaves.
func (b *Backend) Stop(ctx context.Context) error {
	change, err := takeLock(ctx, b.kind.changeLock(b.name()), unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer change.unlock()
	b.forgetConnection(ctx)
	if b.use != nil && !b.use.isAlone() {
		b.kind.opt.Log("container %s stays up: another hermes uses it", b.name())
		return nil
	}
	return b.engine.explainError(b.haltContainer(ctx))
}

// Release gives up our part in a container that is stopped: a Backend with other settings takes it
// over.
func (b *Backend) Release() {
	b.use.unlock()
	b.use = nil
}

// Park stops the container and gives up our part in it, so that a later process finds it with its
// files.
func (b *Backend) Park(ctx context.Context) error {
	if b.kind.home().temporary || !b.engine.wasUsed() { // nobody would find it; or there is none
		return b.Remove(ctx)
	}
	defer b.Release()
	return b.Stop(ctx)
}

// Remove destroys the container with the volumes that are its own, and verifies it. When another
// process uses it, it stays.
func (b *Backend) Remove(ctx context.Context) error {
	change, err := takeLock(ctx, b.kind.changeLock(b.name()), unix.LOCK_EX)
	if err != nil {
		return err
	}
	b.forgetConnection(ctx)
	if !b.engine.wasUsed() { // it never answered: this process has made nothing there
		if b.use != nil && b.use.isAlone() {
			b.use.erase()
			b.use = nil
			change.erase()
			return nil
		}
		b.Release()
		change.unlock()
		return nil
	}
	if b.use != nil && !b.use.isAlone() || b.use == nil && !b.kind.nobodyUses(b.name()) {
		b.kind.opt.Log("container %s stays: another hermes uses it", b.name())
		b.use.unlock()
		b.use = nil
		change.unlock()
		return nil
	}
	if err := b.destroyContainer(ctx); err != nil {
		change.unlock()
		return b.engine.explainError(err)
	}
	b.kind.removeMark(b.name())
	if b.use != nil {
		b.use.erase()
		b.use = nil
	}
	change.erase()
	return nil
}

// Idles is true: a container that nobody uses costs memory.
func (b *Backend) Idles() bool { return true }

// Gone tells when the container was lost behind our back.
func (b *Backend) Gone() <-chan error {
	if c := b.currentConnection(); c != nil {
		return c.gone
	}
	return nil
}

// Pull fetches the image now.
func (b *Backend) Pull(ctx context.Context, r pool.Report) error {
	if err := b.engine.awaitEngine(ctx); err != nil {
		return err
	}
	return b.engine.pullImage(ctx, b.spec.Image, r)
}

var errDown = errors.New("the container is not up")

// Run runs a command to its end.
func (b *Backend) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	c := b.currentConnection()
	if c == nil {
		return runner.Result{}, &pool.NotStarted{Err: errDown}
	}
	s, err := b.completeSpec(c, s)
	if err != nil {
		return runner.Result{}, err
	}
	begun := time.Now()
	res, err := c.client.Run(ctx, s)
	if err != nil {
		return res, b.poolError(c, err)
	}
	if res.ExitCode == 128+int(unix.SIGKILL) && !res.TimedOut && !res.Interrupted && c.starvedSince(begun, oomPatience) {
		res.Warnings = append(res.Warnings, b.oomWarning(ctx, c))
	}
	res.Warnings = append(b.takeWarnings(), res.Warnings...)
	return res, nil
}

// oomPatience is how long the engine's word about a kill for memory may come after the command's
// end.
const oomPatience = 300 * time.Millisecond

func (b *Backend) oomWarning(ctx context.Context, c *connection) string {
	limit := "its limit"
	if cli, err := c.engine.connectClient(ctx); err == nil {
		if got, err := cli.ContainerInspect(ctx, c.id); err == nil && got.HostConfig.Memory > 0 {
			limit = "its limit of " + humanBytes(got.HostConfig.Memory)
		}
	}
	return fmt.Sprintf("the kernel killed a process because the container's memory reached %s (memory: in the configuration of '%s')", limit, b.spec.Name)
}

// Spawn starts a command in the background.
func (b *Backend) Spawn(s runner.Spec) (pool.Process, error) {
	c := b.currentConnection()
	if c == nil {
		return nil, &pool.NotStarted{Err: errDown}
	}
	s, err := b.completeSpec(c, s)
	if err != nil {
		return nil, err
	}
	p, err := c.client.Start(s)
	if err != nil {
		return nil, b.poolError(c, err)
	}
	return p, nil
}

// poolError makes an error of the connection one of the pool.
func (b *Backend) poolError(c *connection, err error) error {
	var never *wire.NotStarted
	if errors.As(err, &never) {
		return &pool.NotStarted{Err: never.Err}
	}
	return c.callError(err)
}

func (b *Backend) takeWarnings() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.warnings
	b.warnings = nil
	return w
}

func (b *Backend) addWarning(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

// completeSpec adds what the back end decides about a command.
func (b *Backend) completeSpec(c *connection, s runner.Spec) (runner.Spec, error) {
	if s.Shell = b.spec.Shell; s.Command != "" && s.Shell == "" && c.client.Info().Shell == "" {
		return s, fmt.Errorf("image %s has no shell: run a program with its arguments instead of a command line, or use an image with /bin/sh", b.spec.Image)
	}
	for name, value := range b.spec.Env {
		s.Env = append(s.Env, name+"="+value)
	}
	return s, nil
}

var (
	_ pool.Backend = (*Backend)(nil)
	_ pool.Puller  = (*Backend)(nil)
	_ pool.Parker  = (*Backend)(nil)
	_ pool.Sampler = (*Backend)(nil)
)
